#include <SuiteSparse_config.h>

#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

std::size_t product(std::size_t n, std::size_t size)
{
    require_arguments(size > 0);
    const std::size_t items = std::max<std::size_t>(n, 1);
    if (items > static_cast<std::size_t>(PTRDIFF_MAX) / size) throw TooLarge{};
    return items * size;
}

/// The product for what is to be allocated: items that an Int cannot count are too many, as to KLU.
template <class Int>
std::size_t bytes_of(std::size_t n, std::size_t size)
{
    require_arguments(size > 0);
    if (n >= static_cast<std::size_t>(std::numeric_limits<Int>::max())) throw TooLarge{};
    return product(n, size);
}

}  // namespace

template <class Int>
bool defaults(Common<Int>& common)
{
    common = {};
    common.tol = 1e-3;
    common.memgrow = common.initmem_amd = 1.2;
    common.initmem = 10;
    common.btf = 1;
    common.scale = 2;
    common.halt_if_singular = 1;
    common.structural_rank = common.numerical_rank = common.singular_col = common.noffdiag = -1;
    common.flops = common.rcond = common.condest = common.rgrowth = -1;
    return true;
}

// The functions of SuiteSparse_config, in whose place a program may have put its own.

template <class Int>
void* allocate(std::size_t n, std::size_t size, Common<Int>& common)
{
    const std::size_t bytes = bytes_of<Int>(n, size);
    void* const       p = SuiteSparse_malloc(bytes, 1);
    if (p == nullptr) throw std::bad_alloc{};
    std::size_t none = 0;
    count(common, none, bytes);
    return p;
}

template <class Int>
void* deallocate(void* p, std::size_t n, std::size_t size, Common<Int>& common)
{
    if (p == nullptr) return nullptr;
    SuiteSparse_free(p);
    std::size_t bytes = product(n, size);
    count(common, bytes, 0);
    return nullptr;
}

template <class Int>
void* reallocate(std::size_t n_new, std::size_t n_old, std::size_t size, void* p, Common<Int>& common)
{
    if (p == nullptr) return allocate<Int>(n_new, size, common);
    const std::size_t bytes = bytes_of<Int>(n_new, size);
    std::size_t       was = product(n_old, size);
    int               done = 0;
    void* const       moved = SuiteSparse_realloc(bytes, was, 1, p, &done);
    if (done == 0) throw std::bad_alloc{};
    count(common, was, bytes);
    return moved;
}

#define ILUX_INSTANTIATE(Int)                                                      \
    template bool  defaults<Int>(Common<Int>&);                                    \
    template void* allocate<Int>(std::size_t, std::size_t, Common<Int>&);          \
    template void* deallocate<Int>(void*, std::size_t, std::size_t, Common<Int>&); \
    template void* reallocate<Int>(std::size_t, std::size_t, std::size_t, void*, Common<Int>&);
ILUX_INSTANTIATE(int)
ILUX_INSTANTIATE(std::int64_t)
#undef ILUX_INSTANTIATE

}  // namespace ilux::klu

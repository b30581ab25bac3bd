#include "ilux/base/unset_vector.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ilux::detail {
namespace {

constexpr std::align_val_t page{std::size_t{1} << 21};

}  // namespace

void* allocate_large(std::size_t bytes)
{
    void* const memory = ::operator new(bytes, page);
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: a system that refuses it gives its usual pages
#endif
    return memory;
}

void free_large(void* memory) noexcept { ::operator delete(memory, page); }

}  // namespace ilux::detail

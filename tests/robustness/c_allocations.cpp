#include "ilux/tests/robustness/c_allocations.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ILUX_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ILUX_SANITIZED
#endif
#if defined(__GLIBC__) && !defined(ILUX_SANITIZED)
#define ILUX_INTERPOSES_MALLOC
#endif

namespace {

std::atomic<bool>            watching{false};
std::atomic<long>            asked{0}, refuse_at{0}, live{0};
std::span<const char* const> watched;

/// Whether `caller`, a return address, lies in one of the libraries. dladdr allocates nothing.
bool is_watched(const void* caller)
{
    Dl_info where{};
    if (dladdr(caller, &where) == 0 || where.dli_fname == nullptr) return false;
    for (const char* library : watched)
        if (std::strstr(where.dli_fname, library) != nullptr) return true;
    return false;
}

[[maybe_unused]] bool refused(const void* caller)
{
    if (!watching.load(std::memory_order_relaxed) || !is_watched(caller)) return false;
    if (++asked != refuse_at) return false;
    errno = ENOMEM;
    return true;
}

[[maybe_unused]] void* counted(void* memory)
{
    if (memory != nullptr) live.fetch_add(1, std::memory_order_relaxed);
    return memory;
}

}  // namespace

#ifdef ILUX_INTERPOSES_MALLOC
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void  __libc_free(void*);

void* malloc(std::size_t n) { return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_malloc(n)); }
void* calloc(std::size_t count, std::size_t n)
{
    return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_calloc(count, n));
}
void* realloc(void* old, std::size_t n)
{
    if (refused(__builtin_return_address(0))) return nullptr;
    void* const memory = __libc_realloc(old, n);
    if (old == nullptr) counted(memory);
    else if (n == 0) live.fetch_sub(1, std::memory_order_relaxed);  // glibc has freed it
    return memory;
}
void* memalign(std::size_t alignment, std::size_t n)
{
    return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_memalign(alignment, n));
}
void* aligned_alloc(std::size_t alignment, std::size_t n)
{
    return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_memalign(alignment, n));
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t n)
{
    void* const found = refused(__builtin_return_address(0)) ? nullptr : counted(__libc_memalign(alignment, n));
    if (found == nullptr) return ENOMEM;
    *memory = found;
    return 0;
}
void free(void* memory)
{
    if (memory != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
    __libc_free(memory);
}
}
#endif

namespace ilux::test {

std::string why_no_c_allocations()
{
#ifdef ILUX_INTERPOSES_MALLOC
    return "";
#else
    return "malloc can be interposed with glibc and without a sanitizer only";
#endif
}

CAllocations::CAllocations(std::span<const char* const> libraries, long fail_at)
{
    watched = libraries;
    asked = 0;
    refuse_at = fail_at;
    watching = true;
}
CAllocations::~CAllocations() { watching = false; }
long CAllocations::count() const { return asked; }
bool CAllocations::failed() const { return refuse_at > 0 && asked >= refuse_at; }

long live_c_allocations() { return live; }

}  // namespace ilux::test

#include "ilux/tests/support/allocation_counter.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace {

using ilux::test::Failing;

std::atomic<bool>        counting{false};
std::atomic<long>        allocations{0}, live{0};
std::atomic<std::size_t> allocated_bytes{0};
std::atomic<long>        fallible{0};  // of the kind that fails
std::atomic<long>        fail_at{0};
std::atomic<Failing>     failing{Failing::once};

/// Whether this allocation is one to fail. Who asks without throwing has another way and need not tell, so those fail
/// only where the caller of AllocationCounter knows that.
bool refused(bool may_throw)
{
    if (!counting.load(std::memory_order_relaxed)) return false;
    const Failing how = failing.load(std::memory_order_relaxed);
    const long    last = fail_at.load(std::memory_order_relaxed);
    if (may_throw != (how != Failing::nothrow)) return how == Failing::onwards && last > 0 && fallible >= last;
    const long number = ++fallible;
    return number == last || (how == Failing::onwards && last > 0 && number > last);
}

void* allocate(std::size_t size, std::size_t alignment, bool may_throw) noexcept
{
    if (refused(may_throw)) return nullptr;
    if (counting.load(std::memory_order_relaxed)) {
        allocated_bytes += size;
        ++allocations;
    }
    void* const memory = alignment <= alignof(std::max_align_t)
                             ? std::malloc(size == 0 ? 1 : size)
                             : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory != nullptr) live.fetch_add(1, std::memory_order_relaxed);
    return memory;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment)
{
    if (void* memory = allocate(size, alignment, true)) return memory;
    throw std::bad_alloc();
}

void release(void* memory) noexcept
{
    if (memory != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
    std::free(memory);
}

}  // namespace

// Every replaceable form, so that a sanitizer never sees one of ours freed by one of its own.
// clang-format off
void* operator new(std::size_t n) { return allocate_or_throw(n, 1); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, 1, false); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, 1, false); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return allocate(n, static_cast<std::size_t>(a), false); }
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return allocate(n, static_cast<std::size_t>(a), false); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { release(p); }
// clang-format on

namespace ilux::test {

AllocationCounter::AllocationCounter(long k, Failing how)
{
    if (counting.load()) throw std::logic_error("one AllocationCounter at a time");
    allocations = 0;
    allocated_bytes = 0;
    fallible = 0;
    fail_at = k;
    failing = how;
    counting = true;
}

AllocationCounter::~AllocationCounter() { counting = false; }

long AllocationCounter::count() const { return allocations.load(); }

bool AllocationCounter::failed() const { return fail_at.load() > 0 && fallible.load() >= fail_at.load(); }

std::size_t AllocationCounter::bytes() const { return allocated_bytes.load(); }

long live_allocations() { return live.load(); }

}  // namespace ilux::test

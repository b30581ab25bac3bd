#pragma once
// Exceptions and parallel regions: one that leaves a region ends the program.

#include <atomic>
#include <exception>
#include <utility>

namespace ilux {

/// Keeps the first exception of a parallel region, for the thread that opened it. Lack of memory may strike anywhere,
/// so whatever allocates in a region runs through this.
class RegionFailure {
public:
    template <class Work>
    void run(Work&& work) noexcept
    {
        try {
            std::forward<Work>(work)();
        } catch (...) {
            if (!met_.exchange(true)) first_ = std::current_exception();
        }
    }
    bool met() const noexcept { return met_.load(std::memory_order_relaxed); }  ///< the others need not go on
    /// After the region.
    void rethrow() const
    {
        if (first_) std::rethrow_exception(first_);
    }

private:
    std::atomic<bool>  met_{false};
    std::exception_ptr first_;  // written once, read after the region's barrier
};

}  // namespace ilux

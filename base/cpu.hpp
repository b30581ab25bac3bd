#pragma once
// The host as a backend: OpenMP threads over std::span.

#include <cstddef>
#include <span>
#include <vector>

#include "ilux/base/backend.hpp"

namespace ilux {

/// A number of host threads. Costs nothing to make or copy.
class Cpu {
public:
    template <class T>
    using span = std::span<T>;
    template <class T>
    using buffer = std::vector<T>;

    /// @param threads  0: as many as OpenMP would use (OMP_NUM_THREADS)
    explicit Cpu(int threads = 0);
    int threads() const { return threads_; }
    /// How many threads a parallel region may have now; every region asks here. At most threads(), and 1 where the work
    /// is not `worth` more. Fewer where the system grants no more, as OpenMP would end the program then. 1 in the
    /// thread that a fork of a process of several threads left: OpenMP would wait there for threads that are gone.
    int team(bool worth = true) const;

private:
    int threads_;
};

template <class S = double>
S dot(Cpu& be, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> y);
template <class S = double>
S dotu(Cpu& be, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> y);
template <class S = double>
real_of<S> norm2(Cpu& be, std::span<const NotDeduced<S>> x);
template <class S = double>
DotNorm<S> dot_norm(Cpu& be, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> y);
template <class S = double>
bool is_finite(Cpu& be, std::span<const NotDeduced<S>> x);
template <class S = double>
void copy(Cpu& be, std::span<const NotDeduced<S>> x, std::span<NotDeduced<S>> y);
template <class S = double>
void fill(Cpu& be, NotDeduced<S> a, std::span<NotDeduced<S>> y);
template <class S = double>
void scale(Cpu& be, NotDeduced<S> a, std::span<NotDeduced<S>> y);
template <class S = double>
void axpy(Cpu& be, NotDeduced<S> a, std::span<const NotDeduced<S>> x, std::span<NotDeduced<S>> y);
template <class S = double>
void axpby(Cpu& be, NotDeduced<S> a, std::span<const NotDeduced<S>> x, NotDeduced<S> b, std::span<NotDeduced<S>> y);
template <class S = double>
void multiply(Cpu& be, std::span<const NotDeduced<S>> d, std::span<const NotDeduced<S>> x, std::span<NotDeduced<S>> y);
template <class S = double>
void multi_dot(Cpu& be, std::span<const NotDeduced<S>> block, std::span<const NotDeduced<S>> w,
               std::span<NotDeduced<S>> h);
template <class S = double>
void multi_axpy(Cpu& be, std::span<const NotDeduced<S>> c, std::span<const NotDeduced<S>> block,
                std::span<NotDeduced<S>> y);
/// y ← a x rounded to single precision, and y ← x in S again. What leaves the range of float becomes Inf or 0.
template <class S = double>
void narrow(Cpu& be, double a, std::span<const NotDeduced<S>> x, std::span<single_of<NotDeduced<S>>> y);
template <class S = double>
void widen(Cpu& be, std::span<const single_of<NotDeduced<S>>> x, std::span<NotDeduced<S>> y);

static_assert(Backend<Cpu> && Backend<Cpu, float>);

namespace detail {
void copy_in_parallel(void* to, const void* from, std::size_t bytes);  // by as many threads as memory can use
}

}  // namespace ilux

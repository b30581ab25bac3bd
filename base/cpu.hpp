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
    /// How many threads a parallel region may have now; every region asks here. At most threads(), and 1 where the work is not
    /// `worth` more. Fewer where the system grants no more, as OpenMP would end the program then. 1 in the thread that a
    /// fork of a process of several threads left: OpenMP would wait there for threads that are gone.
    int team(bool worth = true) const;

private:
    int threads_;
};

double  dot(Cpu& be, std::span<const double> x, std::span<const double> y);
double  norm2(Cpu& be, std::span<const double> x);
DotNorm dot_norm(Cpu& be, std::span<const double> x, std::span<const double> y);
bool    is_finite(Cpu& be, std::span<const double> x);
void    copy(Cpu& be, std::span<const double> x, std::span<double> y);
void    fill(Cpu& be, double a, std::span<double> y);
void    scale(Cpu& be, double a, std::span<double> y);
void    axpy(Cpu& be, double a, std::span<const double> x, std::span<double> y);
void    axpby(Cpu& be, double a, std::span<const double> x, double b, std::span<double> y);
void    multiply(Cpu& be, std::span<const double> d, std::span<const double> x, std::span<double> y);
void    multi_dot(Cpu& be, std::span<const double> block, std::span<const double> w, std::span<double> h);
void    multi_axpy(Cpu& be, std::span<const double> c, std::span<const double> block, std::span<double> y);

static_assert(Backend<Cpu>);

namespace detail {
void copy_in_parallel(void* to, const void* from, std::size_t bytes);  // by as many threads as memory can use
}

}  // namespace ilux

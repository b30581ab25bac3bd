#pragma once
// Products of small blocks on FP64 tensor cores, of complex numbers as four real ones. Only .cu files include this.

#include "ilux/base/gpu/device_value.hpp"

namespace ilux {

/// c += a b for 16×8, 16×8 and 8×8 numbers that a warp holds. Lane 4 g + t has rows g and g + 8 of columns t and t + 4
/// of a, rows t and t + 4 of column g of b, and rows g and g + 8 of columns 2 t and 2 t + 1 of c.
__device__ inline void add_product(double (&c)[4], const double (&a)[4], const double (&b)[2])
{
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

__device__ inline double                negative(double x) { return -x; }
__device__ inline cuda::Complex<double> negative(cuda::Complex<double> z) { return {-z.re, -z.im}; }

/// Real and imaginary parts of what a lane holds.
template <class V, int count>
struct Fragment {
    static constexpr int parts = cuda::parts<V>;
    double               part[parts][count];

    __device__ void set(int i, V x)
    {
        if constexpr (parts == 2) part[0][i] = x.re, part[1][i] = x.im;
        else part[0][i] = x;
    }
    __device__ V get(int i) const
    {
        if constexpr (parts == 2) return {part[0][i], part[1][i]};
        else return part[0][i];
    }
};

template <class V>
__device__ void add_product(Fragment<V, 4>& c, const Fragment<V, 4>& a, const Fragment<V, 2>& b)
{
    add_product(c.part[0], a.part[0], b.part[0]);
    if constexpr (cuda::parts<V> == 2) {
        const double minus[4] = {-a.part[1][0], -a.part[1][1], -a.part[1][2], -a.part[1][3]};
        add_product(c.part[0], minus, b.part[1]);
        add_product(c.part[1], a.part[0], b.part[1]);
        add_product(c.part[1], a.part[1], b.part[0]);
    }
}

}  // namespace ilux

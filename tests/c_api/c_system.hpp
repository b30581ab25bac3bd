#pragma once
// Systems as a caller of the C interface has them, and what the tests measure x by.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ilux/c_api/ilux.h"

namespace ilux::test {

struct Destroy {
    void operator()(ilux_solver* solver) const { ilux_destroy(solver); }
};
using CSolver = std::unique_ptr<ilux_solver, Destroy>;

inline CSolver c_solver(int values, std::vector<std::pair<const char*, const char*>> options = {})
{
    ilux_solver* solver = nullptr;
    EXPECT_EQ(ilux_create(values, &solver), ILUX_OK);
    EXPECT_EQ(ilux_set(solver, "device", "cpu"), ILUX_OK);
    EXPECT_EQ(ilux_set(solver, "threads", "1"), ILUX_OK);
    for (const auto& [name, value] : options) EXPECT_EQ(ilux_set(solver, name, value), ILUX_OK) << ilux_message(solver);
    return CSolver(solver);
}

/// Entries by rows, in any order. The arrays are those of ilux_csr.
template <class S>
struct CSystem {
    std::int64_t              n = 0;
    std::vector<std::int64_t> ptr{0};
    std::vector<std::int32_t> ptr32, col;
    std::vector<S>            val;

    ilux_csr csr(int bits = 64)
    {
        ptr32.assign(ptr.begin(), ptr.end());
        ilux_csr A{};
        A.n = n;
        A.row_ptr = bits == 64 ? static_cast<const void*>(ptr.data()) : ptr32.data();
        A.row_ptr_bits = bits;
        A.col = col.data();
        A.values = val.data();
        return A;
    }
};

/// −u'' + a u' on n points with a complex part where S has one: unsymmetric. @param shuffled  each row from right to
/// left, its diagonal in two parts
template <class S>
CSystem<S> line(std::int64_t n, bool shuffled = false)
{
    CSystem<S> A;
    A.n = n;
    const auto add = [&](std::int64_t j, double re, double im) {
        if (j < 0 || j >= n) return;
        A.col.push_back(static_cast<std::int32_t>(j));
        if constexpr (std::is_same_v<S, double>) A.val.push_back(re);
        else A.val.emplace_back(re, im);
    };
    for (std::int64_t i = 0; i < n; ++i) {
        if (shuffled) {
            add(i, 1.5, 0.5);
            add(i + 1, -1.4, 0.2);
            add(i, 1, 0);
            add(i - 1, -0.6, 0);
        } else {
            add(i - 1, -0.6, 0);
            add(i, 2.5, 0.5);
            add(i + 1, -1.4, 0.2);
        }
        A.ptr.push_back(static_cast<std::int64_t>(A.col.size()));
    }
    return A;
}

template <class S>
std::vector<S> right_hand_side(std::int64_t n)
{
    std::vector<S> b(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = S(1 + double(i * 7 % 11));
    if constexpr (!std::is_same_v<S, double>)
        for (std::size_t i = 0; i < b.size(); ++i) b[i] += S(0, double(i % 3));
    return b;
}

/// ‖b − op(A) x‖₂ / ‖b‖₂
template <class S>
double c_residual(const CSystem<S>& A, int op, std::span<const S> x, std::span<const S> b)
{
    std::vector<S> r(b.begin(), b.end());
    for (std::int64_t i = 0; i < A.n; ++i)
        for (std::int64_t p = A.ptr[i]; p < A.ptr[i + 1]; ++p) {
            S a = A.val[p];
            if constexpr (!std::is_same_v<S, double>)
                if (op == ILUX_ADJOINT) a = std::conj(a);
            if (op == ILUX_PLAIN) r[i] -= a * x[A.col[p]];
            else r[A.col[p]] -= a * x[i];
        }
    double r2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        r2 += std::norm(r[i]);
        b2 += std::norm(b[i]);
    }
    return b2 > 0 ? std::sqrt(r2 / b2) : std::sqrt(r2);
}

template <class S>
constexpr int values_of = std::is_same_v<S, double> ? ILUX_REAL : ILUX_COMPLEX;

}  // namespace ilux::test

// z ← M⁻¹ r and z ← M⁻ᴴ r: down the levels, the dense solve, and up again. [bollhoefer_saad_06], [aliaga19] equations
// (3)-(11).

#include <omp.h>

#include <algorithm>

#include "ilux/base/region_failure.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"

namespace ilux {
namespace {

/// Down and up the levels. The adjoint exchanges L with Uᴴ, G with Fᴴ, D with D̄, and the two permutations with their
/// scales.
template <bool adjoint, class T>
class Application {
public:
    Application(Cpu& be, const MlIlu<T>& mlilu, std::span<T> work)
        : be_(be), factors_(mlilu.factors()), plans_(mlilu.host_plans()), work_(work)
    {}

    /// z ← M_l⁻¹ r for the level `l`; r and z may be the same memory. Uses work from position `used` on.
    void solve(std::size_t l, std::span<const T> r, std::span<T> z, std::size_t used)
    {
        if (l == factors_.levels.size()) return solve_dense(r, z, used);
        const MlIluLevel<T>& level = factors_.levels[l];
        const auto&          plans = plans_[l];
        const auto           w = work_.subspan(used, level.n), t = work_.subspan(used + level.n, level.nB);
        const auto           w_B = w.first(level.nB), w_C = w.subspan(level.nB);
        gather(level, r, w);
        if (level.keep) {
            forward(level, plans, w_B);       // y_B ← L_B⁻¹ r_B
            subtract_lower(level, w_B, w_C);  // y_C ← r_C − L_G y_B
            solve(l + 1, w_C, w_C, used + level.n + level.nB);
            times_d_inv(level, w_B);
            subtract_upper(level, w_C, w_B);  // U_B w_B = D⁻¹ y_B − U_F w_C
            backward(level, plans, w_B);
        } else {
            copy<T>(be_, w_B, t);
            solve_B(level, plans, t);       // s ← B̃⁻¹ r_B
            subtract_lower(level, t, w_C);  // y_C ← r_C − G s
            solve(l + 1, w_C, w_C, used + level.n + level.nB);
            subtract_upper(level, w_C, w_B);  // w_B ← B̃⁻¹ (r_B − F w_C)
            solve_B(level, plans, w_B);
        }
        scatter(level, w, z);
    }

private:
    void solve_dense(std::span<const T> r, std::span<T> z, std::size_t used)
    {
        const auto& dense = factors_.dense;
        if constexpr (adjoint) dense.solve_adjoint(r, z, work_.subspan(used, dense.workspace()));
        else dense.solve(r, z, work_.subspan(used, dense.workspace()));
    }

    void gather(const MlIluLevel<T>& level, std::span<const T> r, std::span<T> w)
    {
        const auto& perm = adjoint ? level.q : level.p;
        const auto& scale = adjoint ? level.col_scale : level.row_scale;
        const auto  n = static_cast<std::ptrdiff_t>(level.n);
#pragma omp parallel for schedule(static) num_threads(be_.team(n > 16384))
        for (std::ptrdiff_t i = 0; i < n; ++i) w[i] = real_of<T>(scale[perm[i]]) * r[perm[i]];
    }

    void scatter(const MlIluLevel<T>& level, std::span<const T> w, std::span<T> z)
    {
        const auto& perm = adjoint ? level.p : level.q;
        const auto& scale = adjoint ? level.row_scale : level.col_scale;
        const auto  n = static_cast<std::ptrdiff_t>(level.n);
#pragma omp parallel for schedule(static) num_threads(be_.team(n > 16384))
        for (std::ptrdiff_t i = 0; i < n; ++i) z[perm[i]] = real_of<T>(scale[perm[i]]) * w[i];
    }

    void forward(const MlIluLevel<T>& level, const MlIluLevelPlans<T>& plans, std::span<T> x)
    {
        if (adjoint || level.half == Mirror::hermitian) plans.U_B.solve_adjoint(be_, x, x);
        else if (level.half == Mirror::symmetric) plans.U_B.solve_transpose(be_, x, x);
        else plans.L_B.solve(be_, x, x);
    }

    void backward(const MlIluLevel<T>& level, const MlIluLevelPlans<T>& plans, std::span<T> x)
    {
        if (!adjoint || level.half == Mirror::hermitian) return plans.U_B.solve(be_, x, x);
        if (level.half == Mirror::none) return plans.L_B.solve_adjoint(be_, x, x);
        conjugate(x);  // L_Bᴴ is U_B with its values conjugated
        plans.U_B.solve(be_, x, x);
        conjugate(x);
    }

    void times_d_inv(const MlIluLevel<T>& level, std::span<T> x)
    {
        for (Index i = 0; i < level.nB; ++i) x[i] *= adjoint ? conj(level.d_inv[i]) : level.d_inv[i];
    }

    void solve_B(const MlIluLevel<T>& level, const MlIluLevelPlans<T>& plans, std::span<T> x)
    {
        forward(level, plans, x);
        times_d_inv(level, x);
        backward(level, plans, x);
    }

    void subtract_lower(const MlIluLevel<T>& level, std::span<const T> x_B, std::span<T> x_C)
    {
        if (adjoint || level.half == Mirror::hermitian) spmv_adjoint<T, T>(be_, -1, level.upper, x_B, 1, x_C);
        else if (level.half == Mirror::symmetric) spmv_transpose<T, T>(be_, -1, level.upper, x_B, 1, x_C);
        else spmv<T, T>(be_, -1, level.lower, x_B, 1, x_C);
    }

    void subtract_upper(const MlIluLevel<T>& level, std::span<T> x_C, std::span<T> x_B)
    {
        if (!adjoint || level.half == Mirror::hermitian) return spmv<T, T>(be_, -1, level.upper, x_C, 1, x_B);
        if (level.half == Mirror::none) return spmv_adjoint<T, T>(be_, -1, level.lower, x_C, 1, x_B);
        for (const auto x : {x_C, x_B}) conjugate(x);
        spmv<T, T>(be_, -1, level.upper, x_C, 1, x_B);
        for (const auto x : {x_C, x_B}) conjugate(x);
    }

    static void conjugate(std::span<T> x)
    {
        for (T& value : x) value = conj(value);
    }

    Cpu&                                be_;
    const MlIluFactors<T>&              factors_;
    std::span<const MlIluLevelPlans<T>> plans_;
    std::span<T>                        work_;
};

template <class T>
std::size_t workspace(const MlIluFactors<T>& factors)
{
    std::size_t size = factors.dense.workspace();
    for (const auto& level : factors.levels)
        size += static_cast<std::size_t>(level.n) + static_cast<std::size_t>(level.nB);
    return size;
}

}  // namespace

template <Scalar T>
MlIluPreconditioner<T>::MlIluPreconditioner(MlIlu<T> mlilu)
    : mlilu_(std::move(mlilu)), work_(workspace(mlilu_.factors()))
{}

template <Scalar T>
Index MlIluPreconditioner<T>::size() const
{
    return mlilu_.factors().n;
}

template <Scalar T>
void MlIluPreconditioner<T>::apply(Cpu& be, std::span<const T> r, std::span<T> z)
{
    Application<false, T>(be, mlilu_, work_).solve(0, r, z, 0);
}

template <Scalar T>
void MlIluPreconditioner<T>::apply_adjoint(Cpu& be, std::span<const T> r, std::span<T> z)
{
    Application<true, T>(be, mlilu_, work_).solve(0, r, z, 0);
}

/// A thread with a column of its own waits for no other one. With fewer columns than half of the threads most of these
/// would idle.
template <Scalar T>
void MlIluPreconditioner<T>::apply_columns(Cpu& be, std::span<const T> R, std::span<T> Z)
{
    const auto n = static_cast<std::size_t>(size());
    const auto columns = static_cast<std::ptrdiff_t>(this->columns_of(R.size(), Z.size()));
    const int  threads = be.team(columns > 1);
    if (threads == 1 || 2 * columns < threads) return Preconditioner<Cpu, T>::apply_columns(be, R, Z);
    const int         team = static_cast<int>(std::min<std::ptrdiff_t>(threads, columns));
    const std::size_t room = work_.size();
    of_columns_.resize(room * static_cast<std::size_t>(team));
    RegionFailure failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
    for (std::ptrdiff_t c = 0; c < columns; ++c)
        failure.run([&] {
            Cpu        one(1);
            const auto work =
                std::span(of_columns_).subspan(room * static_cast<std::size_t>(omp_get_thread_num()), room);
            const auto begin = n * static_cast<std::size_t>(c);
            Application<false, T>(one, mlilu_, work).solve(0, R.subspan(begin, n), Z.subspan(begin, n), 0);
        });
    failure.rethrow();
}

#define ILUX_INSTANTIATE(T) template class MlIluPreconditioner<T>;
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

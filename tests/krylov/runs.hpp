#pragma once
// Runs of the Krylov methods, for their tests: preconditioners given as functions, and a residual judged from outside.

#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test::krylov {

using Vector = std::vector<double>;
using test::nan;

/// M⁻¹ as a function of the call's number, r and z; the transpose is the same map.
class Given final : public Preconditioner<Cpu> {
public:
    using Map = std::function<void(long call, std::span<const double> r, std::span<double> z)>;
    Given(Index n, Map map) : n_(n), map_(std::move(map)) {}
    Index size() const override { return n_; }
    void  apply(Cpu&, std::span<const double> r, std::span<double> z) override { map_(calls++, r, z); }
    void  apply_adjoint(Cpu&, std::span<const double> r, std::span<double> z) override { map_(calls++, r, z); }
    long  calls = 0;

private:
    Index n_;
    Map   map_;
};

/// M = diag(A).
inline Given jacobi(const CsrMatrix<>& A)
{
    Vector d(A.rows());
    for (Index i = 0; i < A.rows(); ++i) d[i] = A.at(i, i);
    return Given(A.rows(), [d](long, std::span<const double> r, std::span<double> z) {
        for (std::size_t i = 0; i < d.size(); ++i) z[i] = r[i] / d[i];
    });
}

inline double norm(std::span<const double> v)
{
    long double sum = 0;
    for (double vi : v) sum += static_cast<long double>(vi) * vi;
    return static_cast<double>(std::sqrt(sum));
}

/// ‖b − A x‖₂ / ‖b‖₂ in long double.
inline double true_residual(const CsrMatrix<>& A, const Vector& x, const Vector& b)
{
    long double sum = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        long double r = b[i];
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            r -= static_cast<long double>(A.val()[p]) * x[A.col()[p]];
        sum += r * r;
    }
    return static_cast<double>(std::sqrt(sum)) / (norm(b) > 0 ? norm(b) : 1);
}

struct Solution {
    IterationReport       report;
    Vector                x;
    std::vector<Progress> history;  ///< all that the listener was told
};

enum class Where { cpu, gpu };

inline std::ostream& operator<<(std::ostream& out, Where where) { return out << (where == Where::cpu ? "cpu" : "gpu"); }

/// One for all tests of the program: making one costs more than most of them.
inline Gpu& shared_gpu()
{
    static const auto only = std::make_unique<Gpu>();
    return *only;
}

inline DeviceBuffer<double> on_device(Gpu& gpu, std::span<const double> host)
{
    DeviceBuffer<double> device(host.size());
    upload<double>(gpu, host, device);
    return device;
}

/// A preconditioner of the host, for vectors on a device: slow and obvious.
class Hosted final : public Preconditioner<Gpu> {
public:
    explicit Hosted(Preconditioner<Cpu>& M) : M_(M), r_(M.size()), z_(M.size()) {}
    Index size() const override { return M_.size(); }
    void  apply(Gpu& be, DeviceSpan<const double> r, DeviceSpan<double> z) override
    {
        download<double>(be, r, r_);
        M_.apply(cpu_, r_, z_);
        upload<double>(be, std::span<const double>(z_), z);
    }
    void apply_adjoint(Gpu& be, DeviceSpan<const double> r, DeviceSpan<double> z) override
    {
        download<double>(be, r, r_);
        M_.apply_adjoint(cpu_, r_, z_);
        upload<double>(be, std::span<const double>(z_), z);
    }

private:
    Preconditioner<Cpu>& M_;
    Cpu                  cpu_{1};
    Vector               r_, z_;
};

inline Solution run_on_gpu(Method method, const CsrMatrix<>& A, Preconditioner<Cpu>& M, const Vector& b, Vector x0,
                           const KrylovOptions& opt, const StopToken& stop = {}, Gpu& gpu = shared_gpu())
{
    const GpuMatrixOperator op(gpu, A, needs_transpose(method));
    Hosted                  hosted(M);
    KrylovWorkspace<Gpu>    ws(method, A.rows(), opt);
    const auto              db = on_device(gpu, b);
    auto                    x = on_device(gpu, x0);
    Solution                s{{}, std::move(x0), {}};
    s.report = solve<Gpu>(
        gpu, method, op, hosted, db, x, ws, opt, [&](const Progress& p) { s.history.push_back(p); }, stop);
    download<double>(gpu, x, s.x);
    return s;
}

inline Solution run(Method method, const CsrMatrix<>& A, Preconditioner<Cpu>& M, const Vector& b, Vector x0,
                    const KrylovOptions& opt, int threads = 1, const StopToken& stop = {})
{
    Cpu                  be(threads);
    const MatrixOperator op(A, needs_transpose(method));
    KrylovWorkspace<Cpu> ws(method, A.rows(), opt);
    Solution             s{{}, std::move(x0), {}};
    s.report = solve(
        be, method, op, M, b, s.x, ws, opt, [&](const Progress& p) { s.history.push_back(p); }, stop);
    return s;
}

inline Solution run(Method method, const CsrMatrix<>& A, const Vector& b, const KrylovOptions& opt)
{
    Identity<Cpu> I(A.rows());
    return run(method, A, I, b, Vector(A.rows()), opt);
}

inline CsrMatrix<> dense(Index n, const Vector& a) { return to_csr(Dense{n, n, a}); }

/// Every method, with the options that change its path.
struct Variant {
    const char*   name;
    Method        method;
    KrylovOptions opt;

    friend std::ostream& operator<<(std::ostream& out, const Variant& one) { return out << one.name; }
};
inline const Variant variants[] = {
    {"Gmres", Method::gmres, {}},
    {"GmresFromTheLeft", Method::gmres, {.side = Side::left}},
    {"GmresByCgs2", Method::gmres, {.ortho = Orthogonalization::cgs2}},
    {"GmresByHybridMgso", Method::gmres, {.ortho = Orthogonalization::mgso_hybrid}},
    {"GmresByMgsoOnTheHost", Method::gmres, {.ortho = Orthogonalization::mgso_host}},
    {"Fgmres", Method::fgmres, {}},
    {"Bicg", Method::bicg, {}},
    {"Bicgstab", Method::bicgstab, {}},
    {"Cg", Method::cg, {}},
};

}  // namespace ilux::test::krylov

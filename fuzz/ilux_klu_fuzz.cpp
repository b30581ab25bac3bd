// Any sequence of calls of the C interface on small matrices, sensible or not: nothing crashes, every status is one of ilux_klu.h,
// memory is counted back to 0, and a solution that is called good has the residual that its factors L, U, F promise,
//     |b − A x| ≤ c n ε (Pᵀ Rs (|L| |U| + |F|) Qᵀ + Σ|duplicates|) |x|,
// judged in long double with the matrix that was factored last.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "ilux/direct/klu/ilux_klu.h"
#include "ilux/fuzz/expect.hpp"

namespace {

using ilux::fuzz::expect;
using Real = long double;
using Int = std::int64_t;
using Values = std::vector<double>;
using Square = std::vector<Real>;  // n×n by rows

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A pattern and values as a caller has them: Ai and Ax hold as many entries as Ap promises, and not one more.
struct Matrix {
    Int              n = 0;
    std::vector<Int> Ap, Ai;
    Values           Ax;

    /// Σ of duplicates, or of their absolute values.
    Square dense(bool absolute) const
    {
        Square A(n * n, 0);
        for (Int j = 0; j < n; ++j)
            for (Int p = Ap[j]; p < Ap[j + 1]; ++p) A[Ai[p] * n + j] += absolute ? std::abs(Real{Ax[p]}) : Real{Ax[p]};
        return A;
    }
    /// Neither rounding to nothing nor overflow is to be expected.
    bool moderate() const
    {
        for (const double a : Ax)
            if (a != 0 && !(std::abs(a) >= 1e-3 && std::abs(a) <= 1e3)) return false;
        return true;
    }
};

class Session {
public:
    explicit Session(FuzzedDataProvider& input) : input_(input) { expect(ilux_klu_l_defaults(&common_)); }
    ~Session()
    {
        expect(ilux_klu_l_free_numeric(&numeric_, &common_));
        expect(ilux_klu_l_free_symbolic(&symbolic_, &common_));
        expect(common_.memusage == 0);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void run()
    {
        common_.threads = 1;
        matrix_ = matrix();
        for (int calls = 0; calls < 40 && input_.remaining_bytes() > 0; ++calls) {
            call(input_.ConsumeIntegralInRange<int>(0, 12));
            expect(common_.status >= ILUX_KLU_TOO_LARGE && common_.status <= ILUX_KLU_SINGULAR && common_.status != -1);
        }
    }

private:
    double value()
    {
        constexpr double special[] = {0,     infinity, std::numeric_limits<double>::quiet_NaN(), 1e300, -1e-300, 5e-324,
                                      1e-12, -1e12};
        const auto       kind = input_.ConsumeIntegral<std::uint8_t>();
        if (kind >= 248) return special[kind - 248];
        return kind % 4 == 0 ? kind / 4 - 31 : std::ldexp(1.0 + kind / 256.0, kind % 16 - 8);
    }

    void fill(Values& values)
    {
        for (double& v : values) v = value();
    }

    Matrix matrix()
    {
        Matrix A;
        A.n = n_;
        A.Ap.assign(A.n + 1, 0);
        const bool senseless = input_.ConsumeIntegral<std::uint8_t>() % 16 == 15;
        for (Int j = 0; j < A.n; ++j)
            A.Ap[j + 1] = senseless ? input_.ConsumeIntegralInRange<Int>(-2, 40)
                                    : A.Ap[j] + input_.ConsumeIntegralInRange<Int>(0, A.n);
        const auto entries = static_cast<std::size_t>(std::max<Int>(A.Ap[A.n], 0));
        A.Ai.resize(entries);
        for (Int& i : A.Ai) i = input_.ConsumeIntegralInRange<Int>(senseless ? -1 : 0, senseless ? A.n : A.n - 1);
        A.Ax.resize(entries);
        fill(A.Ax);
        return A;
    }

    std::vector<Int> permutation()
    {
        std::vector<Int> perm(matrix_.n);
        for (Int k = 0; k < matrix_.n; ++k) perm[k] = k;
        for (Int k = matrix_.n - 1; k > 0; --k) std::swap(perm[k], perm[input_.ConsumeIntegralInRange<Int>(0, k)]);
        if (input_.ConsumeIntegral<std::uint8_t>() % 16 == 15)
            perm[0] = input_.ConsumeIntegralInRange<Int>(-1, matrix_.n);
        return perm;
    }

    void change_options()
    {
        common_.btf = input_.ConsumeIntegralInRange<Int>(0, 1);
        common_.ordering = input_.ConsumeIntegralInRange<Int>(-1, 5);
        common_.scale = input_.ConsumeIntegralInRange<Int>(-1, 2);
        common_.halt_if_singular = input_.ConsumeIntegralInRange<Int>(0, 1);
        common_.repivot = input_.ConsumeIntegralInRange<Int>(0, 1);
        constexpr double tols[] = {1e-3, 1, 0, -1, 2, std::numeric_limits<double>::quiet_NaN()};
        common_.tol = tols[input_.ConsumeIntegralInRange<int>(0, 5)];
    }

    void free_numeric()
    {
        expect(ilux_klu_l_free_numeric(&numeric_, &common_) && numeric_ == nullptr);
        factored_.reset();
    }

    void analyse(bool given)
    {
        free_numeric();  // a numeric of the former matrix may not outlive its symbolic
        expect(ilux_klu_l_free_symbolic(&symbolic_, &common_));
        auto *const Ap = matrix_.Ap.data(), *const Ai = matrix_.Ai.data();
        if (given) {
            auto P = permutation(), Q = permutation();
            symbolic_ = ilux_klu_l_analyze_given(matrix_.n, Ap, Ai, P.data(), Q.data(), &common_);
        } else {
            symbolic_ = ilux_klu_l_analyze(matrix_.n, Ap, Ai, &common_);
        }
        expect((symbolic_ != nullptr) == (common_.status == ILUX_KLU_OK));
    }

    void note(bool good) { factored_ = good ? std::make_unique<Matrix>(matrix_) : nullptr; }

    void factor()
    {
        free_numeric();
        numeric_ = ilux_klu_l_factor(matrix_.Ap.data(), matrix_.Ai.data(), matrix_.Ax.data(), symbolic_, &common_);
        expect(numeric_ != nullptr || common_.status != ILUX_KLU_OK);
        note(common_.status == ILUX_KLU_OK);
    }

    void refactor()
    {
        const bool done = ilux_klu_l_refactor(matrix_.Ap.data(), matrix_.Ai.data(), matrix_.Ax.data(), symbolic_,
                                              numeric_, &common_) != 0;
        expect(done || common_.status != ILUX_KLU_OK);
        note(common_.status == ILUX_KLU_OK);
    }

    /// Pᵀ Rs (|L| |U| + |F|) Qᵀ by what extract() gives.
    Square factors_product()
    {
        const Int        n = numeric_->n;
        std::vector<Int> Lp(n + 1), Li(numeric_->lnz), Up(n + 1), Ui(numeric_->unz), Fp(n + 1), Fi(numeric_->nzoff),
            P(n), Q(n), R(numeric_->nblocks + 1);
        Values Lx(Li.size()), Ux(Ui.size()), Fx(Fi.size()), Rs(n);
        expect(ilux_klu_l_extract(numeric_, symbolic_, Lp.data(), Li.data(), Lx.data(), Up.data(), Ui.data(), Ux.data(),
                                  Fp.data(), Fi.data(), Fx.data(), P.data(), Q.data(), Rs.data(), R.data(), &common_));
        expect(Lp[n] == numeric_->lnz && Up[n] == numeric_->unz && R.back() == n);
        Square     G(n * n, 0);
        const auto add = [&](Int i, Int j, Real g) { G[P[i] * n + Q[j]] += std::abs(Real{Rs[i]} * g); };
        for (Int j = 0; j < n; ++j) {
            for (Int u = Up[j]; u < Up[j + 1]; ++u)
                for (Int l = Lp[Ui[u]]; l < Lp[Ui[u] + 1]; ++l) add(Li[l], j, Real{Lx[l]} * Real{Ux[u]});
            for (Int f = Fp[j]; f < Fp[j + 1]; ++f) add(Fi[f], j, Fx[f]);
        }
        return G;
    }

    /// Scales stay those of the factored values. Powers of two change no bit, unless numbers leave the range of double.
    bool scales_are_far_off() const
    {
        const auto far = [](double scale) { return !(scale >= 1e-100 && scale <= 1e100); };
        return numeric_->Rs != nullptr && std::any_of(numeric_->Rs, numeric_->Rs + numeric_->n, far);
    }

    void judge(const double* b, const double* x, bool transposed)
    {
        const Matrix& A = *factored_;
        if (!A.moderate() || scales_are_far_off()) return;
        for (Int i = 0; i < A.n; ++i)
            if (!(std::abs(b[i]) <= 1e12) || (b[i] != 0 && std::abs(b[i]) < 1e-12)) return;
        const Square exact = A.dense(false), duplicates = A.dense(true), G = factors_product();
        const Real   c = 8 * std::numeric_limits<double>::epsilon() * A.n;
        for (Int i = 0; i < A.n; ++i) {
            Real residual = b[i], bound = std::abs(b[i]);
            for (Int j = 0; j < A.n; ++j) {
                const Int at = transposed ? j * A.n + i : i * A.n + j;
                expect(std::isfinite(x[j]));
                residual -= exact[at] * x[j];
                bound += (G[at] + duplicates[at]) * std::abs(Real{x[j]});
            }
            expect(std::abs(residual) <= c * bound);
        }
    }

    void solve(bool transposed)
    {
        const Int n = n_, nrhs = input_.ConsumeIntegralInRange<Int>(-1, 9);
        Int       ldim = n + input_.ConsumeIntegralInRange<Int>(-1, 3);
        if (nrhs > 1 && input_.ConsumeIntegral<std::uint8_t>() == 255) ldim = std::numeric_limits<Int>::max();
        const bool beyond = ldim > n + 3;
        Values     B(beyond ? n : std::max<Int>((nrhs - 1) * ldim + n, n), 1.0);
        if (!beyond) fill(B);
        Values     X = B;
        const bool done = (transposed ? ilux_klu_l_tsolve : ilux_klu_l_solve)(symbolic_, numeric_, ldim, nrhs, X.data(),
                                                                              &common_) != 0;
        expect(done == (common_.status == ILUX_KLU_OK));
        if (!done) return;
        expect(factored_ != nullptr && factored_->n == n && nrhs >= 0 && ldim >= n && !beyond);
        for (Int c = 0; c < nrhs; ++c) judge(B.data() + c * ldim, X.data() + c * ldim, transposed);
    }

    void ask()
    {
        auto *const Ap = matrix_.Ap.data(), *const Ai = matrix_.Ai.data();
        switch (input_.ConsumeIntegralInRange<int>(0, 4)) {
            case 0:
                if (ilux_klu_l_rcond(symbolic_, numeric_, &common_)) expect(common_.rcond >= 0 && common_.rcond <= 1);
                break;
            case 1:
                ilux_klu_l_rgrowth(Ap, Ai, matrix_.Ax.data(), symbolic_, numeric_, &common_);
                break;
            case 2:
                if (factored_ == nullptr || matrix_.Ax.size() == factored_->Ax.size())
                    ilux_klu_l_condest(Ap, matrix_.Ax.data(), symbolic_, numeric_, &common_);
                break;
            case 3:
                ilux_klu_l_flops(symbolic_, numeric_, &common_);
                break;
            default:
                ilux_klu_l_sort(symbolic_, numeric_, &common_);
        }
    }

    void allocate()
    {
        const auto before = common_.memusage;
        const auto n = input_.ConsumeIntegralInRange<std::size_t>(0, 100), more = n + 7;
        void*      p = ilux_klu_l_malloc(n, 8, &common_);
        expect(p != nullptr);
        p = ilux_klu_l_realloc(more, n, 8, p, &common_);
        expect(ilux_klu_l_realloc(std::numeric_limits<std::size_t>::max(), more, 8, p, &common_) == p);
        expect(common_.status == ILUX_KLU_TOO_LARGE);
        expect(ilux_klu_l_free(p, more, 8, &common_) == nullptr && common_.memusage == before);
    }

    void call(int which)
    {
        switch (which) {
            case 0:
                change_options();
                break;
            case 1:
                fill(matrix_.Ax);
                break;
            case 2:
                matrix_ = matrix();
                break;  // maybe another pattern than the analysed one
            case 3:
                analyse(false);
                break;
            case 4:
                analyse(true);
                break;
            case 5:
                factor();
                break;
            case 6:
            case 7:
                refactor();
                break;
            case 8:
            case 9:
                solve(false);
                break;
            case 10:
                solve(true);
                break;
            case 11:
                ask();
                break;
            default:
                allocate();
        }
    }

    FuzzedDataProvider&     input_;
    Int                     n_ = input_.ConsumeIntegralInRange<Int>(1, 8);  ///< of all: no call can see another
    ilux_klu_l_common       common_{};
    Matrix                  matrix_;
    ilux_klu_l_symbolic*    symbolic_ = nullptr;
    ilux_klu_l_numeric*     numeric_ = nullptr;
    std::unique_ptr<Matrix> factored_;  ///< what `numeric_` stands for; none after a failure
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    FuzzedDataProvider input(data, size);
    Session(input).run();
    return 0;
}

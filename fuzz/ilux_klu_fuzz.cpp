// Any sequence of calls of the C interface for real or complex values on small matrices, sensible or not: nothing
// crashes, every status is one of ilux_klu.h, memory is counted back to 0, calls of the other kind of values are
// refused, and a solution that is called good has the residual that its factors L, U, F promise,
//     |b − A x| ≤ c n ε (Pᵀ Rs (|L| |U| + |F|) Qᵀ + Σ|duplicates|) |x|,
// judged in long double with the matrix that was factored last.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "ilux/direct/klu/ilux_klu.h"
#include "ilux/direct/klu/ilux_klu_z.h"
#include "ilux/fuzz/expect.hpp"

namespace {

using ilux::fuzz::expect;
using Real = long double;
using Int = std::int64_t;
using Complex = std::complex<double>;
using Doubles = std::vector<double>;
template <class T>
using Square = std::vector<T>;  // n×n by rows

template <class S>
constexpr bool is_complex = std::is_same_v<S, Complex>;
template <class S>
using Wide = std::conditional_t<is_complex<S>, std::complex<Real>, Real>;

/// The calls for one kind of values: real.
struct RealCalls {
    using S = double;
    static constexpr auto factor = ilux_klu_l_factor;
    static constexpr auto refactor = ilux_klu_l_refactor;
    static constexpr auto solve = ilux_klu_l_solve;
    static constexpr auto rcond = ilux_klu_l_rcond;
    static constexpr auto rgrowth = ilux_klu_l_rgrowth;
    static constexpr auto condest = ilux_klu_l_condest;
    static constexpr auto flops = ilux_klu_l_flops;
    static constexpr auto scale = ilux_klu_l_scale;
    static constexpr auto sort = ilux_klu_l_sort;
    static constexpr auto free_numeric = ilux_klu_l_free_numeric;
    static Int tsolve(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, Int ldim, Int nrhs, double* B, Int,
                      ilux_klu_l_common* common)
    {
        return ilux_klu_l_tsolve(symbolic, numeric, ldim, nrhs, B, common);
    }
};
struct ComplexCalls {
    using S = Complex;
    static constexpr auto factor = ilux_klu_zl_factor;
    static constexpr auto refactor = ilux_klu_zl_refactor;
    static constexpr auto solve = ilux_klu_zl_solve;
    static constexpr auto tsolve = ilux_klu_zl_tsolve;
    static constexpr auto rcond = ilux_klu_zl_rcond;
    static constexpr auto rgrowth = ilux_klu_zl_rgrowth;
    static constexpr auto condest = ilux_klu_zl_condest;
    static constexpr auto flops = ilux_klu_zl_flops;
    static constexpr auto scale = ilux_klu_zl_scale;
    static constexpr auto sort = ilux_klu_zl_sort;
    static constexpr auto free_numeric = ilux_klu_zl_free_numeric;
};

template <class S>
double* doubles(std::vector<S>& values)
{
    return reinterpret_cast<double*>(values.data());
}

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A pattern and values as a caller has them: Ai and Ax hold as many entries as Ap promises, and not one more.
template <class S>
struct Matrix {
    Int              n = 0;
    std::vector<Int> Ap, Ai;
    std::vector<S>   Ax;

    /// Σ of duplicates.
    Square<Wide<S>> dense() const
    {
        Square<Wide<S>> A(n * n, 0);
        for (Int j = 0; j < n; ++j)
            for (Int p = Ap[j]; p < Ap[j + 1]; ++p) A[Ai[p] * n + j] += Wide<S>(Ax[p]);
        return A;
    }
    /// Σ of their absolute values.
    Square<Real> sizes() const
    {
        Square<Real> A(n * n, 0);
        for (Int j = 0; j < n; ++j)
            for (Int p = Ap[j]; p < Ap[j + 1]; ++p) A[Ai[p] * n + j] += std::abs(Wide<S>(Ax[p]));
        return A;
    }
    /// Neither rounding to nothing nor overflow is to be expected.
    bool moderate() const
    {
        const auto fits = [](double a) { return a == 0 || (std::abs(a) >= 1e-3 && std::abs(a) <= 1e3); };
        return std::all_of(Ax.begin(), Ax.end(), [&](S a) { return fits(std::real(a)) && fits(std::imag(a)); });
    }
};

template <class Calls>
class Session {
public:
    explicit Session(FuzzedDataProvider& input) : input_(input) { expect(ilux_klu_l_defaults(&common_)); }
    ~Session()
    {
        expect(Calls::free_numeric(&numeric_, &common_));
        expect(ilux_klu_l_free_symbolic(&symbolic_, &common_));
        expect(common_.memusage == 0);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void run()
    {
        matrix_ = matrix();
        for (int calls = 0; calls < 40 && input_.remaining_bytes() > 0; ++calls) {
            call(input_.ConsumeIntegralInRange<int>(0, 12));
            expect(common_.status >= ILUX_KLU_TOO_LARGE && common_.status <= ILUX_KLU_SINGULAR && common_.status != -1);
        }
    }

private:
    using S = typename Calls::S;
    using Values = std::vector<S>;

    double part()
    {
        constexpr double special[] = {0,     infinity, std::numeric_limits<double>::quiet_NaN(), 1e300, -1e-300, 5e-324,
                                      1e-12, -1e12};
        const auto       kind = input_.ConsumeIntegral<std::uint8_t>();
        if (kind >= 248) return special[kind - 248];
        return kind % 4 == 0 ? kind / 4 - 31 : std::ldexp(1.0 + kind / 256.0, kind % 16 - 8);
    }

    S value()
    {
        if constexpr (is_complex<S>) {
            const double re = part();
            return {re, part()};
        } else return part();
    }

    void fill(Values& values)
    {
        for (S& v : values) v = value();
    }

    Matrix<S> matrix()
    {
        Matrix<S> A;
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
        ilux_klu_set_repivot(input_.ConsumeIntegralInRange<int>(0, 1));
        constexpr double tols[] = {1e-3, 1, 0, -1, 2, std::numeric_limits<double>::quiet_NaN()};
        common_.tol = tols[input_.ConsumeIntegralInRange<int>(0, 5)];
    }

    void free_numeric()
    {
        // each frees what the other made
        const auto free_it = input_.ConsumeBool() ? ilux_klu_l_free_numeric : ilux_klu_zl_free_numeric;
        expect(free_it(&numeric_, &common_) && numeric_ == nullptr);
        factored_.reset();
        singular_ = false;
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

    void note(bool done)
    {
        const bool good = common_.status == ILUX_KLU_OK;
        singular_ = done && !good;
        factored_ = good ? std::make_unique<Matrix<S>>(matrix_) : nullptr;
    }

    void factor()
    {
        free_numeric();
        numeric_ = Calls::factor(matrix_.Ap.data(), matrix_.Ai.data(), doubles(matrix_.Ax), symbolic_, &common_);
        expect(numeric_ != nullptr || common_.status != ILUX_KLU_OK);
        note(numeric_ != nullptr);
    }

    void refactor()
    {
        const bool done = Calls::refactor(matrix_.Ap.data(), matrix_.Ai.data(), doubles(matrix_.Ax), symbolic_,
                                          numeric_, &common_) != 0;
        expect(done || common_.status != ILUX_KLU_OK);
        note(done);
    }

    static Real size(double re, double im) { return std::hypot(Real{re}, Real{im}); }

    /// Pᵀ Rs (|L| |U| + |F|) Qᵀ by what extract() gives.
    Square<Real> factors_product()
    {
        const Int        n = numeric_->n;
        std::vector<Int> Lp(n + 1), Li(numeric_->lnz), Up(n + 1), Ui(numeric_->unz), Fp(n + 1), Fi(numeric_->nzoff),
            P(n), Q(n), R(numeric_->nblocks + 1);
        Doubles Lx(Li.size()), Lz(Li.size()), Ux(Ui.size()), Uz(Ui.size()), Fx(Fi.size()), Fz(Fi.size()), Rs(n);
        if constexpr (is_complex<S>)
            expect(ilux_klu_zl_extract(numeric_, symbolic_, Lp.data(), Li.data(), Lx.data(), Lz.data(), Up.data(),
                                       Ui.data(), Ux.data(), Uz.data(), Fp.data(), Fi.data(), Fx.data(), Fz.data(),
                                       P.data(), Q.data(), Rs.data(), R.data(), &common_));
        else
            expect(ilux_klu_l_extract(numeric_, symbolic_, Lp.data(), Li.data(), Lx.data(), Up.data(), Ui.data(),
                                      Ux.data(), Fp.data(), Fi.data(), Fx.data(), P.data(), Q.data(), Rs.data(),
                                      R.data(), &common_));
        expect(Lp[n] == numeric_->lnz && Up[n] == numeric_->unz && R.back() == n);
        Square<Real> G(n * n, 0);
        const auto   add = [&](Int i, Int j, Real g) { G[P[i] * n + Q[j]] += std::abs(Real{Rs[i]} * g); };
        for (Int j = 0; j < n; ++j) {
            for (Int u = Up[j]; u < Up[j + 1]; ++u)
                for (Int l = Lp[Ui[u]]; l < Lp[Ui[u] + 1]; ++l) add(Li[l], j, size(Lx[l], Lz[l]) * size(Ux[u], Uz[u]));
            for (Int f = Fp[j]; f < Fp[j + 1]; ++f) add(Fi[f], j, size(Fx[f], Fz[f]));
        }
        return G;
    }

    /// Scales stay those of the factored values. Powers of two change no bit, unless numbers leave the range of double.
    bool scales_are_far_off() const
    {
        const auto far = [](double scale) { return !(scale >= 1e-100 && scale <= 1e100); };
        return numeric_->Rs != nullptr && std::any_of(numeric_->Rs, numeric_->Rs + numeric_->n, far);
    }

    enum class Op { none, transpose, adjoint };

    void judge(const S* b, const S* x, Op op)
    {
        const Matrix<S>& A = *factored_;
        if (!A.moderate() || scales_are_far_off()) return;
        const auto wild = [](double part) {
            return !(std::abs(part) <= 1e12) || (part != 0 && std::abs(part) < 1e-12);
        };
        for (Int i = 0; i < A.n; ++i)
            if (wild(std::real(b[i])) || wild(std::imag(b[i]))) return;
        const auto exact = A.dense();
        const auto duplicates = A.sizes(), G = factors_product();
        const Real c = (is_complex<S> ? 32 : 8) * std::numeric_limits<double>::epsilon() * A.n;
        for (Int i = 0; i < A.n; ++i) {
            Wide<S> residual = b[i];
            Real    bound = std::abs(residual);
            for (Int j = 0; j < A.n; ++j) {
                const Int at = op == Op::none ? i * A.n + j : j * A.n + i;
                expect(std::isfinite(std::real(x[j])) && std::isfinite(std::imag(x[j])));
                Wide<S> a = exact[at];
                if constexpr (is_complex<S>) a = op == Op::adjoint ? std::conj(a) : a;
                residual -= a * Wide<S>(x[j]);
                bound += (G[at] + duplicates[at]) * std::abs(Wide<S>(x[j]));
            }
            expect(std::abs(residual) <= c * bound);
        }
    }

    void solve(Op op)
    {
        const Int n = n_, nrhs = input_.ConsumeIntegralInRange<Int>(-1, 9);
        Int       ldim = n + input_.ConsumeIntegralInRange<Int>(-1, 3);
        if (nrhs > 1 && input_.ConsumeIntegral<std::uint8_t>() == 255) ldim = std::numeric_limits<Int>::max();
        const bool beyond = ldim > n + 3;
        Values     B(beyond ? n : std::max<Int>((nrhs - 1) * ldim + n, n), S(1));
        if (!beyond) fill(B);
        Values     X = B;
        const bool done = (op == Op::none ? Calls::solve(symbolic_, numeric_, ldim, nrhs, doubles(X), &common_)
                                          : Calls::tsolve(symbolic_, numeric_, ldim, nrhs, doubles(X),
                                                          op == Op::adjoint, &common_)) != 0;
        expect(done == (common_.status == ILUX_KLU_OK));
        if (!done) return;
        expect(nrhs >= 0 && ldim >= n && !beyond);
        if (singular_) return (void)factors_product();
        expect(factored_ != nullptr && factored_->n == n);
        for (Int c = 0; c < nrhs; ++c) judge(B.data() + c * ldim, X.data() + c * ldim, op);
    }

    void ask()
    {
        auto *const Ap = matrix_.Ap.data(), *const Ai = matrix_.Ai.data();
        switch (input_.ConsumeIntegralInRange<int>(0, 6)) {
            case 0:
                if (Calls::rcond(symbolic_, numeric_, &common_)) expect(common_.rcond >= 0 && common_.rcond <= 1);
                break;
            case 1:
                Calls::rgrowth(Ap, Ai, doubles(matrix_.Ax), symbolic_, numeric_, &common_);
                break;
            case 2:
                if (factored_ == nullptr || matrix_.Ax.size() == factored_->Ax.size())
                    Calls::condest(Ap, doubles(matrix_.Ax), symbolic_, numeric_, &common_);
                break;
            case 3:
                Calls::flops(symbolic_, numeric_, &common_);
                break;
            case 4:
                scale();
                break;
            case 5:
                call_the_other_kind();
                break;
            default:
                Calls::sort(symbolic_, numeric_, &common_);
        }
    }

    void scale()
    {
        Doubles          Rs(n_, -1);
        std::vector<Int> W(n_);
        const Int        how = input_.ConsumeIntegralInRange<Int>(-1, 3);
        const bool done = Calls::scale(how, n_, matrix_.Ap.data(), matrix_.Ai.data(), doubles(matrix_.Ax), Rs.data(),
                                       input_.ConsumeBool() ? W.data() : nullptr, &common_) != 0;
        expect(done == (common_.status == ILUX_KLU_OK));
        const bool written = done && how > 0;
        for (const double r : Rs) expect(written ? r > 0 : r == -1);
    }

    /// Nothing is solved, told or changed by calls for values that the numeric does not hold.
    void call_the_other_kind()
    {
        using Other = std::conditional_t<is_complex<S>, RealCalls, ComplexCalls>;
        Doubles B(2 * n_, 1.0);
        expect(!Other::solve(symbolic_, numeric_, n_, 1, B.data(), &common_) && common_.status == ILUX_KLU_INVALID);
        expect(!Other::flops(symbolic_, numeric_, &common_) && common_.status == ILUX_KLU_INVALID);
        expect(std::count(B.begin(), B.end(), 1.0) == 2 * n_);
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
                solve(Op::none);
                break;
            case 10:
                solve(input_.ConsumeBool() && is_complex<S> ? Op::adjoint : Op::transpose);
                break;
            case 11:
                ask();
                break;
            default:
                allocate();
        }
    }

    FuzzedDataProvider&        input_;
    Int                        n_ = input_.ConsumeIntegralInRange<Int>(1, 8);  ///< of all: no call can see another
    ilux_klu_l_common          common_{};
    Matrix<S>                  matrix_;
    ilux_klu_l_symbolic*       symbolic_ = nullptr;
    ilux_klu_l_numeric*        numeric_ = nullptr;
    std::unique_ptr<Matrix<S>> factored_;          ///< what `numeric_` stands for; none after a failure
    bool                       singular_ = false;  ///< it holds factors of a singular matrix
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    FuzzedDataProvider input(data, size);
    if (input.ConsumeBool()) Session<ComplexCalls>(input).run();
    else Session<RealCalls>(input).run();
    return 0;
}

#include "ilux/precond/mlilu/damped.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/near_symmetry.hpp"
#include "ilux/base/error.hpp"

namespace ilux {
namespace {

constexpr double least_excess = 0.01;  // below, there are more than 30 points a wavelength, and damping gains nothing
constexpr double least_rows = 0.5;     // of all, that are like waves

/// f(a_jj) of every diagonal entry that is stored.
template <class T, class F>
void for_each_diagonal(CsrMatrix<T>& A, F&& f)
{
    const auto row_ptr = A.row_ptr();
    const auto col = A.col();
    const auto val = A.val();
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p)
            if (col[p] == i) f(val[p]);
}

/// −Re Σ_k a_jk/a_jj of the rows where it is positive.
template <class T>
std::vector<double> excesses(const CsrView<T>& A)
{
    std::vector<double> found;
    for (Index i = 0; i < A.rows(); ++i) {
        T sum = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) sum += A.val()[p];
        const double excess = -std::real(sum / A.at(i, i));
        if (excess > 0 && std::isfinite(excess)) found.push_back(excess);
    }
    return found;
}

template <class T>
double chosen_beta(const CsrView<T>& A)
{
    if (A.rows() < least_damped_rows || !is_symmetric(A) || is_hermitian(A)) return 0;
    std::vector<double> excess = excesses(A);
    if (excess.empty()) return 0;
    const auto middle = excess.begin() + std::ssize(excess) / 2;
    std::nth_element(excess.begin(), middle, excess.end());
    return automatic_damping(A.rows(), static_cast<Index>(excess.size()), *middle);
}

void damp(CsrMatrix<std::complex<double>>& A, double beta)
{
    double sum = 0;
    for_each_diagonal(A, [&](std::complex<double>& a) { sum += a.imag(); });
    for_each_diagonal(A, [&](std::complex<double>& a) { a.imag(a.imag() + std::copysign(beta, sum) * std::abs(a)); });
}

}  // namespace

double automatic_damping(Index rows, Index positive, double middle)
{
    return positive < least_rows * rows || middle < least_excess ? 0 : std::min(1., damped_share * middle);
}

std::string why_damped(double beta)
{
    return fmt::format("damping {:.2g}: A is symmetric and its couplings outweigh its diagonal entries, as of waves",
                       beta);
}

template <Scalar T>
Damped<T> damped(Cpu& be, const CsrView<T>& A, const MlIluOptions& options)
{
    Damped<T>     made{.A = {}, .beta = std::max(0., options.damping.beta), .decisions = {}};
    ExactImage<T> image = exact_image(be, A);
    if (image.mean) made.decisions.push_back(std::move(image.told));
    made.A = image.mean ? std::move(*image.mean) : CsrMatrix<T>(A);
    if constexpr (is_complex<T>) {
        if (options.damping.beta == Damping::automatic) made.beta = chosen_beta<T>(made.A);
        if (options.damping.beta == Damping::automatic && made.beta > 0)
            made.decisions.push_back(why_damped(made.beta));
        if (made.beta > 0) damp(made.A, made.beta);
    } else if (made.beta > 0) {
        throw InvalidInput("precond.damping adds imaginary numbers to the diagonal: it needs a complex matrix");
    }
    return made;
}

#define ILUX_INSTANTIATE(T) template Damped<T> damped(Cpu&, const CsrView<T>&, const MlIluOptions&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

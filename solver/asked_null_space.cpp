#include "ilux/solver/asked_null_space.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/io/matrix_file.hpp"

namespace ilux {
namespace {

/// The columns of a file, one after another.
template <Scalar S>
std::vector<S> read_columns(const std::string& path, Index n, Index& count)
{
    const CsrMatrix<S> file = read_matrix<S>(path);
    require(file.rows() == n && file.cols() > 0, [&] {
        return fmt::format("null_space: {} has {} rows and {} columns, A {} rows", path, file.rows(), file.cols(), n);
    });
    count = file.cols();
    std::vector<S> columns(static_cast<std::size_t>(n) * static_cast<std::size_t>(count));
    for (Index i = 0; i < n; ++i)
        for (Offset p = file.row_ptr()[i]; p < file.row_ptr()[i + 1]; ++p)
            columns[static_cast<std::size_t>(file.col()[p]) * n + i] = file.val()[p];
    return columns;
}

}  // namespace

template <Scalar S>
void AskedNullSpace<S>::give(std::span<const S> columns, Index count)
{
    require(count > 0 && !columns.empty() && columns.size() % static_cast<std::size_t>(count) == 0,
            [&] { return fmt::format("null_space: {} numbers are no {} vectors", columns.size(), count); });
    columns_.assign(columns.begin(), columns.end());
    count_ = count;
}

template <Scalar S>
std::string AskedNullSpace<S>::renew(const CsrView<S>& A)
{
    const bool constant = count_ == 0 && option_ == "constant";
    if (!constant && count_ == 0) columns_ = read_columns<S>(option_, A.rows(), count_);
    NullSpace<S> found = constant ? NullSpace<S>::of_constants(A) : NullSpace<S>::of_vectors(A, columns_, count_);
    if (space_ && *space_ == found) return "";
    std::string said = told(found);
    space_ = std::make_shared<const NullSpace<S>>(std::move(found));
    return said;
}

template <Scalar S>
std::string AskedNullSpace<S>::told(const NullSpace<S>& found) const
{
    const bool  constant = count_ == 0;
    std::string what = constant ? "the constant" : "one vector";
    if (found.count() > 1)
        what = constant ? fmt::format("the constants of {} parts", found.count())
                        : fmt::format("{} vectors", found.count());
    std::string text =
        fmt::format("iterative: A takes {} to 0 (null_space), and has no LU; x is kept clear of it", what);
    if (!found.left()) text += "; its adjoint does not, so that b is left as it is";
    return text;
}

template <Scalar S>
double AskedNullSpace<S>::project_b(std::span<S> b) const
{
    if (!space_->left()) return 0;
    constexpr double     told_from = 1e-12, nothing = 1e-14;
    Cpu                  serial(1);
    const std::vector<S> given(b.begin(), b.end());
    space_->project(serial, b);
    space_->project(serial, b);  // what cancelled is lost: again
    std::vector<S> part = given;
    axpy<S>(serial, -1, b, part);
    const double whole = norm2<S>(serial, given), taken = norm2<S>(serial, part), left = norm2<S>(serial, b);
    if (left <= nothing * whole) fill<S>(serial, 0, b);
    return taken > told_from * whole ? taken / whole : 0;
}

template <Scalar S>
void AskedNullSpace<S>::project_x(std::span<S> x) const
{
    Cpu serial(1);
    if (is_finite<S>(serial, x)) space_->project(serial, x);
}

template <Scalar S>
SolverReport AskedNullSpace<S>::solve_clear_of(SystemVectors<S>& given, Transpose transpose,
                                               const std::function<SolverReport(SystemVectors<S>&)>& solve) const
{
    require(transpose == Transpose::no || space_->left(),
            [] { return "null_space: it is not that of the transpose, which is not known"; });
    std::vector<S> b(given.b().begin(), given.b().end());
    Solution       guess = given.host_guess();
    if (guess.size() != b.size()) guess = std::vector<S>(b.size());
    given.read_guess(guess);
    project_x(guess.of<S>());
    const double     taken_off = project_b(b);
    SystemVectors<S> projected(std::span<const S>(b), std::span<S>(guess.of<S>()), given.is_guessed());
    SolverReport     report = solve(projected);
    report.taken_off = taken_off;
    if (taken_off > 0)
        report.decisions.push_back(fmt::format(
            "null_space: b had a part of {:.1e} of its size in the null space of A; it was taken off: x is the least-squares solution",
            taken_off));
    project_x(report.attempts[report.best].x.template of<S>());
    given.deliver(report.result().x.of<S>());
    return report;
}

#define ILUX_INSTANTIATE(S) template class AskedNullSpace<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

#include "ilux/apps/input/problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>

#include "ilux/base/instances.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/fields.hpp"
#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/engine/machine/host.hpp"

namespace ilux::app {
namespace {

constexpr std::string_view gallery_prefix = "gallery:";

[[noreturn]] void throw_not_a_rhs(const std::string& text)
{
    const std::vector<std::string> known{"A1", "ones", "random:1"};
    const std::string              nearest = nearest_name(text, known);
    const std::string why = fmt::format("rhs={}: expected A1, ones, random:SEED or an existing file{}", text,
                                        nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
    if (text.find_first_of("./") != std::string::npos) throw InvalidInput(why);  // meant as a file
    throw InvalidOption(why);
}

template <Scalar S>
std::vector<S> read_rhs(const std::string& file, Index n, const ReadLimit& limit, RhsColumns columns,
                        std::string& remark)
{
    std::error_code ignored;
    if (file != "-" && !std::filesystem::exists(file, ignored)) throw_not_a_rhs(file);
    const auto fitting = [&](const MatrixMarketHeader& header) {
        require(header.cols == 1 || (columns == RhsColumns::any && header.cols > 1), [&] {
            return fmt::format("{}: {} columns; a right-hand side needs one{}", file, header.cols,
                               columns == RhsColumns::any ? ", several need as many" : " alone");
        });
        const double bytes = 3.0 * sizeof(S) * static_cast<double>(header.rows) * static_cast<double>(header.cols);
        const double room = static_cast<double>(memory_available());
        if (room > 0 && bytes > room)  // b, x and what is written of it
            throw OutOfMemory(
                fmt::format("{}: {} right-hand sides of {} values and their solutions take {:.3g} bytes, and {:.3g} "
                            "are free; give fewer columns at a time",
                            file, header.cols, header.rows, bytes, room));
    };
    const auto     B = read_sides<S>(file, n, limit, fitting, remark);
    std::vector<S> b(static_cast<std::size_t>(B.rows()) * static_cast<std::size_t>(B.cols()));
    for (Index i = 0; i < B.rows(); ++i)
        for (Offset p = B.row_ptr()[i]; p < B.row_ptr()[i + 1]; ++p)
            b[static_cast<std::size_t>(B.col()[p]) * B.rows() + i] = B.val()[p];
    return b;
}

void require_square(const std::string& matrix, Index rows, Index cols)
{
    require(rows == cols, [&] {
        return fmt::format("{}: {} rows and {} columns; a system needs a square matrix", matrix, rows, cols);
    });
    require(rows > 0, [&] { return fmt::format("{}: 0 rows; there is nothing to solve", matrix); });
}

enum class ValuesTaken { any, real };

NamedMatrix load_matrix(const std::string& name, ValuesTaken values, const ReadOptions& options)
{
    const bool real = values == ValuesTaken::real;
    if (!name.starts_with(gallery_prefix))
        return {.A = real ? AnyMatrix(read_matrix(name, options)) : read_any_matrix(name, options), .about = ""};
    const std::string spec = name.substr(gallery_prefix.size());
    return {.A = real ? AnyMatrix(gallery::build(spec)) : gallery::build_any(spec),
            .about = gallery::find_problem(spec.substr(0, spec.find(':'))).summary};
}

}  // namespace

StopToken ReadLimit::of(const std::string& file) const
{
    if (seconds == 0) return stop;
    return stop.within(seconds, fmt::format("{}: the time limit of {:g} s was reached while it was read; --time-limit "
                                            "takes another, 0 is none",
                                            file == "-" ? "standard input" : file, seconds));
}

NamedMatrix load_any_matrix(const std::string& name, const ReadOptions& options)
{
    return load_matrix(name, ValuesTaken::any, options);
}

CsrMatrix<double> load_real_matrix(const std::string& name, const ReadOptions& options)
{
    return std::get<CsrMatrix<double>>(load_matrix(name, ValuesTaken::real, options).A);
}

template <Scalar S>
CsrMatrix<S> read_sides(const std::string& file, Index n, const ReadLimit& limit,
                        const std::function<void(const MatrixMarketHeader&)>& accept, std::string& remark)
{
    bool       row = false;
    const auto see = [&](MatrixMarketHeader header) {
        row = header.rows == 1 && header.cols == n && n > 1;
        if (row) std::swap(header.rows, header.cols);
        require(header.rows == n, [&] {
            return fmt::format("{}: the right-hand side has {} values, but the matrix has {} rows", file, header.rows,
                               n);
        });
        accept(header);
    };
    auto B = read_matrix<S>(file, {.part = FilePart::right_sides, .accept = see, .stop = limit.of(file)});
    if (!row) return B;
    remark = fmt::format("{}: a row of {} values, taken as a column", file, n);
    return transpose<S>(B);
}

template <Scalar S>
std::vector<S> load_rhs(const std::string& rhs, const CsrView<S>& A, const std::string& name, const ReadLimit& limit,
                        RhsColumns columns, std::string& remark)
{
    const auto n = static_cast<std::size_t>(A.rows());
    if (rhs == "ones") return std::vector<S>(n, 1.0);
    if (rhs == "A1") {
        std::vector<S> b(n);
        Cpu            cpu(1);
        spmv<S>(cpu, 1, A, std::vector<S>(static_cast<std::size_t>(A.cols()), 1.0), 0, b);
        require(is_finite<S>(cpu, b), [&] { return fmt::format("{}: b = A·1 overflows; use --rhs ones", name); });
        return b;
    }
    if (!rhs.starts_with("random:")) return read_rhs<S>(rhs, A.rows(), limit, columns, remark);
    std::int64_t seed = 0;
    try {
        parse_field("rhs", std::string_view(rhs).substr(7), seed);
    } catch (const InvalidOption&) {
        throw InvalidOption(fmt::format("rhs={}: expected random:SEED, SEED a whole number", rhs));
    }
    return gallery::random_vector<S>(A.rows(), seed);
}

void load_near_null(SolveOptions& options, Index n, const ReadLimit& limit)
{
    const std::string& file = options.near_null;
    if (file.empty()) return;
    if (file == "-") throw InvalidOption("near_null=-: standard input is for the matrix or the right-hand side");
    const auto fitting = [&](const MatrixMarketHeader& header) {
        require(header.cols > 0 && header.cols <= most_test_vectors, [&] {
            return fmt::format("{}: {} columns; near_null takes 1 to {} vectors", file, header.cols, most_test_vectors);
        });
        require(header.rows == n, [&] {
            return fmt::format("{}: vectors of {} values, but the matrix has {} rows", file, header.rows, n);
        });
    };
    const auto T = read_matrix(file, {.part = FilePart::right_sides, .accept = fitting, .stop = limit.of(file)});
    std::vector<double> by_rows(static_cast<std::size_t>(T.rows()) * static_cast<std::size_t>(T.cols()));
    for (Index i = 0; i < T.rows(); ++i)
        for (Offset p = T.row_ptr()[i]; p < T.row_ptr()[i + 1]; ++p)
            by_rows[static_cast<std::size_t>(i) * T.cols() + T.col()[p]] = T.val()[p];
    MlIluOptions& mlilu = options.precond.mlilu;
    mlilu.near_null = std::make_shared<const std::vector<double>>(std::move(by_rows));
    try {
        (void)test_vectors(mlilu, n);
    } catch (const InvalidInput& error) {
        throw InvalidInput(fmt::format("{}: {}", file, error.what()));
    }
}

template <Scalar S>
void Problem<S>::take(CsrMatrix<S> matrix)
{
    A = std::move(matrix);
    rows = A.rows();
    nnz = A.nnz();
    matrix_bytes = A.bytes();
    complex = is_complex<S>;
    symmetric = is_symmetric(A);
    pattern_symmetric = symmetric || is_pattern_symmetric(A);
    hermitian = is_complex<S> ? is_hermitian(A) : symmetric;
    positive_diagonal = has_positive_diagonal(A);
}

namespace {

/// The system of a matrix that was read.
template <Scalar S>
Problem<S> completed(CsrMatrix<S> A, ProblemFacts facts, const ReadLimit& limit, RhsColumns columns)
{
    require_square(facts.name, A.rows(), A.cols());
    limit.stop.check();  // rows without entries are read in one go
    Problem<S> problem{std::move(facts), {}, {}, {}};
    problem.take(std::move(A));
    limit.stop.check();
    problem.b = load_rhs<S>(problem.rhs, problem.A, problem.name, limit, columns, problem.rhs_remark);
    problem.columns = static_cast<Index>(problem.b.size() / static_cast<std::size_t>(problem.n()));
    limit.stop.check();
    if (problem.rhs == "A1") {
        Cpu cpu(1);
        problem.exact.assign(static_cast<std::size_t>(problem.n()), 1.0);
        problem.rhs_is_noise = norm2<S>(cpu, problem.b) <= 1e-14 * norm2<S>(cpu, problem.A.val());
    }
    return problem;
}

AnyProblem load(ValuesTaken values, const std::string& matrix, const std::string& rhs, const ReadLimit& limit,
                RhsColumns columns, const std::function<void(Offset)>& on_size)
{
    if (matrix == "-" && rhs == "-")
        throw InvalidOption("standard input cannot hold both the matrix and the right-hand side");
    const WallClock clock;
    const auto      square = [&](const MatrixMarketHeader& header) {
        require_square(matrix, header.rows, header.cols);
        if (on_size) on_size(header.entries);
    };
    ProblemFacts facts;
    facts.name = matrix;
    facts.rhs = rhs;
    auto [A, about] = load_matrix(matrix, values, {.accept = square, .stop = limit.of(matrix)});
    facts.about = std::move(about);
    if (on_size) std::visit([&](const auto& one) { on_size(one.nnz()); }, A);
    AnyProblem problem =
        std::visit([&](auto& one) -> AnyProblem { return completed(std::move(one), std::move(facts), limit, columns); },
                   A);
    std::visit([&](auto& one) { one.seconds_read = clock.seconds(); }, problem);
    return problem;
}

}  // namespace

AnyProblem load_any_problem(const std::string& matrix, const std::string& rhs, const ReadLimit& limit,
                            RhsColumns columns, const std::function<void(Offset)>& on_size)
{
    return load(ValuesTaken::any, matrix, rhs, limit, columns, on_size);
}

Problem<> load_problem(const std::string& matrix, const std::string& rhs, const ReadLimit& limit)
{
    return std::get<Problem<>>(load(ValuesTaken::real, matrix, rhs, limit, RhsColumns::one, {}));
}

template <Scalar S>
double forward_error(const Problem<S>& problem, const std::vector<NotDeduced<S>>& x)
{
    if (problem.exact.empty() || x.size() != problem.exact.size()) return std::numeric_limits<double>::quiet_NaN();
    double error = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!is_finite(x[i])) return std::numeric_limits<double>::infinity();
        error = std::max(error, std::abs(x[i] - problem.exact[i]));
        size = std::max(size, std::abs(problem.exact[i]));
    }
    return error / size;
}

#define ILUX_INSTANTIATE(S)                                                                                       \
    template CsrMatrix<S>   read_sides(const std::string&, Index, const ReadLimit&,                               \
                                       const std::function<void(const MatrixMarketHeader&)>&, std::string&);      \
    template std::vector<S> load_rhs(const std::string&, const CsrView<S>&, const std::string&, const ReadLimit&, \
                                     RhsColumns, std::string&);                                                   \
    template struct Problem<S>;                                                                                   \
    template double forward_error(const Problem<S>&, const std::vector<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

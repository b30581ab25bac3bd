#include "ilux/apps/input/problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>

#include "ilux/base/error.hpp"
#include "ilux/base/fields.hpp"
#include "ilux/base/spmv.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"

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

std::vector<double> read_rhs(const std::string& file, Index n, const ReadLimit& limit)
{
    std::error_code ignored;
    if (file != "-" && !std::filesystem::exists(file, ignored)) throw_not_a_rhs(file);
    const auto a_column = [&](const MatrixMarketHeader& header) {
        require(header.cols == 1,
                [&] { return fmt::format("{}: {} columns; a right-hand side needs one alone", file, header.cols); });
        require(header.rows == n, [&] {
            return fmt::format("{}: the right-hand side has {} values, but the matrix has {} rows", file, header.rows,
                               n);
        });
    };
    const auto          B = read_matrix(file, {.accept = a_column, .stop = limit.of(file)});
    std::vector<double> b(static_cast<std::size_t>(B.rows()));
    for (Index i = 0; i < B.rows(); ++i) b[static_cast<std::size_t>(i)] = B.at(i, 0);
    return b;
}

void require_square(const std::string& matrix, Index rows, Index cols)
{
    require(rows == cols, [&] {
        return fmt::format("{}: {} rows and {} columns; a system needs a square matrix", matrix, rows, cols);
    });
    require(rows > 0, [&] { return fmt::format("{}: 0 rows; there is nothing to solve", matrix); });
}

}  // namespace

StopToken ReadLimit::of(const std::string& file) const
{
    if (seconds == 0) return stop;
    return stop.within(seconds, fmt::format("{}: the time limit of {:g} s was reached while it was read; --time-limit "
                                            "takes another, 0 is none",
                                            file == "-" ? "standard input" : file, seconds));
}

NamedMatrix load_matrix(const std::string& name, const ReadOptions& options)
{
    if (!name.starts_with(gallery_prefix)) return {.A = read_matrix(name, options), .about = ""};
    const std::string spec = name.substr(gallery_prefix.size());
    return {.A = gallery::build(spec), .about = gallery::find_problem(spec.substr(0, spec.find(':'))).summary};
}

std::vector<double> load_rhs(const std::string& rhs, const CsrView<double>& A, const std::string& name,
                             const ReadLimit& limit)
{
    const auto n = static_cast<std::size_t>(A.rows());
    if (rhs == "ones") return std::vector<double>(n, 1.0);
    if (rhs == "A1") {
        std::vector<double> b(n);
        Cpu                 cpu(1);
        spmv(cpu, 1, A, std::vector<double>(static_cast<std::size_t>(A.cols()), 1.0), 0, b);
        require(is_finite(cpu, b), [&] { return fmt::format("{}: b = A·1 overflows; use --rhs ones", name); });
        return b;
    }
    if (!rhs.starts_with("random:")) return read_rhs(rhs, A.rows(), limit);
    std::int64_t seed = 0;
    try {
        parse_field("rhs", std::string_view(rhs).substr(7), seed);
    } catch (const InvalidOption&) {
        throw InvalidOption(fmt::format("rhs={}: expected random:SEED, SEED a whole number", rhs));
    }
    return gallery::random_vector(A.rows(), seed);
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
    const auto          T = read_matrix(file, {.accept = fitting, .stop = limit.of(file)});
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

Problem load_problem(const std::string& matrix, const std::string& rhs, const ReadLimit& limit)
{
    if (matrix == "-" && rhs == "-")
        throw InvalidOption("standard input cannot hold both the matrix and the right-hand side");
    WallClock   clock;
    const auto  square = [&](const MatrixMarketHeader& header) { require_square(matrix, header.rows, header.cols); };
    NamedMatrix loaded = load_matrix(matrix, {.accept = square, .stop = limit.of(matrix)});
    Problem     problem;
    problem.name = matrix;
    problem.about = std::move(loaded.about);
    problem.A = std::move(loaded.A);
    problem.rhs = rhs;
    require_square(matrix, problem.A.rows(), problem.A.cols());
    limit.stop.check();  // rows without entries are read in one go
    problem.pattern_symmetric = is_pattern_symmetric(problem.A);
    problem.symmetric = is_symmetric(problem.A);
    problem.positive_diagonal = has_positive_diagonal(problem.A);
    limit.stop.check();
    problem.b = load_rhs(rhs, problem.A, matrix, limit);
    limit.stop.check();
    if (rhs == "A1") {
        Cpu cpu(1);
        problem.exact.assign(static_cast<std::size_t>(problem.n()), 1.0);
        problem.rhs_is_noise = norm2(cpu, problem.b) <= 1e-14 * norm_frobenius(problem.A);
    }
    problem.seconds_read = clock.seconds();
    return problem;
}

double forward_error(const Problem& problem, const std::vector<double>& x)
{
    if (problem.exact.empty() || x.size() != problem.exact.size()) return std::numeric_limits<double>::quiet_NaN();
    double error = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i])) return std::numeric_limits<double>::infinity();
        error = std::max(error, std::abs(x[i] - problem.exact[i]));
        size = std::max(size, std::abs(problem.exact[i]));
    }
    return error / size;
}

}  // namespace ilux::app

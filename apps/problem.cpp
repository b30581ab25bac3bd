#include "ilux/apps/problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>

#include "ilux/apps/progress.hpp"
#include "ilux/base/fields.hpp"
#include "ilux/base/matrix_market.hpp"
#include "ilux/base/spmv.hpp"
#include "ilux/gallery/gallery.hpp"

namespace ilux::app {
namespace {

constexpr std::string_view gallery_prefix = "gallery:";

bool is_positive(const CsrMatrix<double>& A)
{
    for (Index i = 0; i < A.rows(); ++i)
        if (!(A.at(i, i) > 0)) return false;
    return true;
}

[[noreturn]] void throw_not_a_rhs(const std::string& text)
{
    const std::vector<std::string> known{"A1", "ones", "random:1"};
    const std::string              nearest = nearest_name(text, known);
    const std::string why = fmt::format("rhs={}: expected A1, ones, random:SEED or an existing file{}", text,
                                        nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
    if (text.find_first_of("./") != std::string::npos) throw InvalidInput(why);  // meant as a file
    throw InvalidOption(why);
}

std::vector<double> read_rhs(const std::string& file, Index n)
{
    std::error_code ignored;
    if (file != "-" && !std::filesystem::exists(file, ignored)) throw_not_a_rhs(file);
    const auto B = read_matrix(file);
    require(B.cols() == 1,
            [&] { return fmt::format("{}: {} columns; a right-hand side needs one alone", file, B.cols()); });
    std::vector<double> b(static_cast<std::size_t>(B.rows()));
    for (Index i = 0; i < B.rows(); ++i) b[static_cast<std::size_t>(i)] = B.at(i, 0);
    require(b.size() == static_cast<std::size_t>(n), [&] {
        return fmt::format("{}: the right-hand side has {} values, but the matrix has {} rows", file, b.size(), n);
    });
    return b;
}

void make_rhs(Problem& problem)
{
    const auto n = static_cast<std::size_t>(problem.n());
    if (problem.rhs == "A1") {
        problem.exact.assign(n, 1.0);
        problem.b.resize(n);
        Cpu cpu(1);
        spmv(cpu, 1, problem.A, problem.exact, 0, problem.b);
        require(is_finite(cpu, problem.b),
                [&] { return fmt::format("{}: b = A·1 overflows; use --rhs ones", problem.name); });
        problem.rhs_is_noise = norm2(cpu, problem.b) <= 1e-14 * norm_frobenius(problem.A);
    } else if (problem.rhs == "ones") {
        problem.b.assign(n, 1.0);
    } else if (problem.rhs.starts_with("random:")) {
        std::int64_t seed = 0;
        try {
            parse_field("rhs", std::string_view(problem.rhs).substr(7), seed);
        } catch (const InvalidOption&) {
            throw InvalidOption(fmt::format("rhs={}: expected random:SEED, SEED a whole number", problem.rhs));
        }
        problem.b = gallery::random_vector(problem.n(), seed);
    } else {
        problem.b = read_rhs(problem.rhs, problem.n());
    }
}

}  // namespace

NamedMatrix load_matrix(const std::string& name)
{
    if (!name.starts_with(gallery_prefix)) return {.A = read_matrix(name), .about = ""};
    const std::string spec = name.substr(gallery_prefix.size());
    return {.A = gallery::build(spec), .about = gallery::find_problem(spec.substr(0, spec.find(':'))).summary};
}

Problem load_problem(const std::string& matrix, const std::string& rhs)
{
    if (matrix == "-" && rhs == "-")
        throw InvalidOption("standard input cannot hold both the matrix and the right-hand side");
    Stopwatch   clock;
    NamedMatrix loaded = load_matrix(matrix);
    Problem     problem;
    problem.name = matrix;
    problem.about = std::move(loaded.about);
    problem.A = std::move(loaded.A);
    problem.rhs = rhs;
    const Index rows = problem.A.rows(), cols = problem.A.cols();
    require(rows == cols, [&] {
        return fmt::format("{}: {} rows and {} columns; a system needs a square matrix", matrix, rows, cols);
    });
    require(rows > 0, [&] { return fmt::format("{}: 0 rows; there is nothing to solve", matrix); });
    problem.pattern_symmetric = is_pattern_symmetric(problem.A);
    problem.symmetric = is_symmetric(problem.A);
    problem.positive_diagonal = is_positive(problem.A);
    make_rhs(problem);
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

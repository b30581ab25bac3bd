#include "ilux/apps/input/sweep_input.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/solver/frequencies.hpp"

namespace ilux::app {
namespace {

CsrMatrix<double> read_square(const std::string& file, const ReadLimit& limit)
{
    const auto square = [&](Index rows, Index cols) {
        require(rows == cols, [&] {
            return fmt::format("{}: {} rows and {} columns; a sweep needs square matrices", file, rows, cols);
        });
        require(rows > 0, [&] { return fmt::format("{}: 0 rows; there is nothing to solve", file); });
    };
    const auto        by_header = [&](const MatrixMarketHeader& header) { square(header.rows, header.cols); };
    CsrMatrix<double> A = load_real_matrix(file, {.accept = by_header, .stop = limit.of(file)});
    square(A.rows(), A.cols());  // of the gallery's
    return A;
}

AcMatrix read_both(const std::string& G_name, const std::string& C_name, const std::string& rhs, const ReadLimit& limit)
{
    const int of_input = (G_name == "-") + (C_name == "-") + (rhs == "-");
    if (of_input > 1) throw InvalidOption("standard input can hold one of G, C and the right-hand side only");
    const CsrMatrix<double> G = read_square(G_name, limit), C = read_square(C_name, limit);
    limit.stop.check();  // small files are read in one go
    require(G.rows() == C.rows(), [&] {
        return fmt::format("{}: {} × {}, but {} is {} × {}", C_name, C.rows(), C.cols(), G_name, G.rows(), G.cols());
    });
    return {G, C};
}

}  // namespace

SweepInput::SweepInput(const std::string& G, const std::string& C, std::vector<double> frequencies,
                       const std::string& rhs, const ReadLimit& limit)
    : name_(fmt::format("{} + jω {}", G, C)),
      rhs_(rhs == "auto" ? "ones" : rhs),
      frequencies_(std::move(frequencies)),
      matrix_(read_both(G, C, rhs, limit))
{
    require_frequencies(frequencies_);
    matrix_.set_frequency(*std::ranges::max_element(frequencies_));  // what overflows does so there
    if (rhs_ != "A1") b_ = load_rhs<Value>(rhs_, A(), name_, limit, RhsColumns::one, rhs_remark_);
    matrix_.set_frequency(0);
}

SequenceFacts SweepInput::facts() const
{
    const auto [least, most] = std::ranges::minmax(frequencies_);
    return {.name = name_,
            .rhs = rhs_,
            .systems = systems(),
            .n = A().rows(),
            .nnz = A().nnz(),
            .complex = true,
            .frequencies = least < most ? fmt::format("{:g} to {:g} Hz", least, most) : fmt::format("{:g} Hz", most)};
}

std::string SweepInput::label(Index k) const { return fmt::format("{:g} Hz", frequency(k)); }

void SweepInput::read(Index k)
{
    require(k >= 0 && k < systems(), [&] { return fmt::format("frequency {} of {}", k, systems()); });
    matrix_.set_frequency(frequency(k));
    if (rhs_ == "A1") b_ = load_rhs<Value>(rhs_, A(), label(k));
}

}  // namespace ilux::app

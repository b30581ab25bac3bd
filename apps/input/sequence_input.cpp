#include "ilux/apps/input/sequence_input.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/base/matrix/pattern.hpp"

namespace ilux::app {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "values.f64 and values.c128 are read as they stand");

const char* type_text(bool complex) { return complex ? "complex" : "real"; }

/// Where the patterns of equal order first differ, or "".
template <Scalar S>
std::string difference_text(const CsrView<S>& A, const CsrView<S>& other)
{
    const auto differs = first_difference(other.row_ptr(), other.col(), A.row_ptr(), A.col());
    if (!differs) return "";
    const Index i = differs->line;
    const auto  mine = A.col().subspan(A.row_ptr()[i], A.row_ptr()[i + 1] - A.row_ptr()[i]);
    const auto  yours = other.col().subspan(other.row_ptr()[i], other.row_ptr()[i + 1] - other.row_ptr()[i]);
    const auto [p, q] = std::ranges::mismatch(mine, yours);
    const bool extra = p == mine.end() || (q != yours.end() && *q < *p);
    return fmt::format("the entry at row {}, column {} (counted from 1) is {}", i + 1, (extra ? *q : *p) + 1,
                       extra ? "new" : "missing");
}

/// The pattern that has the entries of both, which are of one order, with the values of `member` and 0 elsewhere.
/// @param growth  out: where each entry of A is in it
template <Scalar S>
CsrMatrix<S> united(const CsrView<S>& A, const CsrView<S>& member, std::vector<Offset>& growth)
{
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<S>      val;
    growth.clear();
    for (Index i = 0; i < A.rows(); ++i) {
        Offset       p = A.row_ptr()[i], q = member.row_ptr()[i];
        const Offset p_end = A.row_ptr()[i + 1], q_end = member.row_ptr()[i + 1];
        while (p < p_end || q < q_end) {
            const bool mine = p < p_end && (q == q_end || A.col()[p] <= member.col()[q]);
            const bool its = q < q_end && (p == p_end || member.col()[q] <= A.col()[p]);
            if (mine) growth.push_back(std::ssize(col));
            col.push_back(mine ? A.col()[p] : member.col()[q]);
            val.push_back(its ? member.val()[q] : S(0));
            p += mine;
            q += its;
        }
        row_ptr.push_back(std::ssize(col));
    }
    return CsrMatrix<S>::from_sorted(A.rows(), A.cols(), std::move(row_ptr), std::move(col), std::move(val));
}

void open(std::ifstream& in, const std::string& file)
{
    in.open(file, std::ios::binary);
    require(in.is_open(), [&] { return fmt::format("{}: cannot be read", file); });
}

/// Row k of a file of numbers as they are in memory.
template <class T>
void read_row(std::ifstream& in, const std::string& file, Index k, std::span<T> row)
{
    const auto bytes = static_cast<std::streamoff>(row.size_bytes());
    in.clear();
    in.seekg(bytes * k);
    in.read(reinterpret_cast<char*>(row.data()), bytes);
    require(in.gcount() == bytes, [&] { return fmt::format("{}: ends within system {}", file, k); });
}

/// A number as messages show it.
template <Scalar S>
std::string number_text(S value)
{
    if constexpr (is_complex<S>) return fmt::format("{} + {}i", value.real(), value.imag());
    else return fmt::format("{}", value);
}

}  // namespace

template <Scalar S>
SequenceInput<S>::SequenceInput(SeriesFiles files, const std::string& rhs, const ReadLimit& limit)
    : files_(std::move(files)), limit_(limit)
{
    require(files_.complex() == is_complex<S>, [&] {
        return fmt::format("{}: {} values, where {} ones are expected", files_.pattern_of, type_text(!is_complex<S>),
                           type_text(is_complex<S>));
    });
    A_ = std::get<CsrMatrix<S>>(std::move(files_.pattern));
    if (files_.files.empty()) open(values_, files_.values);
    if (!files_.sides.empty()) open(right_sides_, files_.sides);
    row_.resize(files_.line_order.size());
    choose_rhs(rhs);
    b_.resize(static_cast<std::size_t>(A_.rows()));
}

template <Scalar S>
SequenceFacts SequenceInput<S>::facts() const
{
    return {.name = name(),
            .rhs = rhs_,
            .systems = systems(),
            .n = A_.rows(),
            .nnz = A_.nnz(),
            .complex = is_complex<S>,
            .frequencies = ""};
}

template <Scalar S>
void SequenceInput<S>::choose_rhs(const std::string& rhs)
{
    rhs_ = rhs == "auto" && !files_.brings_rhs ? "A1" : rhs;
    if (rhs_ == "auto") return;
    std::error_code unknown;
    if (rhs_ != "-" && !fs::exists(rhs_, unknown)) {
        if (rhs_ != "A1") load_rhs<S>(rhs_, A_, name());  // refuses what is no right-hand side
        return;
    }
    const auto columns = [&](const MatrixMarketHeader& header) {
        require(header.cols == 1 || header.cols == systems(), [&] {
            return fmt::format("{}: {} columns; expected 1, or one for each of {} systems", rhs_, header.cols,
                               systems());
        });
    };
    columns_ = read_sides<S>(rhs_, A_.rows(), limit_, columns, rhs_remark_);
}

template <Scalar S>
std::string SequenceInput<S>::label(Index k) const
{
    if (files_.files.empty()) return fmt::format("{}", k);
    const SystemFiles& files = files_.files[static_cast<std::size_t>(k)];
    return fs::path(files_.one_matrix ? files.rhs : files.matrix).filename().string();
}

template <Scalar S>
std::vector<std::string> SequenceInput<S>::remarks() const
{
    std::vector<std::string> all;
    if (files_.one_matrix)
        all.push_back(fmt::format("{} serves all {} right-hand sides", files_.files.front().matrix, systems()));
    for (const std::string& one : {pattern_remark_, rhs_remark_})
        if (!one.empty()) all.push_back(one);
    return all;
}

template <Scalar S>
void SequenceInput<S>::read(Index k)
{
    require(k >= 0 && k < systems(), [&] { return fmt::format("system {} of {}", k, systems()); });
    if (k == there_) return;
    there_ = -1;
    if (files_.files.empty()) read_values(k);
    else read_matrix_file(k);
    read_rhs(k);
    there_ = k;
}

template <Scalar S>
void SequenceInput<S>::read_values(Index k)
{
    const auto& order = files_.line_order;
    const auto  val = A_.val();
    read_row(values_, files_.values, k, order.empty() ? val : std::span<S>(row_));
    for (std::size_t line = 0; line < order.size(); ++line) val[order[line]] = row_[line];

    const auto bad = std::ranges::find_if(val, [](S v) { return !is_finite(v); });
    if (bad == val.end()) return;
    const auto p = bad - val.begin();
    const auto row = std::ranges::upper_bound(A_.row_ptr(), p) - A_.row_ptr().begin();
    throw InvalidInput(fmt::format("{}: system {}: the value at row {}, column {} (counted from 1) is {}",
                                   files_.values, k, row, A_.col()[p] + 1, number_text(*bad)));
}

template <Scalar S>
void SequenceInput<S>::read_matrix_file(Index k)
{
    const std::string& file = files_.files[static_cast<std::size_t>(k)].matrix;
    if (file == matrix_there_) return;
    matrix_there_.clear();
    const auto fitting = [&](const MatrixMarketHeader& header) {
        require(header.complex == is_complex<S>, [&] {
            return fmt::format("{}: {} values, but those of {} are {}; a series has values of one type", file,
                               type_text(header.complex), files_.pattern_of, type_text(is_complex<S>));
        });
        require(header.rows == A_.rows() && header.cols == A_.cols(), [&] {
            return fmt::format("{}: {} × {}, but {} is {} × {}", file, header.rows, header.cols, files_.pattern_of,
                               A_.rows(), A_.cols());
        });
    };
    const auto any = read_any_matrix(file, {.accept = fitting, .stop = limit_.of(file)});
    take_member(std::get<CsrMatrix<S>>(any), file);
    matrix_there_ = file;
}

template <Scalar S>
void SequenceInput<S>::take_member(const CsrView<S>& member, const std::string& file)
{
    const std::string difference = difference_text<S>(A_, member);
    if (difference.empty()) {
        std::ranges::copy(member.val(), A_.val().begin());  // in place: others look at these arrays
        return;
    }
    if (pattern_remark_.empty())
        pattern_remark_ = fmt::format(
            "{}: another pattern than {}: {}; each system is taken with the entries of all "
            "before it, those it lacks as 0",
            file, files_.pattern_of, difference);
    std::vector<Offset> growth;
    CsrMatrix<S>        all = united<S>(A_, member, growth);
    if (all.nnz() == A_.nnz()) {
        std::ranges::copy(all.val(), A_.val().begin());
        return;
    }
    A_ = std::move(all);
    if (growth_.empty()) growth_ = std::move(growth);
    else
        for (Offset& p : growth_) p = growth[p];
}

/// From rhs.f64 or rhs.c128.
template <Scalar S>
void SequenceInput<S>::read_side(Index k)
{
    if (is_complex<S> && !files_.complex_sides) {
        std::vector<double> real(b_.size());
        read_row(right_sides_, files_.sides, k, std::span<double>(real));
        std::ranges::copy(real, b_.begin());
    } else read_row(right_sides_, files_.sides, k, std::span<S>(b_));
    const auto bad = std::ranges::find_if(b_, [](S v) { return !is_finite(v); });
    require(bad == b_.end(), [&] {
        return fmt::format("{}: system {}: the value of row {} (counted from 1) is {}", files_.sides, k,
                           bad - b_.begin() + 1, number_text(*bad));
    });
}

template <Scalar S>
void SequenceInput<S>::read_rhs(Index k)
{
    if (columns_.rows() > 0) {
        const Index column = columns_.cols() == 1 ? 0 : k;
        for (Index i = 0; i < columns_.rows(); ++i) b_[static_cast<std::size_t>(i)] = columns_.at(i, column);
    } else if (rhs_.starts_with("random:")) {
        const auto seed = static_cast<std::uint64_t>(std::stoll(rhs_.substr(7))) + static_cast<std::uint64_t>(k);
        b_ = load_rhs<S>(fmt::format("random:{}", static_cast<std::int64_t>(seed)), A_, name());
    } else if (rhs_ != "auto") {
        b_ = load_rhs<S>(rhs_, A_, fmt::format("{}: system {}", name(), label(k)));
    } else if (!files_.files.empty()) {
        const auto& pair = files_.files[static_cast<std::size_t>(k)];
        std::string said;
        b_ = load_rhs<S>(pair.rhs, A_, pair.matrix, limit_, RhsColumns::one, said);
        if (rhs_remark_.empty()) rhs_remark_ = std::move(said);
    } else read_side(k);
}

AnySequence load_any_sequence(const std::vector<std::string>& paths, const std::string& rhs, const ReadLimit& limit)
{
    SeriesFiles files(paths, limit);
    if (files.complex()) return SequenceInput<std::complex<double>>(std::move(files), rhs, limit);
    return SequenceInput<double>(std::move(files), rhs, limit);
}

#define ILUX_INSTANTIATE(S) template class SequenceInput<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

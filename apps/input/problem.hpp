#pragma once
// The system to solve, from its names on the command line.

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ilux/apps/input/options.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/matrix/any_matrix.hpp"
#include "ilux/base/io/matrix_market.hpp"

namespace ilux::app {

/// What reports tell of a system.
struct ProblemFacts {
    std::string name;   ///< as given
    std::string about;  ///< one line on a gallery problem: what it is, or what it stands in for
    Index       rows = 0;
    Offset      nnz = 0;
    std::size_t matrix_bytes = 0;
    bool        complex = false;
    bool        symmetric = false, pattern_symmetric = false, positive_diagonal = false;  ///< symmetric: A = Aᵀ
    bool        hermitian = false;     ///< A = Aᴴ, which of real values is symmetric
    std::string rhs;                   ///< as given
    Index       columns = 1;           ///< right-hand sides
    std::string rhs_remark;            ///< what there is to say of its file, or ""
    bool        rhs_is_noise = false;  ///< A·1 cancels to rounding errors, so that b says nothing
    double      seconds_read = 0;

    Index n() const { return rows; }
};

template <Scalar S = double>
struct Problem : ProblemFacts {
    CsrMatrix<S>   A;      ///< n×n
    std::vector<S> b;      ///< n for each column, one after another
    std::vector<S> exact;  ///< n where x is known, otherwise empty

    /// A, with the facts about it.
    void take(CsrMatrix<S> matrix);
};
using AnyProblem = std::variant<Problem<double>, Problem<std::complex<double>>>;

/// A matrix by name: a file of any kind that matrix_file.hpp reads, - for standard input, or
/// gallery:NAME[:key=value,...].
struct NamedMatrix {
    AnyMatrix   A;
    std::string about;  ///< from the gallery, otherwise empty
};
/// @param options  of reading a file
/// @throws InvalidInput naming the file, line and value; InvalidOption for a gallery problem or key that does not exist
NamedMatrix load_any_matrix(const std::string& name, const ReadOptions& options = {});
/// Loads a matrix of real values. @throws InvalidInput also when the file has complex ones, InvalidOption when the
/// gallery problem does
CsrMatrix<double> load_real_matrix(const std::string& name, const ReadOptions& options = {});

/// What ends the reading of files.
struct ReadLimit {
    double    seconds = 0;  ///< for each file; 0: no limit
    StopToken stop = {};

    /// For a file that is read from now on.
    StopToken of(const std::string& file) const;
};

/// The right-hand sides of a file, n×k. A row of n values, as NumPy and MATLAB make them, is taken as a column.
/// @param accept  shown the header, which has such a row as a column
/// @param remark  out: says so of a row, otherwise left alone
/// @throws InvalidInput unless there are n rows; what accept throws; OutOfTime, Cancelled
template <Scalar S>
CsrMatrix<S> read_sides(const std::string& file, Index n, const ReadLimit& limit,
                        const std::function<void(const MatrixMarketHeader&)>& accept, std::string& remark);

/// How many right-hand sides a file may hold.
enum class RhsColumns { one, any };

/// b by its name: A1, ones, random:SEED or a file of one column, or several, one after another. @param name  of A, for
/// messages
/// @param remark  out: what there is to say of the file, otherwise left alone
/// @throws InvalidInput when b has another length than A has rows, or A·1 overflows; InvalidOption when rhs is none of
/// these;
///         OutOfTime, Cancelled
template <Scalar S>
std::vector<S> load_rhs(const std::string& rhs, const CsrView<S>& A, const std::string& name, const ReadLimit& limit,
                        RhsColumns columns, std::string& remark);
template <Scalar S>
std::vector<S> load_rhs(const std::string& rhs, const CsrView<S>& A, const std::string& name)
{
    std::string of_no_file;
    return load_rhs<S>(rhs, A, name, {}, RhsColumns::one, of_no_file);
}

/// Reads the file that options.near_null names, where it names one, into options.precond.mlilu.near_null.
/// @param n  rows of the system's matrix
/// @throws InvalidInput where it does not have n rows, or all its values are 0; InvalidOption for standard
///         input; OutOfTime, Cancelled
void load_near_null(SolveOptions& options, Index n, const ReadLimit& limit = {});

/// The matrix, square, with its right-hand side: A1, ones, random:SEED or a file. Where A is complex, so is b, which a
/// file may hold as real numbers.
/// @throws as load_any_matrix; InvalidInput also when A is not square, b has another length, or b is complex and A is
/// not;
///         InvalidOption when rhs is none of these; OutOfTime, Cancelled
/// @param on_size  told A's entries as soon as they are known, those of a file before they are read; of a symmetric one
/// those stored
AnyProblem load_any_problem(const std::string& matrix, const std::string& rhs, const ReadLimit& limit = {},
                            RhsColumns columns = RhsColumns::one, const std::function<void(Offset)>& on_size = {});
/// Loads a problem of real values. @throws InvalidInput also when the file has complex ones, InvalidOption when the
/// gallery problem does
Problem<> load_problem(const std::string& matrix, const std::string& rhs, const ReadLimit& limit = {});

/// ‖x − x*‖_∞ / ‖x*‖_∞, NaN when x* is not known.
template <Scalar S>
double forward_error(const Problem<S>& problem, const std::vector<NotDeduced<S>>& x);

}  // namespace ilux::app

#pragma once
// The system to solve, from its names on the command line.

#include <string>
#include <string_view>
#include <vector>

#include "ilux/apps/input/options.hpp"
#include "ilux/base/csr.hpp"
#include "ilux/base/io/matrix_market.hpp"

namespace ilux::app {

struct Problem {
    std::string         name;   ///< as given
    std::string         about;  ///< one line on a gallery problem: what it is, or what it stands in for
    CsrMatrix<double>   A;      ///< n×n
    bool                symmetric = false, pattern_symmetric = false, positive_diagonal = false;
    std::string         rhs;                   ///< as given
    std::vector<double> b;                     ///< n
    std::vector<double> exact;                 ///< n where x is known, otherwise empty
    bool                rhs_is_noise = false;  ///< A·1 cancels to rounding errors, so that b says nothing
    double              seconds_read = 0;

    Index n() const { return A.rows(); }
};

/// A matrix by name: a Matrix Market file (.mtx, .mtx.gz), - for standard input, or gallery:NAME[:key=value,...].
struct NamedMatrix {
    CsrMatrix<double> A;
    std::string       about;  ///< from the gallery, otherwise empty
};
/// @param options  of reading a file
/// @throws InvalidInput naming the file, line and value; InvalidOption for a gallery problem or key that does not exist
NamedMatrix load_matrix(const std::string& name, const ReadOptions& options = {});

/// What ends the reading of files.
struct ReadLimit {
    double    seconds = 0;  ///< for each file; 0: no limit
    StopToken stop = {};

    /// For a file that is read from now on.
    StopToken of(const std::string& file) const;
};

/// b by its name: A1, ones, random:SEED or a file of one column. @param name  of A, for messages
/// @throws InvalidInput when b has another length than A has rows, or A·1 overflows; InvalidOption when rhs is none of these;
///         OutOfTime, Cancelled
std::vector<double> load_rhs(const std::string& rhs, const CsrView<double>& A, const std::string& name,
                             const ReadLimit& limit = {});

/// Reads the file that options.near_null names, where it names one, into options.precond.mlilu.near_null.
/// @param n  rows of the system's matrix
/// @throws InvalidInput where it does not have n rows, or all values of some unknown are 0; InvalidOption for standard
///         input; OutOfTime, Cancelled
void load_near_null(SolveOptions& options, Index n, const ReadLimit& limit = {});

/// The matrix, square, with its right-hand side: A1, ones, random:SEED or a file.
/// @throws as load_matrix; InvalidInput also when A is not square or b has another length;
///         InvalidOption when rhs is none of these; OutOfTime, Cancelled
Problem load_problem(const std::string& matrix, const std::string& rhs, const ReadLimit& limit = {});

/// ‖x − x*‖_∞ / ‖x*‖_∞, NaN when x* is not known.
double forward_error(const Problem& problem, const std::vector<double>& x);

}  // namespace ilux::app

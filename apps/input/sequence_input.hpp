#pragma once
// A series of systems of one pattern, real or complex, read one by one: a folder of pattern.mtx and raw values, or
// numbered Matrix Market files.

#include <complex>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ilux/apps/input/problem.hpp"
#include "ilux/apps/input/series_files.hpp"
#include "ilux/base/matrix/csr.hpp"

namespace ilux::app {

/// What reports tell of a series.
struct SequenceFacts {
    std::string name;  ///< the folder, the first file, or G and C, as given
    std::string rhs;   ///< auto only where the series brings them along
    Index       systems = 0, n = 0;
    Offset      nnz = 0;
    bool        complex = false;
    std::string frequencies;  ///< of a sweep, in words; otherwise empty
};

/// Holds one system at a time; the others stay in their files.
///
/// A folder holds either `pattern.mtx` (general), the values (systems × nnz, one row a system, in the order of the
/// pattern's lines), right-hand sides (systems × n; may be absent) and `meta.json` (n, nnz, k; may be absent); or
/// A_000.mtx, A_001.mtx, …
/// (.gz too), taken by number. Real numbers are little-endian doubles in `values.f64` and `rhs.f64`, complex ones two
/// of them, re and im, in `values.c128` and `rhs.c128`; "complex" in meta.json says which values count. The right-hand
/// side of a file A… is b… beside it, by number too: b_001.mtx is A1.mtx's. series_names.hpp has other names, and one
/// matrix for several right-hand sides. The type of the values is that of the first file that can be used. The pattern
/// is the union of those read so far: programs that write matrices leave out entries that happen to be 0. Right-hand
/// sides of complex matrices may be real.
template <Scalar S = double>
class SequenceInput {
public:
    /// @param paths  one folder, or Matrix Market files in the order in which they are to be solved
    /// @param rhs    auto (what the series brings along, else A·1), A1, ones, random:SEED (SEED + k for system k), or a
    /// file
    ///               of one column for all systems or of one for each
    /// @throws InvalidInput naming the file for anything missing, of a wrong size, of the other type of values or
    /// contradicting
    ///         another file, as far as that shows before the first system is read, and where no file can be used;
    ///         InvalidOption when rhs is none of these; OutOfTime, Cancelled
    explicit SequenceInput(const std::vector<std::string>& paths, const std::string& rhs = "auto",
                           const ReadLimit& limit = {})
        : SequenceInput(SeriesFiles(paths, limit), rhs, limit)
    {}
    SequenceInput(SeriesFiles files, const std::string& rhs, const ReadLimit& limit);

    using Value = S;
    SequenceFacts      facts() const;
    const std::string& name() const { return files_.name; }  ///< the folder or the first file, as given
    const std::string& rhs() const { return rhs_; }          ///< auto only where the series brings them along
    Index              systems() const { return files_.systems; }
    std::string        label(Index k) const;  ///< of system k, counted from 0: A_003.mtx, or its number

    /// Makes system k the one that A() and b() give. In any order; costs nothing for the one that is there already.
    /// @throws InvalidInput naming file, row and column of a NaN or Inf, or the file whose sizes or type of values are
    /// others;
    ///         OutOfTime, Cancelled
    void read(Index k);
    /// Where the entries of the former pattern are in that of A(), if read() has enlarged it since this was called
    /// last; empty where not.
    std::vector<Offset>      take_growth() { return std::exchange(growth_, {}); }
    std::vector<std::string> remarks() const;  ///< on what was read, of each kind once

    /// n×n. Before the first read the values mean nothing. A copy of the view serves until the pattern grows: systems
    /// are read into the same arrays.
    const CsrView<S>&  A() const { return A_; }
    std::span<const S> b() const { return b_; }  ///< n

private:
    void choose_rhs(const std::string& rhs);
    void read_values(Index k);
    void read_matrix_file(Index k);
    void take_member(const CsrView<S>& member, const std::string& file);
    void read_rhs(Index k);
    void read_side(Index k);

    SeriesFiles    files_;
    std::string    rhs_;
    Index          there_ = -1;  // the system in A_ and b_
    CsrMatrix<S>   A_;
    std::vector<S> b_;
    std::ifstream  values_, right_sides_;
    std::vector<S> row_;      // values of one system in the order of the lines
    CsrMatrix<S>   columns_;  // the file of --rhs: n × 1 or n × systems
    ReadLimit      limit_;
    std::string    matrix_there_;  // the file whose values A_ has

    std::vector<Offset> growth_;
    std::string         pattern_remark_, rhs_remark_;
};
using AnySequence = std::variant<SequenceInput<double>, SequenceInput<std::complex<double>>>;

/// A series of the values that it has. @throws as the constructors
AnySequence load_any_sequence(const std::vector<std::string>& paths, const std::string& rhs = "auto",
                              const ReadLimit& limit = {});

}  // namespace ilux::app

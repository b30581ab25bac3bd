#pragma once
// A series of systems of one pattern, read one by one: a folder of pattern.mtx, values.f64, rhs.f64 and meta.json, or
// numbered Matrix Market files.

#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "ilux/apps/input/problem.hpp"
#include "ilux/base/csr.hpp"

namespace ilux::app {

/// Whether a folder looks like a series: pattern.mtx, or numbered files A….
bool is_series(const std::string& folder);

/// Holds one system at a time; the others stay in their files.
///
/// A folder holds either `pattern.mtx` (general), `values.f64` (systems × nnz little-endian doubles, one row a system, in
/// the order of the pattern's lines), `rhs.f64` (systems × n; may be absent) and `meta.json` (n, nnz, k; may be absent);
/// or A_000.mtx, A_001.mtx, … (.gz too), taken by number. The right-hand side of a file A… is b… beside it, by number too:
/// b_001.mtx is A1.mtx's. The pattern is that of the first file that can be used.
class SequenceInput {
public:
    /// @param paths  one folder, or Matrix Market files in the order in which they are to be solved
    /// @param rhs    auto (what the series brings along, else A·1), A1, ones, random:SEED (SEED + k for system k), or a file
    ///               of one column for all systems or of one for each
    /// @throws InvalidInput naming the file for anything missing, of a wrong size or contradicting another file, as far as
    ///         that shows before the first system is read, and where no file can be used; InvalidOption when rhs is none of these; OutOfTime,
    ///         Cancelled
    explicit SequenceInput(const std::vector<std::string>& paths, const std::string& rhs = "auto",
                           const ReadLimit& limit = {});

    const std::string& name() const { return name_; }  ///< the folder or the first file, as given
    const std::string& rhs() const { return rhs_; }    ///< auto only where the series brings them along
    Index              systems() const { return systems_; }
    std::string        label(Index k) const;  ///< of system k, counted from 0: A_003.mtx, or its number

    /// Makes system k the one that A() and b() give. In any order; costs nothing for the one that is there already.
    /// @throws InvalidInput naming file, row and column of a NaN or Inf, or the file whose pattern is another; OutOfTime, Cancelled
    void read(Index k);

    /// n×n, the same pattern for every system. Before the first read the values mean nothing. A copy of the view serves all
    /// systems: they are read into the same arrays, unless nothing was read yet.
    const CsrView<double>&  A() const { return A_; }
    std::span<const double> b() const { return b_; }  ///< n

private:
    struct Files {
        std::string matrix, rhs;  ///< rhs "": none
    };
    void open_folder();
    void read_meta(const std::string& file);
    void open_files(const std::vector<std::string>& matrices);
    void take_pattern();
    void choose_rhs(const std::string& rhs);
    void read_row(std::ifstream& in, const std::string& file, Index k, std::span<double> row) const;
    void read_values(Index k);
    void read_matrix_file(Index k);
    void read_rhs(Index k);

    std::string         name_, rhs_;
    Index               systems_ = 0, there_ = -1;  // there_: the system in A_ and b_
    CsrMatrix<double>   A_;
    std::vector<double> b_;
    std::vector<Files>  files_;       // empty for a folder of values.f64
    std::string         pattern_of_;  // the one that the pattern is of
    std::vector<Offset> order_;       // line of pattern.mtx → position in A_; empty: the same
    std::ifstream       values_, right_sides_;
    std::vector<double> row_;      // values of one system in the order of the lines
    CsrMatrix<double>   columns_;  // the file of --rhs: n × 1 or n × systems
    bool                brings_rhs_ = false;
    ReadLimit           limit_;
};

}  // namespace ilux::app

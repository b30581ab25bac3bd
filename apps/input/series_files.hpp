#pragma once
// Which files a series is made of, and what is known before any of its values is looked at.

#include <string>
#include <vector>

#include "ilux/apps/input/series_names.hpp"

namespace ilux::app {

/// Whether a folder looks like a series: pattern.mtx, or numbered files A….
bool is_series(const std::string& folder);

/// A folder with pattern.mtx, or a matrix file for each system, as SequenceInput describes them.
struct SeriesFiles {
    /// @throws as the constructors of SequenceInput for what is missing, of a wrong size or contradicting another file
    explicit SeriesFiles(const std::vector<std::string>& paths, const ReadLimit& limit = {});

    bool complex() const { return pattern.index() == 1; }

    std::string              name;         ///< the folder or the first file, as given
    Index                    systems = 0;  ///< at least 1
    std::vector<SystemFiles> files;        ///< empty for a folder with pattern.mtx
    AnyMatrix                pattern;      ///< n×n, of the type of the values; these mean nothing
    std::string              pattern_of;   ///< the file that the pattern is of
    std::vector<Offset>      line_order;   ///< line of pattern.mtx → position in the pattern; empty: the same
    std::string              values;       ///< values.f64 or values.c128
    std::string              sides;        ///< rhs.f64 or rhs.c128, "": none
    bool                     complex_sides = false;
    bool                     brings_rhs = false;  ///< every system has a right-hand side of its own
    bool                     one_matrix = false;  ///< which serves several right-hand sides

private:
    void open_folder(const ReadLimit& limit);
    template <Scalar S>
    void read_pattern(const ReadLimit& limit);
    void find_sides();
    void check_meta() const;
    void open_files(std::vector<SystemFiles> systems_there, const ReadLimit& limit);
    void take_pattern(const ReadLimit& limit);
};

}  // namespace ilux::app

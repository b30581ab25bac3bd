#pragma once
// Which files are the systems of a series, by their names, and by their sizes where names do not say.

#include <string>
#include <vector>

#include "ilux/apps/input/problem.hpp"

namespace ilux::app {

struct SystemFiles {
    std::string matrix, rhs;  ///< rhs "": none
};

/// Whether a folder has numbered files A….
bool has_numbered_matrices(const std::string& folder);

/// The systems of a folder, by number. Files A_000.mtx, A1.mtx.gz, A_002.npz and the like are its matrices, and b… of
/// the same number the right-hand sides. Without such files: all names are sorted into families that differ in their
/// last number alone (study_Jacobian_07.mtx, mat_t=0.001.mtx); the one whose files are square has the matrices, one of
/// vectors the right-hand sides. A single matrix serves all right-hand sides there are.
/// @throws InvalidInput when there are no matrices, two of one number, several such families, or a right-hand side
/// without a matrix
std::vector<SystemFiles> systems_in(const std::string& folder, const ReadLimit& limit);

/// The systems of files in the order given. `dir/*.mtx` names the right-hand sides b… as well; where none are named,
/// those beside the matrices A… are taken.
/// @throws InvalidInput for a folder, a missing file, or a numbered b… that belongs to none of the numbered matrices
std::vector<SystemFiles> systems_of(const std::vector<std::string>& paths);

}  // namespace ilux::app

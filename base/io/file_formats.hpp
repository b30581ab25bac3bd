#pragma once
// A reader for each kind of file that is no Matrix Market file; for base/io alone. Each is given a whole file in
// memory, known by its first bytes, and shows ReadOptions::accept the sizes before it takes memory for them. Whatever
// the bytes are, it returns a matrix or throws InvalidInput "NAME: …", or what accept and the token throw.

#include <string_view>

#include "ilux/base/matrix/any_matrix.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/base/io/npy.hpp"

namespace ilux::detail {

/// What scipy.sparse.save_npz writes: csr, csc and coo; or an archive of numpy.savez that holds one array alone.
AnyMatrix parse_npz(std::string_view bytes, std::string_view name, const ReadOptions& options);

/// What MatView and VecView of PETSc write in binary, one object or several behind one another. Whether numbers are
/// complex follows from the length of the file. As the matrix counts the first one, sparse or dense. As right-hand
/// sides: the first vector where there are matrices too, else all vectors, a column each; where there is no vector, the
/// matrix.
AnyMatrix parse_petsc(std::string_view bytes, std::string_view name, const ReadOptions& options);
bool      is_petsc(std::string_view bytes);

/// Harwell-Boeing and Rutherford-Boeing files of assembled matrices; as right-hand sides those that a Harwell-Boeing
/// file brings along.
AnyMatrix parse_harwell_boeing(std::string_view bytes, std::string_view name, const ReadOptions& options);
bool      is_harwell_boeing(std::string_view bytes);

/// MATLAB's files of level 4 and 5, and those of 7.3 where the library HDF5 is. As the matrix counts the variable A, A
/// of a structure Problem, or the only sparse one; as right-hand sides b, b of Problem, or the only dense one.
AnyMatrix parse_matlab(std::string_view bytes, std::string_view name, const ReadOptions& options);
bool      is_matlab(std::string_view bytes);

}  // namespace ilux::detail

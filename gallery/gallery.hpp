#pragma once
// Model problems with known properties, by name (`gallery:poisson2d:n=64` on the command line) or as typed functions
// (pde.hpp, systems.hpp, circuit.hpp, waves.hpp, special.hpp, stand_ins.hpp). Every matrix is square, finite and the
// same on every run. Most have real values; those whose Traits say so have complex ones.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/matrix/any_matrix.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/gallery/circuit.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/gallery/special.hpp"
#include "ilux/gallery/stand_ins.hpp"
#include "ilux/gallery/systems.hpp"
#include "ilux/gallery/waves.hpp"

/// Model problems with known properties.
namespace ilux::gallery {

/// What holds for the default parameters and any size; Problem::properties says which parameters change it.
struct Traits {
    bool complex = false;            ///< values are std::complex<double>, otherwise double
    bool symmetric = false;          ///< A = Aᵀ, bitwise; no complex problem is Hermitian
    bool pattern_symmetric = false;  ///< of stored entries
    bool positive_definite = false;  ///< symmetric, too
    bool m_matrix = false;           ///< a_ij ≤ 0 off the diagonal, A⁻¹ ≥ 0
    bool dominant = false;           ///< |a_ii| ≥ Σ_j≠i |a_ij| in every row
    bool lower_triangular = false;
    bool zero_diagonal = false;  ///< some a_ii is zero or not stored
    bool singular = false;
    bool structurally_singular = false;  ///< no transversal without a missing entry
};

/// A parameter of a model problem.
struct Parameter {
    std::string name, default_text, help;
};

/// A model problem as the table of them describes it.
struct Problem {
    std::string            name;
    std::string            summary;     ///< the equation or network, one line
    std::string            properties;  ///< the traits in words, then what else is known
    Traits                 traits;
    bool                   stand_in = false;  ///< imitates a published matrix; every display must say so
    std::vector<Parameter> parameters;
    /// From "n=64,eps=0.1" or "" (all defaults). @throws InvalidOption
    AnyMatrix (*build)(std::string_view assignments) = nullptr;
};

/// All problems, in the order to list them.
std::span<const Problem> problems();

/// @throws InvalidOption with the nearest name when there is no such problem
const Problem& find_problem(std::string_view name);

/// From "poisson2d:n=64": a name, then optionally a colon and key=value pairs separated by commas.
/// @throws InvalidOption for unknown names, bad values, and sizes whose rows do not fit an Index
AnyMatrix build_any(std::string_view spec);
/// Builds a problem with real values. @throws InvalidOption also for one with complex values, before it is built
CsrMatrix<double> build(std::string_view spec);

/// n values uniform on [−1, 1), or with both parts so: the real part is the real vector of that seed.
template <Scalar S = double>
std::vector<S> random_vector(Index n, std::int64_t seed = 1);

}  // namespace ilux::gallery

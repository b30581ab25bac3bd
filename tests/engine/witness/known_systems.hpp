#pragma once
// Systems of whole numbers and powers of two: b = A x holds to the last bit, and so does A t = 0 where A is singular.

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux::test {

/// A of whole numbers, and what is known of it.
struct WholeMatrix {
    EntryList           entries = {};
    Index               n = 0;
    std::vector<double> null = {};  ///< whole numbers t with A t = 0; empty: A is regular
    bool                symmetric = false, semidefinite = false;

    /// A + g I, or with the first unknown grounded only. Zeros are entries, so that patterns are the same.
    WholeMatrix grounded(double g, bool everywhere = true) const
    {
        WholeMatrix other = *this;
        for (Index i = 0; i < n; ++i) other.entries.add(i, i, everywhere || i == 0 ? g : 0);
        if (g != 0) other.null.clear();
        return other;
    }
};

/// D₁ A D₂ with an x and its b.
struct KnownSystem {
    CsrMatrix<double>   A;
    std::vector<double> x = {}, b = {}, null = {};
    bool                symmetric = false, semidefinite = false;

    bool singular() const { return !null.empty(); }
    /// Whether x may move along the null vector in an unknown above 1e-12 of the largest.
    bool leaves_open_what_counts() const
    {
        double largest = 0;
        for (const double one : x) largest = std::max(largest, std::abs(one));
        for (std::size_t i = 0; i < null.size(); ++i)
            if (null[i] != 0 && std::abs(x[i]) > 1e-12 * largest) return true;
        return false;
    }
};

/// Exponents of D₁ and D₂.
enum class Units { plain, both_sides, rows_and_columns, far_rows, far_columns };

inline int drawn_exponent(Random& random, int most) { return static_cast<int>(random.below(2 * most + 1)) - most; }

/// x of whole numbers of 1 to 9, in the units of the columns.
KnownSystem known_system(const WholeMatrix& whole, Units units, Random& random);

/// A t by the test's own sums; of whole numbers and powers of two these are exact.
std::vector<double> plain_product(const CsrMatrix<double>& A, std::span<const double> t);

/// max_i |x − y|_i / max(|x|, |y|)_i over the unknowns above 1e-12 of the largest.
double worst_share(std::span<const double> x, std::span<const double> y);

/// A conductance g between i and j.
void link(EntryList& entries, Index i, Index j, double g);

inline double drawn_conductance(Random& random) { return 1 + random.below(4); }

WholeMatrix neumann_chain(Index n, Random& random);

/// k × k nodes, k² ≤ n.
WholeMatrix neumann_grid(Index n, Random& random);

/// Two to four nets that nothing connects, in any numbering; another constant in each is taken to 0.
WholeMatrix floating_nets(Index n, Random& random);

/// Velocities of a chain, and pressures beside them whose constant is free.
WholeMatrix free_pressure(Index n, Random& random);

/// k × k nodes that bars connect, at whole numbers: two translations and a rotation are free.
/// @param right, up, turn  of the null vector
WholeMatrix floating_truss(Index n, Random& random, double right, double up, double turn);

WholeMatrix floating_mesh(Index n, Random& random);

/// Zero sums of rows only.
WholeMatrix upwind(Index n, Random& random);

/// Central differences of an odd number of unknowns.
WholeMatrix skew_chain(Index n, Random&);

/// The last column is a sum of multiples of three others.
Dense with_dependent_column(Index rows, Index n, double diagonal, Random& random, std::vector<double>& null);

EntryList entries_of(const Dense& A);

WholeMatrix dependent_column(Index n, Random& random);

WholeMatrix normal_equations(Index n, Random& random);

/// Kinds of singular matrices; each is regular, and far from singular, with 64 on the diagonal besides.
struct SingularKind {
    const char* name;
    WholeMatrix (*draw)(Index n, Random& random);  ///< about n unknowns
};
const std::vector<SingularKind>& singular_kinds();

/// The first unknown of a Neumann grid is grounded by 1.
inline WholeMatrix grounded_once(Index n, Random& random) { return neumann_grid(n, random).grounded(1, false); }
/// Without the last pressure.
WholeMatrix pinned_pressure(Index n, Random& random);
WholeMatrix held_mesh(Index n, Random& random);
WholeMatrix even_skew_chain(Index n, Random&);
/// A dominant matrix whose rows are elsewhere.
WholeMatrix shifted_rows(Index n, Random& random);
template <WholeMatrix (*draw)(Index, Random&)>
WholeMatrix with_diagonal(Index n, Random& random)
{
    return draw(n, random).grounded(64);
}

using RegularKind = SingularKind;
const std::vector<RegularKind>& regular_kinds();

/// Says what is claimed of x.
inline bool is_silent(const SolverReport& report) { return report.converged() && report.result().warning.empty(); }

}  // namespace ilux::test

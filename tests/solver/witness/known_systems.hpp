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
inline KnownSystem known_system(const WholeMatrix& whole, Units units, Random& random)
{
    constexpr int near = 3, least_far = 40, most_far = 130;
    const auto    far = [&] {
        const int size = least_far + static_cast<int>(random.below(most_far - least_far + 1));
        return random.below(2) == 0 ? size : -size;
    };
    std::vector<int> row(static_cast<std::size_t>(whole.n)), col(row);
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (units == Units::both_sides || units == Units::rows_and_columns)
            row[i] = col[i] = drawn_exponent(random, near);
        if (units == Units::rows_and_columns) col[i] = drawn_exponent(random, near);
        if (units == Units::far_rows) row[i] = far();
        if (units == Units::far_columns) col[i] = far();
    }
    const auto          A = whole.entries.matrix(whole.n, whole.n);
    std::vector<double> y(row.size()), b(row.size()), x(row.size()), null(whole.null),
        val(A.val().begin(), A.val().end());
    for (double& one : y) one = (1 + random.below(9)) * (random.below(2) == 0 ? 1 : -1);
    for (Index i = 0; i < whole.n; ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            b[i] += val[p] * y[A.col()[p]];
            val[p] = std::ldexp(val[p], row[i] + col[A.col()[p]]);
        }
    for (std::size_t i = 0; i < row.size(); ++i) {
        b[i] = std::ldexp(b[i], row[i]);
        x[i] = std::ldexp(y[i], -col[i]);
        if (!null.empty()) null[i] = std::ldexp(null[i], -col[i]);
    }
    const bool symmetric = whole.symmetric && (units == Units::plain || units == Units::both_sides);
    auto       scaled = CsrMatrix<double>::from_sorted(whole.n, whole.n, {A.row_ptr().begin(), A.row_ptr().end()},
                                                       {A.col().begin(), A.col().end()}, val);
    return {.A = std::move(scaled),
            .x = x,
            .b = b,
            .null = null,
            .symmetric = symmetric,
            .semidefinite = symmetric && whole.semidefinite};
}

/// A t by the test's own sums; of whole numbers and powers of two these are exact.
inline std::vector<double> plain_product(const CsrMatrix<double>& A, std::span<const double> t)
{
    std::vector<double> y(t.size());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) y[i] += A.val()[p] * t[A.col()[p]];
    return y;
}

/// max_i |x − y|_i / max(|x|, |y|)_i over the unknowns above 1e-12 of the largest.
inline double worst_share(std::span<const double> x, std::span<const double> y)
{
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) largest = std::max({largest, std::abs(x[i]), std::abs(y[i])});
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double size = std::max(std::abs(x[i]), std::abs(y[i]));
        if (size > 1e-12 * largest) worst = std::max(worst, std::abs(x[i] - y[i]) / size);
        if (!std::isfinite(x[i])) return infinity;
    }
    return worst;
}

/// A conductance g between i and j.
inline void link(EntryList& entries, Index i, Index j, double g)
{
    entries.add(i, i, g);
    entries.add(j, j, g);
    entries.add(i, j, -g);
    entries.add(j, i, -g);
}

inline double drawn_conductance(Random& random) { return 1 + random.below(4); }

inline WholeMatrix neumann_chain(Index n, Random& random)
{
    WholeMatrix A{.n = n, .null = std::vector<double>(n, 1.), .symmetric = true, .semidefinite = true};
    for (Index i = 0; i + 1 < n; ++i) link(A.entries, i, i + 1, drawn_conductance(random));
    return A;
}

/// k × k nodes, k² ≤ n.
inline WholeMatrix neumann_grid(Index n, Random& random)
{
    const auto  k = static_cast<Index>(std::sqrt(n));
    WholeMatrix A{.n = k * k, .null = std::vector<double>(k * k, 1.), .symmetric = true, .semidefinite = true};
    for (Index i = 0; i < k; ++i)
        for (Index j = 0; j < k; ++j) {
            if (j + 1 < k) link(A.entries, i * k + j, i * k + j + 1, drawn_conductance(random));
            if (i + 1 < k) link(A.entries, i * k + j, (i + 1) * k + j, drawn_conductance(random));
        }
    return A;
}

/// Two to four nets that nothing connects, in any numbering; another constant in each is taken to 0.
inline WholeMatrix floating_nets(Index n, Random& random)
{
    WholeMatrix A{.n = n, .null = std::vector<double>(n), .symmetric = true, .semidefinite = true};
    const Index parts = std::min<Index>(2 + random.below(3), n / 2);
    const auto  place = random_permutation(n, random.bits());
    for (Index i = 0; i < n; ++i) {
        A.null[place[i]] = 1 + i % parts;
        if (i >= parts) link(A.entries, place[i], place[i - parts], drawn_conductance(random));
        if (const Index j = i - parts * (1 + random.below(3)); j >= 0)
            link(A.entries, place[i], place[j], drawn_conductance(random));
    }
    return A;
}

/// Velocities of a chain, and pressures beside them whose constant is free.
inline WholeMatrix free_pressure(Index n, Random& random)
{
    const Index m = std::max<Index>(n / 2, 1), size = 2 * m + 1;  // velocities, pressures from m on
    WholeMatrix A{.n = size, .null = std::vector<double>(size), .symmetric = true};
    for (Index i = 0; i < m; ++i) {
        A.entries.add(i, i, 1 + random.below(3));
        if (i + 1 < m) link(A.entries, i, i + 1, drawn_conductance(random));
        for (const Index side : {0, 1}) {
            A.entries.add(i, m + i + side, side == 0 ? -1 : 1);
            A.entries.add(m + i + side, i, side == 0 ? -1 : 1);
        }
    }
    for (Index i = m; i < size; ++i) A.null[i] = 1;
    return A;
}

/// k × k nodes that bars connect, at whole numbers: two translations and a rotation are free.
/// @param right, up, turn  of the null vector
inline WholeMatrix floating_truss(Index n, Random& random, double right, double up, double turn)
{
    const Index k = std::max<Index>(static_cast<Index>(std::sqrt(n / 2)), 2), nodes = k * k;
    WholeMatrix A{.n = 2 * nodes, .null = std::vector<double>(2 * nodes), .symmetric = true, .semidefinite = true};
    const auto  bar = [&](Index from, Index to) {
        const double stiffness = drawn_conductance(random);
        const double d[]{static_cast<double>(to % k - from % k), static_cast<double>(to / k - from / k)};
        for (const int a : {0, 1})
            for (const int b : {0, 1}) {
                const double value = stiffness * d[a] * d[b];
                if (value == 0) continue;
                A.entries.add(2 * from + a, 2 * from + b, value);
                A.entries.add(2 * to + a, 2 * to + b, value);
                A.entries.add(2 * from + a, 2 * to + b, -value);
                A.entries.add(2 * to + a, 2 * from + b, -value);
            }
    };
    for (Index i = 0; i < nodes; ++i) {
        const bool last_x = i % k + 1 == k, last_y = i / k + 1 == k;
        if (!last_x) bar(i, i + 1);
        if (!last_y) bar(i, i + k);
        if (!last_x && !last_y) bar(i, i + k + 1), bar(i + 1, i + k);
        A.null[2 * i] = right - turn * static_cast<double>(i / k);
        A.null[2 * i + 1] = up + turn * static_cast<double>(i % k);
    }
    return A;
}

inline WholeMatrix floating_mesh(Index n, Random& random)
{
    return floating_truss(n, random, 1 + random.below(3), random.below(4), random.below(3));
}

/// Zero sums of rows only.
inline WholeMatrix upwind(Index n, Random& random)
{
    WholeMatrix A{.n = n, .null = std::vector<double>(n, 1.)};
    const auto  flow = [&](Index i, Index j, double g) {
        A.entries.add(i, i, g);
        A.entries.add(i, j, -g);
    };
    for (Index i = 0; i < n; ++i) {
        if (i > 0) flow(i, i - 1, 4 + random.below(8));
        if (i + 1 < n) flow(i, i + 1, 1 + random.below(2));
        if (const Index j = random.below(n); j != i) flow(i, j, drawn_conductance(random));
    }
    return A;
}

/// Central differences of an odd number of unknowns.
inline WholeMatrix skew_chain(Index n, Random&)
{
    const Index odd = n % 2 == 1 ? n : n + 1;
    WholeMatrix A{.n = odd, .null = std::vector<double>(odd)};
    for (Index i = 0; i < odd; ++i) {
        A.null[i] = i % 2 == 0 ? 1 : 0;
        if (i + 1 < odd) A.entries.add(i, i + 1, 1), A.entries.add(i + 1, i, -1);
    }
    return A;
}

/// The last column is a sum of multiples of three others.
inline Dense with_dependent_column(Index rows, Index n, double diagonal, Random& random, std::vector<double>& null)
{
    Dense J{rows, n, std::vector<double>(static_cast<std::size_t>(rows) * n)};
    null.assign(static_cast<std::size_t>(n), 0);
    for (Index i = 0; i < rows; ++i) {
        for (int k = 0; k < 3; ++k) J(i, random.below(n - 1)) = static_cast<double>(random.below(5)) - 2;
        if (i < n - 1) J(i, i) += diagonal;
    }
    null[n - 1] = -1;
    for (int k = 0; k < 3; ++k) {
        const Index  j = random.below(n - 1);
        const double c = 1 + random.below(3);
        null[j] += c;
        for (Index i = 0; i < rows; ++i) J(i, n - 1) += c * J(i, j);
    }
    return J;
}

inline EntryList entries_of(const Dense& A)
{
    EntryList entries;
    for (Index i = 0; i < A.rows; ++i)
        for (Index j = 0; j < A.cols; ++j)
            if (A(i, j) != 0) entries.add(i, j, A(i, j));
    return entries;
}

inline WholeMatrix dependent_column(Index n, Random& random)
{
    WholeMatrix A{.n = n};
    A.entries = entries_of(with_dependent_column(n, n, 4, random, A.null));
    return A;
}

inline WholeMatrix normal_equations(Index n, Random& random)
{
    WholeMatrix A{.n = n, .symmetric = true, .semidefinite = true};
    const Dense J = with_dependent_column(n + 2, n, 3, random, A.null);
    A.entries = entries_of(multiply(transposed(J), J));
    return A;
}

/// Kinds of singular matrices; each is regular, and far from singular, with 64 on the diagonal besides.
struct SingularKind {
    const char* name;
    WholeMatrix (*draw)(Index n, Random& random);  ///< about n unknowns
};
inline const std::vector<SingularKind>& singular_kinds()
{
    static const std::vector<SingularKind> all{{"neumann_chain", neumann_chain},
                                               {"neumann_grid", neumann_grid},
                                               {"floating_nets", floating_nets},
                                               {"free_pressure", free_pressure},
                                               {"floating_mesh", floating_mesh},
                                               {"upwind", upwind},
                                               {"skew_chain", skew_chain},
                                               {"dependent_column", dependent_column},
                                               {"normal_equations", normal_equations}};
    return all;
}

/// The first unknown of a Neumann grid is grounded by 1.
inline WholeMatrix grounded_once(Index n, Random& random) { return neumann_grid(n, random).grounded(1, false); }
/// Without the last pressure.
inline WholeMatrix pinned_pressure(Index n, Random& random)
{
    const WholeMatrix free = free_pressure(n, random);
    WholeMatrix       A{.n = free.n - 1, .symmetric = true};
    for (std::size_t p = 0; p < free.entries.val.size(); ++p)
        if (free.entries.row[p] < A.n && free.entries.col[p] < A.n)
            A.entries.add(free.entries.row[p], free.entries.col[p], free.entries.val[p]);
    return A;
}
inline WholeMatrix held_mesh(Index n, Random& random)
{
    WholeMatrix A = floating_mesh(n, random);
    for (const Index i : {0, 1, 2, 3}) A.entries.add(i, i, 8);
    A.null.clear();
    return A;
}
inline WholeMatrix even_skew_chain(Index n, Random&)
{
    WholeMatrix A{.n = n % 2 == 0 ? n : n + 1};
    for (Index i = 0; i + 1 < A.n; ++i) A.entries.add(i, i + 1, 1), A.entries.add(i + 1, i, -1);
    return A;
}
/// A dominant matrix whose rows are elsewhere.
inline WholeMatrix shifted_rows(Index n, Random& random)
{
    const WholeMatrix dominant = upwind(n, random).grounded(64);
    WholeMatrix       A{.n = n};
    for (std::size_t p = 0; p < dominant.entries.val.size(); ++p)
        A.entries.add((dominant.entries.row[p] + 1) % n, dominant.entries.col[p], dominant.entries.val[p]);
    return A;
}
template <WholeMatrix (*draw)(Index, Random&)>
WholeMatrix with_diagonal(Index n, Random& random)
{
    return draw(n, random).grounded(64);
}

using RegularKind = SingularKind;
inline const std::vector<RegularKind>& regular_kinds()
{
    static const std::vector<RegularKind> all{{"grid", with_diagonal<neumann_grid>},
                                              {"grounded_once", grounded_once},
                                              {"pinned_pressure", pinned_pressure},
                                              {"held_mesh", held_mesh},
                                              {"convection", with_diagonal<upwind>},
                                              {"even_skew_chain", even_skew_chain},
                                              {"shifted_rows", shifted_rows},
                                              {"normal_equations", with_diagonal<normal_equations>}};
    return all;
}

/// Says what is claimed of x.
inline bool is_silent(const SolverReport& report) { return report.converged() && report.result().warning.empty(); }

}  // namespace ilux::test

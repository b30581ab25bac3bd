#include "ilux/tests/engine/witness/known_systems.hpp"

namespace ilux::test {

KnownSystem known_system(const WholeMatrix& whole, Units units, Random& random)
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

std::vector<double> plain_product(const CsrMatrix<double>& A, std::span<const double> t)
{
    std::vector<double> y(t.size());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) y[i] += A.val()[p] * t[A.col()[p]];
    return y;
}

double worst_share(std::span<const double> x, std::span<const double> y)
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

void link(EntryList& entries, Index i, Index j, double g)
{
    entries.add(i, i, g);
    entries.add(j, j, g);
    entries.add(i, j, -g);
    entries.add(j, i, -g);
}

WholeMatrix neumann_chain(Index n, Random& random)
{
    WholeMatrix A{.n = n, .null = std::vector<double>(n, 1.), .symmetric = true, .semidefinite = true};
    for (Index i = 0; i + 1 < n; ++i) link(A.entries, i, i + 1, drawn_conductance(random));
    return A;
}

WholeMatrix neumann_grid(Index n, Random& random)
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

WholeMatrix floating_nets(Index n, Random& random)
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

WholeMatrix free_pressure(Index n, Random& random)
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

WholeMatrix floating_truss(Index n, Random& random, double right, double up, double turn)
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

WholeMatrix floating_mesh(Index n, Random& random)
{
    return floating_truss(n, random, 1 + random.below(3), random.below(4), random.below(3));
}

WholeMatrix upwind(Index n, Random& random)
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

WholeMatrix skew_chain(Index n, Random&)
{
    const Index odd = n % 2 == 1 ? n : n + 1;
    WholeMatrix A{.n = odd, .null = std::vector<double>(odd)};
    for (Index i = 0; i < odd; ++i) {
        A.null[i] = i % 2 == 0 ? 1 : 0;
        if (i + 1 < odd) A.entries.add(i, i + 1, 1), A.entries.add(i + 1, i, -1);
    }
    return A;
}

Dense with_dependent_column(Index rows, Index n, double diagonal, Random& random, std::vector<double>& null)
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

EntryList entries_of(const Dense& A)
{
    EntryList entries;
    for (Index i = 0; i < A.rows; ++i)
        for (Index j = 0; j < A.cols; ++j)
            if (A(i, j) != 0) entries.add(i, j, A(i, j));
    return entries;
}

WholeMatrix dependent_column(Index n, Random& random)
{
    WholeMatrix A{.n = n};
    A.entries = entries_of(with_dependent_column(n, n, 4, random, A.null));
    return A;
}

WholeMatrix normal_equations(Index n, Random& random)
{
    WholeMatrix A{.n = n, .symmetric = true, .semidefinite = true};
    const Dense J = with_dependent_column(n + 2, n, 3, random, A.null);
    A.entries = entries_of(multiply(transposed(J), J));
    return A;
}

const std::vector<SingularKind>& singular_kinds()
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

WholeMatrix pinned_pressure(Index n, Random& random)
{
    const WholeMatrix free = free_pressure(n, random);
    WholeMatrix       A{.n = free.n - 1, .symmetric = true};
    for (std::size_t p = 0; p < free.entries.val.size(); ++p)
        if (free.entries.row[p] < A.n && free.entries.col[p] < A.n)
            A.entries.add(free.entries.row[p], free.entries.col[p], free.entries.val[p]);
    return A;
}

WholeMatrix held_mesh(Index n, Random& random)
{
    WholeMatrix A = floating_mesh(n, random);
    for (const Index i : {0, 1, 2, 3}) A.entries.add(i, i, 8);
    A.null.clear();
    return A;
}

WholeMatrix even_skew_chain(Index n, Random&)
{
    WholeMatrix A{.n = n % 2 == 0 ? n : n + 1};
    for (Index i = 0; i + 1 < A.n; ++i) A.entries.add(i, i + 1, 1), A.entries.add(i + 1, i, -1);
    return A;
}

WholeMatrix shifted_rows(Index n, Random& random)
{
    const WholeMatrix dominant = upwind(n, random).grounded(64);
    WholeMatrix       A{.n = n};
    for (std::size_t p = 0; p < dominant.entries.val.size(); ++p)
        A.entries.add((dominant.entries.row[p] + 1) % n, dominant.entries.col[p], dominant.entries.val[p]);
    return A;
}

const std::vector<RegularKind>& regular_kinds()
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

}  // namespace ilux::test

#include "ilux/direct/factor/diagonal_columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ilux/gallery/circuit.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/tests/direct/complex_systems.hpp"
#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/direct/factor_checks.hpp"
#include "ilux/tests/direct/repeats.hpp"
#include "ilux/tests/direct/same_monitor.hpp"
#include "ilux/tests/support/allocation_counter.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux::test {
namespace {

using Symbolic = std::shared_ptr<const LuSymbolic>;

constexpr PivotTuning always_shared{.seconds_a_thread = 0};

template <class S>
LuFactors<S> shared_by(int threads, const Symbolic& symbolic, std::span<const NotDeduced<S>> values,
                       const StopToken& stop = {})
{
    return gilbert_peierls<S>(symbolic, symbolic->options, values, stop, Cpu(threads), always_shared);
}

template <class Numbers>
bool same_bits(const Numbers& x, const Numbers& y)
{
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0);
}

template <class S>
void expect_same(const LuFactors<S>& found, const LuFactors<S>& expected)
{
    const LuPattern &P = *found.pattern, &Q = *expected.pattern;
    EXPECT_EQ(P.row_perm, Q.row_perm);
    EXPECT_EQ(P.col_perm, Q.col_perm);
    EXPECT_EQ(P.row_scale, Q.row_scale);
    EXPECT_EQ(P.block_ptr, Q.block_ptr);
    EXPECT_EQ(P.col_ptr, Q.col_ptr);
    EXPECT_EQ(P.diag, Q.diag);
    EXPECT_EQ(P.row, Q.row);
    EXPECT_EQ(P.f_col_ptr, Q.f_col_ptr);
    EXPECT_EQ(P.f_row, Q.f_row);
    EXPECT_EQ(P.in_ptr, Q.in_ptr);
    EXPECT_EQ(P.in_split, Q.in_split);
    EXPECT_EQ(P.in_source, Q.in_source);
    EXPECT_EQ(P.in_row, Q.in_row);
    EXPECT_EQ(P.in_scale, Q.in_scale);
    EXPECT_TRUE(same_bits(found.val, expected.val));
    EXPECT_TRUE(same_bits(found.f_val, expected.f_val));
    expect_same_monitor(found.monitor, expected.monitor);
}

template <class S>
LuFactors<S> expect_the_same_of_every_team(const Symbolic& symbolic, std::span<const NotDeduced<S>> values)
{
    LuFactors<S> alone = gilbert_peierls<S>(symbolic, values);
    for (const int threads : {2, 3, 7}) {
        SCOPED_TRACE(testing::Message() << threads << " threads");
        expect_same(shared_by<S>(threads, symbolic, values), alone);
    }
    return alone;
}

LuFactors<> expect_the_same_of_every_team(const CsrMatrix<double>& A, const HandAnalysis& by = {})
{
    return expect_the_same_of_every_team<double>(analysed(A, by), A.val());
}

/// How many pivots are not where the analysis put them.
Index moved_rows(const LuFactors<>& F)
{
    Index moved = 0;
    for (Index k = 0; k < F.pattern->n; ++k) moved += F.pattern->row_perm[k] != F.symbolic->row_perm[k];
    return moved;
}

/// Of the gallery, in an order of the analysis.
std::vector<std::pair<std::string, CsrMatrix<double>>> circuits()
{
    std::vector<std::pair<std::string, CsrMatrix<double>>> all;
    all.emplace_back("random circuit", gallery::mna_random({.n = 3000, .decades = 6}));
    all.emplace_back("power grid", gallery::power_grid({}));
    all.emplace_back("RLC mesh", gallery::rlc_mesh({}));
    all.emplace_back("RLC mesh, DC", gallery::rlc_mesh({.n = 8, .analysis = gallery::Analysis::dc}));
    all.emplace_back("Poisson", gallery::poisson2d(40, 37));
    return all;
}

/// A team's columns before anything is joined.
struct Team {
    Symbolic                        symbolic;
    LuPattern                       P;
    LuFactors<>                     F;
    detail::InputColumns<double>    input;
    detail::DiagonalColumns<double> columns;
    StopReason                      stopped;

    Team(int threads, Symbolic analysis, std::span<const double> values)
        : symbolic(std::move(analysis)),
          input(*symbolic, symbolic->options.scaling, values, P),
          columns(Cpu(threads), *symbolic, input, symbolic->options.pivot_tol, room(P), F),
          stopped(columns.run({}))
    {}
    static LuPattern& room(LuPattern& P)
    {
        P.col_ptr.assign(P.n + std::size_t{1}, 0);
        P.diag.resize(P.n);
        P.f_col_ptr.assign(P.n + std::size_t{1}, 0);
        return P;
    }
    Index made() const
    {
        Index count = 0;
        for (Index k = 0; k < P.n; ++k) count += columns.made(k);
        return count;
    }
};

TEST(DiagonalColumns, ATeamMakesAllColumnsWhosePivotsStay)
{
    for (const auto& [name, A] : circuits()) {
        SCOPED_TRACE(name);
        const auto symbolic = analyse(view(A));
        const auto alone = gilbert_peierls(symbolic, A.val());
        if (moved_rows(alone) > 0) continue;
        const Team team(3, symbolic, A.val());
        EXPECT_TRUE(team.columns.all_made());
        EXPECT_EQ(team.made(), A.rows());
        const LuPattern& P = *alone.pattern;
        for (const Index k : {Index{0}, A.rows() / 2, A.rows() - 1}) {
            const auto column = team.columns.column(k);
            ASSERT_EQ(std::ssize(column.row), P.col_ptr[k + 1] - P.col_ptr[k]);
            EXPECT_TRUE(std::equal(column.row.begin(), column.row.end(), P.row.begin() + P.col_ptr[k]));
            EXPECT_TRUE(std::equal(column.val.begin(), column.val.end(), alone.val.begin() + P.col_ptr[k]));
        }
    }
    EXPECT_EQ(moved_rows(gilbert_peierls(analyse(view(gallery::poisson2d(40, 37))), gallery::poisson2d(40, 37).val())),
              0);
}

TEST(DiagonalColumns, ATeamGivesUpWhereAnEighthOfTheColumnsIsLeftOut)
{
    const auto                A = gallery::poisson2d(40, 40);
    const auto                symbolic = analyse(view(A));
    const std::vector<double> zeros(A.val().size());
    const Team                team(2, symbolic, zeros);
    EXPECT_FALSE(team.columns.all_made());
    EXPECT_EQ(team.made(), 0);
    EXPECT_EQ(team.stopped, StopReason::none);
}

TEST(DiagonalColumns, CircuitsHaveTheBitsOfOneThread)
{
    for (const auto& [name, A] : circuits()) {
        SCOPED_TRACE(name);
        const auto F = expect_the_same_of_every_team<double>(analyse(view(A)), A.val());
        EXPECT_EQ(F.monitor.bad_column, -1);
    }
}

TEST(DiagonalColumns, EverySystemOfTheDataflowHasTheBitsOfOneThread)
{
    for (const auto& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        expect_the_same_of_every_team<double>(system.F.symbolic, system.A.val);
    }
}

TEST(DiagonalColumns, PivotsOffTheDiagonalHaveTheBitsOfOneThread)
{
    Index moved = 0;
    for (const Index n : {0, 1, 2, 31, 32, 33, 100, 400})
        for (const Index per_row : {2, 5})
            for (const double pivot_tol : {0., 1e-3, 0.1, 1.}) {
                SCOPED_TRACE(testing::Message() << "n " << n << ", per row " << per_row << ", tolerance " << pivot_tol);
                const HandAnalysis by{.options = with_tolerance(pivot_tol)};
                const auto         F = expect_the_same_of_every_team(random_dominant(n, per_row, n + per_row), by);
                expect_the_same_of_every_team(random_matrix(n, n, per_row, 3 * n + per_row), by);
                const auto rows = random_permutation(n, 3);
                const auto G = expect_the_same_of_every_team(permute(random_dominant(n, per_row, n + per_row),
                                                                     std::span<const Index>(rows), {}),
                                                             by);
                moved += moved_rows(G);
            }
    EXPECT_GT(moved, 500);
}

TEST(DiagonalColumns, OneSwapLeavesTheColumnsThatItDoesNotTouchAsTheyWereMade)
{
    // Chains that meet in the last two unknowns; the pivot of a column within one of them leaves the diagonal.
    constexpr Index chains = 6, length = 30, n = chains * length + 2;
    for (const Index bad : {0, 17, 64, chains * length - 1, n - 2}) {
        Dense A = square(n, std::vector<double>(static_cast<std::size_t>(n) * n));
        for (Index i = 0; i < n; ++i) A(i, i) = 4;
        for (Index c = 0; c < chains; ++c)
            for (Index i = c * length; i < (c + 1) * length; ++i) {
                const Index next = i + 1 < (c + 1) * length ? i + 1 : n - 2;
                A(i, next) = A(next, i) = 1;
                if (i % 7 == 0) A(i, n - 1) = A(n - 1, i) = 1;
            }
        A(n - 2, n - 1) = A(n - 1, n - 2) = 1;
        A(bad, bad) = 1e-9;
        for (Index j = 0; j < bad; ++j) A(bad, j) = A(j, bad) = 0;  // nothing makes it larger
        const auto F = expect_the_same_of_every_team(to_csr(A));
        EXPECT_GT(moved_rows(F), 0);
        EXPECT_LE(moved_rows(F), length + 2);
        expect_factors_of(F, to_csr(A));
        const CsrMatrix<double> swapped = to_csr(A);
        const Index behind = bad < n - 2 ? length - bad % length + 2 : 2;  // columns that need the swapped one, and it
        if (behind > n / 8) continue;                                      // the team gives up
        EXPECT_GE(Team(3, analysed(swapped), swapped.val()).made(), n - behind);
    }
}

TEST(DiagonalColumns, BlocksAndWhatLiesAboveThemHaveTheBitsOfOneThread)
{
    for (const double pivot_tol : {1e-3, 1.})
        for (const std::uint64_t seed : {1, 2, 3}) {
            const auto B = to_csr(random_factors({31, 1, 33, 20, 1, 1, 40, 1, 1, 100}, 0.2, seed).A);
            LuOptions  options{.pivot_tol = pivot_tol};
            const auto F = expect_the_same_of_every_team<double>(analyse(view(B), options), B.val());
            EXPECT_GT(F.pattern->nnz_F(), 0);
            EXPECT_GT(F.pattern->blocks(), 1);
        }
    expect_the_same_of_every_team(CsrMatrix<double>::identity(5000));
}

TEST(DiagonalColumns, ComplexMatricesHaveTheBitsOfOneThread)
{
    for (const Index n : orders) {
        SCOPED_TRACE(n);
        const auto A = complex_system(n, 5 + n);
        expect_the_same_of_every_team<Complex>(analyse(view(A)), A.val());
    }
    const auto mesh = gallery::ac_mesh({});
    expect_the_same_of_every_team<Complex>(analyse(view(mesh)), mesh.val());
}

TEST(DiagonalColumns, TheFirstBadColumnIsTheOneOfOneThread)
{
    for (const Index n : {1, 2, 33, 200})
        for (const Index bad : {Index{0}, n / 3, n / 2, n - 1})
            for (const bool huge : {false, true}) {
                SCOPED_TRACE(testing::Message() << "n " << n << ", column " << bad << (huge ? ", overflow" : ""));
                const auto A = random_dominant(n, 4, n);
                auto       values = std::vector<double>(A.val().begin(), A.val().end());
                for (Index i = 0; i < n; ++i)
                    for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                        if (A.col()[p] == bad || A.col()[p] == (bad + 1) % n)
                            values[p] = huge ? std::copysign(1e308, values[p]) : 0;
                const auto F = expect_the_same_of_every_team<double>(analysed(A), values);
                EXPECT_TRUE(huge || F.monitor.bad_column == std::min(bad, (bad + 1) % n)) << F.monitor.bad_column;
            }
    const auto empty = CsrMatrix<double>::from_triplets(3, 3, std::vector<Index>{0, 2}, std::vector<Index>{0, 2},
                                                        std::vector<double>{1, 1});
    EXPECT_EQ(expect_the_same_of_every_team(empty).monitor.bad_column, 1);
}

TEST(DiagonalColumns, OverflowAboveTheBlocksIsTheOneOfOneThread)
{
    const Entries A{2, {0, 3, 4}, {0, 1, 1, 1}, {1, 1e308, 1e308, 1}};
    const auto    F = expect_the_same_of_every_team<double>(analysed(A, {.block_ptr = {0, 1, 2}}), A.val);
    EXPECT_EQ(F.monitor.bad_column, 1);
    EXPECT_TRUE(F.monitor.not_finite);
}

TEST(DiagonalColumns, NanIsRefusedByRowAndColumn)
{
    const auto A = random_dominant(50, 4, 1);
    auto       values = std::vector<double>(A.val().begin(), A.val().end());
    values[A.row_ptr()[7]] = nan;
    expect_refusal([&] { (void)shared_by<double>(3, analysed(A), values); }, {"row 7", "nan"});
    values.pop_back();
    expect_refusal([&] { (void)shared_by<double>(3, analysed(A), values); }, {std::to_string(values.size())});
}

TEST(DiagonalColumns, MemoryLimitIsPassedOrKeptAsByOneThread)
{
    const auto A = gallery::poisson2d(30, 30);
    const auto message_of = [&](int threads, std::uint64_t limit) -> std::string {
        LuOptions options;
        options.memory_limit.value = limit;
        try {
            (void)shared_by<double>(threads, analyse(view(A), options), A.val());
            return "kept";
        } catch (const OutOfMemory& e) {
            return e.what();
        }
    };
    const auto F = gilbert_peierls(analyse(view(A)), A.val());
    const auto needed = F.bytes() + F.pattern->bytes();
    EXPECT_NE(message_of(1, needed / 4), "kept");
    EXPECT_EQ(message_of(2, needed), "kept");
    for (const std::uint64_t limit : {needed / 4, needed / 2, needed - 10'000, needed, needed + 10'000, 2 * needed}) {
        SCOPED_TRACE(limit);
        const std::string alone = message_of(1, limit);
        for (const int threads : {2, 7}) EXPECT_EQ(message_of(threads, limit), alone);
    }
}

TEST(DiagonalColumns, EveryFailedAllocationIsReported)
{
    const auto A = random_dominant(60, 4, 2);
    const auto s = analysed(A);
    EXPECT_GT(fail_each_allocation([&] { (void)shared_by<double>(2, s, A.val()); }), 10);
}

TEST(DiagonalColumns, ATeamStopsWhenItIsTold)
{
    const auto       A = gallery::poisson2d(90, 90);
    const auto       s = analyse(view(A));
    std::atomic<int> asked;
    const auto       whole = shared_by<double>(4, s, A.val(), stop_at(0, asked));
    EXPECT_GE(asked, 5);
    EXPECT_EQ(whole.monitor.bad_column, -1);
    for (int question = 1; question <= 5; ++question) {
        const auto F = shared_by<double>(4, s, A.val(), stop_at(question, asked));
        EXPECT_EQ(F.monitor.stopped, StopReason::cancelled);
        EXPECT_GE(F.monitor.bad_column, 0);
        EXPECT_LT(F.monitor.bad_column, A.rows());
        EXPECT_FALSE(F.monitor.not_finite);
        EXPECT_TRUE(F.val.empty());
        EXPECT_EQ(F.pattern->row_perm, s->row_perm);
    }
}

TEST(DiagonalColumns, RepeatedRunsAgree)
{
    const auto A = gallery::mna_random({.n = 1500, .decades = 6});
    const auto s = analyse(view(A));
    const auto alone = gilbert_peierls(s, A.val());
    const auto B = permute(random_dominant(120, 3, 4), std::span<const Index>(random_permutation(120, 3)), {});
    const auto t = analysed(B);
    const auto swapped = gilbert_peierls(t, B.val());
    for (int r = 0; r < repeats(); ++r) {
        expect_same(shared_by<double>(4, s, A.val()), alone);
        expect_same(shared_by<double>(4, t, B.val()), swapped);
        if (HasFailure()) return;
    }
}

TEST(DiagonalColumns, LittleWorkStaysOnOneThread)
{
    const auto       A = gallery::poisson2d(20, 20);
    const auto       s = analyse(view(A));
    std::atomic<int> alone, four;
    (void)gilbert_peierls<double>(s, A.val(), stop_at(0, alone));
    (void)gilbert_peierls<double>(s, A.val(), stop_at(0, four), Cpu(4));
    EXPECT_EQ(four, alone);  // each thread of a team asks before its first column
}

}  // namespace
}  // namespace ilux::test

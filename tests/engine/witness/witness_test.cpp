// Nothing is called certain that is not so: singular systems of each kind are warned of, and regular ones are not.

#include "ilux/engine/witness/witness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/engine/witness/known_systems.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

/// What came of a system.
struct Claim {
    bool        converged = false, silent = false;
    double      worst = infinity;  // share of an unknown that x is off by
    std::string words;             // for whoever reads of a failure
};

Claim claim_of(const SolverReport& report, std::span<const double> x, const KnownSystem& system)
{
    return {.converged = report.converged(),
            .silent = is_silent(report),
            .worst = worst_share(x, system.x),
            .words = std::string(name(report.outcome())) + " " + report.why() + " | " + report.result().warning};
}

Claim solved(const KnownSystem& system, const SolverOptions& options)
{
    LinearSolver        solver(serial(options));
    std::vector<double> x(system.x.size());
    solver.analyse(system.A);
    solver.factor();
    const auto report = solver.solve(system.b, x);
    return claim_of(report, x, system);
}

/// How many claims there were of a kind, and how many of them said what they should.
struct Tally {
    int claims = 0, converged = 0, silent = 0, alarms = 0, wrong = 0;

    void note(const Claim& claim, const KnownSystem& system, const std::string& what)
    {
        constexpr double right = 1e-10;
        ++claims;
        converged += claim.converged;
        const bool lie = claim.silent && (system.leaves_open_what_counts() || !(claim.worst <= uncertain_from));
        const bool alarm = claim.converged && !claim.silent && !system.singular() && claim.worst <= right;
        silent += lie;
        alarms += alarm;
        wrong += !system.singular() && !(claim.worst <= right);
        EXPECT_FALSE(lie) << what << ": x is off by " << claim.worst << "; " << claim.words;
        EXPECT_FALSE(alarm) << what << ": x is off by " << claim.worst << "; " << claim.words;
    }
};

std::string words(Units units)
{
    switch (units) {
        case Units::plain:
            return "plain";
        case Units::both_sides:
            return "D A D";
        case Units::rows_and_columns:
            return "D1 A D2";
        case Units::far_rows:
            return "far rows";
        case Units::far_columns:
            return "far columns";
    }
    return "";
}

constexpr Units all_units[]{Units::plain, Units::both_sides, Units::rows_and_columns, Units::far_rows,
                            Units::far_columns};

class EveryKind : public testing::TestWithParam<SingularKind> {
protected:
    static constexpr Index least = 5, most = 60;

    static KnownSystem drawn(std::uint64_t seed, Units units)
    {
        Random            random(seed);
        const WholeMatrix whole = GetParam().draw(least + random.below(most - least + 1), random);
        return known_system(whole, units, random);
    }

    static Tally by_lu_and_auto()
    {
        Tally tally;
        for (const Units units : all_units)
            for (const MethodChoice method : {MethodChoice::lu, MethodChoice::automatic})
                for (std::uint64_t seed = 0; seed < 12; ++seed) {
                    const auto system = drawn(seed, units);
                    const auto what =
                        words(units) + ", " + std::string(name(method)) + ", seed " + std::to_string(seed);
                    tally.note(solved(system, {.method = method}), system, what);
                }
        return tally;
    }

    static Tally by_iterations()
    {
        Tally tally;
        for (const Units units : {Units::plain, Units::both_sides, Units::rows_and_columns})
            for (const MethodChoice method :
                 {MethodChoice::gmres, MethodChoice::cg, MethodChoice::bicgstab, MethodChoice::minres})
                for (const StopTest stop : {StopTest::residual, StopTest::error})
                    for (std::uint64_t seed = 100; seed < 106; ++seed) {
                        const auto system = drawn(seed, units);
                        if (method == MethodChoice::cg && !system.semidefinite) continue;
                        if (method == MethodChoice::minres && !system.symmetric) continue;
                        SolverOptions options{.method = method, .retry = seed % 2 == 0};
                        options.krylov.stop = stop;
                        options.krylov.max_steps = 300;
                        const auto what = words(units) + ", " + std::string(name(method)) +
                                          " stop=" + std::string(name(stop)) + ", seed " + std::to_string(seed);
                        tally.note(solved(system, options), system, what);
                    }
        return tally;
    }
};

std::string name_of_kind(const testing::TestParamInfo<SingularKind>& info) { return info.param.name; }

class EverySingular : public EveryKind {};
INSTANTIATE_TEST_SUITE_P(Witness, EverySingular, testing::ValuesIn(singular_kinds()), name_of_kind);
class EveryRegular : public EveryKind {};
INSTANTIATE_TEST_SUITE_P(Witness, EveryRegular, testing::ValuesIn(regular_kinds()), name_of_kind);

TEST_P(EverySingular, HasAVectorThatIsTakenToZeroExactly)
{
    for (const Units units : all_units) {
        const auto system = drawn(1, units);
        ASSERT_TRUE(system.singular());
        EXPECT_TRUE(std::ranges::any_of(system.null, [](double one) { return one != 0; }));
        for (const double one : plain_product(system.A, system.null)) EXPECT_EQ(one, 0);
        EXPECT_EQ(plain_product(system.A, system.x), system.b);
    }
}

TEST_P(EverySingular, IsNeverCalledCertainByLuOrAuto) { (void)by_lu_and_auto(); }

TEST_P(EverySingular, IsNeverCalledCertainByAnIteration)
{
    // Most of them converge: it is not failure that keeps them from claims.
    const Tally tally = by_iterations();
    EXPECT_GT(2 * tally.converged, tally.claims);
}

TEST_P(EveryRegular, IsRightAndNoReasonForAlarmByLuAndAuto)
{
    const Tally tally = by_lu_and_auto();
    EXPECT_EQ(tally.converged, tally.claims);
    EXPECT_LE(10 * tally.wrong, tally.claims);
}

TEST_P(EveryRegular, IsNoReasonForAlarmByAnIteration)
{
    const Tally tally = by_iterations();
    EXPECT_GT(2 * tally.converged, tally.claims);
}

/// The members of a series: one pattern, each regular or singular, in units of its own or of all.
struct Series {
    std::vector<KnownSystem> members;

    Series(const SingularKind& kind, std::uint64_t seed)
    {
        Random      random(seed);
        const Index size = 5 + random.below(30);
        const bool  own_units = seed % 3 == 0;
        const bool  one_place =
            kind.draw == neumann_chain || kind.draw == neumann_grid;  // where one grounded unknown is enough
        const auto whole_seed = random.bits();
        for (const double g : {1, 0, 1, 1, 0, 0, 1, 0}) {
            Random            values(whole_seed);
            const WholeMatrix whole = kind.draw(size, values);
            const bool        once = one_place && seed % 2 == 0;
            const auto        member = whole.grounded(once ? g : 64 * g, !once);
            members.push_back(known_system(member, own_units ? Units::both_sides : Units::plain, random));
        }
    }
};

TEST_P(EverySingular, IsSeenInTheMiddleOfASeries)
{
    struct Way {
        const char*  name;
        MethodChoice method;
        StopTest     stop;
    };
    constexpr Way ways[]{{"auto", MethodChoice::automatic, StopTest::residual},
                         {"lu", MethodChoice::lu, StopTest::residual},
                         {"gmres", MethodChoice::gmres, StopTest::error}};
    for (const Way& way : ways)
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            const Series  series(GetParam(), seed);
            SolverOptions options{.method = way.method};
            options.krylov.stop = way.stop;
            LinearSolver solver(serial(options));
            solver.analyse(series.members.front().A, static_cast<double>(series.members.size()));
            Tally tally;
            for (std::size_t m = 0; m < series.members.size(); ++m) {
                const KnownSystem&  one = series.members[m];
                std::vector<double> x(one.x.size());
                const auto          report = solver.refactor_and_solve(one.A.val(), one.b, x);
                tally.note(claim_of(report, x, one), one,
                           std::string(way.name) + ", seed " + std::to_string(seed) + ", member " + std::to_string(m));
                if (!one.singular()) {
                    EXPECT_TRUE(report.converged()) << way.name << " " << seed << " " << m << " " << report.why();
                }
            }
        }
}

TEST_P(EverySingular, IsSeenInABatch)
{
    for (const SolverMode mode : {SolverMode::direct, SolverMode::automatic})
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            const Series        series(GetParam(), seed);
            const KnownSystem&  first = series.members.front();
            LinearSolver        solver(serial({.mode = mode}));
            std::vector<double> values, B, X;
            for (const KnownSystem& one : series.members) {
                values.insert(values.end(), one.A.val().begin(), one.A.val().end());
                B.insert(B.end(), one.b.begin(), one.b.end());
            }
            X.resize(B.size());
            solver.analyse(first.A, static_cast<double>(series.members.size()));
            solver.factor();
            const auto report = solver.solve_batch(static_cast<Index>(series.members.size()), values, B, X);
            Tally      tally;
            for (std::size_t m = 0; m < series.members.size(); ++m) {
                const KnownSystem& one = series.members[m];
                const auto         x = std::span<const double>(X).subspan(m * one.x.size(), one.x.size());
                tally.note(claim_of(report.members[m], x, one), one,
                           std::string(name(mode)) + ", seed " + std::to_string(seed) + ", member " +
                               std::to_string(m));
            }
        }
}

/// Where an LU would be too large to be a witness by itself.
TEST(LargeSingular, IsNeverCalledCertain)
{
    for (const MethodChoice method :
         {MethodChoice::automatic, MethodChoice::gmres, MethodChoice::cg, MethodChoice::bicgstab, MethodChoice::minres})
        for (const StopTest stop : {StopTest::residual, StopTest::error}) {
            Random        random(7);
            const auto    whole = neumann_grid(2500, random);
            const auto    singular = known_system(whole, Units::both_sides, random);
            const auto    regular = known_system(whole.grounded(1), Units::both_sides, random);
            SolverOptions options{.mode = SolverMode::iterative, .method = method};
            options.krylov.stop = stop;
            const auto what = std::string(name(method)) + " stop=" + std::string(name(stop));
            Tally      tally;
            tally.note(solved(singular, options), singular, what);
            tally.note(solved(regular, options), regular, what + ", regular");
            EXPECT_EQ(tally.converged, 2) << what;
        }
}

/// Dense ones of three unknowns, the first and the third singular.
TEST(SmallSeries, HasEverySingularMemberToldAndNoOther)
{
    const std::vector<Dense> members{{3, 3, {1, 2, 1, 2, 4, 1, 3, 6, 1.5}},
                                     {3, 3, {2, 1, 1, 1, 3, 1, 1, 2, 4}},
                                     {3, 3, {2, 1, 1, 1, 3, 1, 3, 4, 2}},
                                     {3, 3, {2, 1, 1, 1, 3, 1, 3, 4, 2.5}}};
    for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::lu, MethodChoice::gmres}) {
        SolverOptions options{.method = method};
        options.krylov.stop = method == MethodChoice::gmres ? StopTest::error : StopTest::residual;
        LinearSolver solver(serial(options));
        const auto   pattern = to_csr(members[0]);
        solver.analyse(pattern, 4);
        for (std::size_t m = 0; m < members.size(); ++m) {
            const auto          A = to_csr(members[m]);
            const auto          b = times_ones(A);
            std::vector<double> x(3);
            const auto          report = solver.refactor_and_solve(A.val(), b, x);
            const bool          singular = m == 0 || m == 2;
            EXPECT_EQ(is_silent(report), !singular)
                << name(method) << ", member " << m << ": " << report.why() << " | " << report.result().warning;
            if (singular) continue;
            for (const double one : x) EXPECT_NEAR(one, 1, 1e-8);
        }
    }
}

/// x₂ is determined by an entry that is nothing beside the others of its row: from x₁ = 2 and x₃ = 1 + d,
/// x₂ (a₃₂ − a₃₃ a₂₂ / a₂₃) = −a₃₁ x₁, d = −a₂₂ x₂ / a₂₃.
KnownSystem with_hidden_unknown(std::uint64_t seed)
{
    Random       random(seed);
    const auto   power = [&](int near) { return std::ldexp(1., near + drawn_exponent(random, 3)); };
    const double a11 = power(43), a22 = -power(-37), a23 = power(50), a31 = power(-66), a32 = power(-38),
                 a33 = -power(53);
    const double x2 = -2 * a31 / (a32 - a33 * a22 / a23);
    return {.A = to_csr({3, 3, {a11, 0, 0, 0, a22, a23, a31, a32, a33}}),
            .x = {2, x2, 1 - a22 * x2 / a23},
            .b = {2 * a11, a23, a33}};
}

/// Thirty systems, whose x is right, or told to be uncertain. @param make  makes one of a seed
void expect_right_or_told(KnownSystem (*make)(std::uint64_t), MethodChoice method)
{
    for (const StopTest stop : {StopTest::residual, StopTest::error})
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            SolverOptions options{.method = method};
            options.krylov.stop = stop;
            const Claim claim = solved(make(seed), options);
            EXPECT_FALSE(claim.silent && !(claim.worst <= uncertain_from))
                << name(method) << " stop=" << name(stop) << ", seed " << seed << ": off by " << claim.worst << "; "
                << claim.words;
        }
}

TEST(HiddenUnknown, IsRightOrToldOf)
{
    for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::lu})
        expect_right_or_told(with_hidden_unknown, method);
}

/// A grid of k³ nodes with 0.25 to the ground, times s, beside three unknowns that share nothing with it:
/// [−2¹⁴⁶ −2⁻³³ 0; −2⁻³³ 0 2⁻¹⁹⁰; 0 2⁻¹⁹⁰ 2¹⁷⁷], whose x is 2, 3·2²², −3 but for 2⁻⁵⁰ and less.
KnownSystem grid_beside_three(Index k)
{
    constexpr double p = 0x1p146, q = 0x1p-33, r = 0x1p-190, s = 0x1p177;
    Random           random(1);
    const Index      grid = k * k * k;
    EntryList        entries;
    for (Index i = 0; i < grid; ++i) {
        entries.add(i, i, .25 * s);
        if (i % k + 1 < k) link(entries, i, i + 1, s);
        if (i / k % k + 1 < k) link(entries, i, i + k, s);
        if (i / (k * k) + 1 < k) link(entries, i, i + k * k, s);
    }
    entries.add(grid, grid, -p);
    entries.add(grid, grid + 1, -q);
    entries.add(grid + 1, grid, -q);
    entries.add(grid + 1, grid + 2, r);
    entries.add(grid + 2, grid + 1, r);
    entries.add(grid + 2, grid + 2, s);
    KnownSystem system{.A = entries.matrix(grid + 3, grid + 3)};
    for (Index i = 0; i < grid; ++i) system.x.push_back(1 + random.below(9));
    // x₁ = 2 − q x₂ / p, x₃ = −3 − r x₂ / s: −q x₁ + r x₃ = −2 q leaves x₂ (q² / p − r² / s) = 3 r.
    const double x2 = 3 * r / (q * q / p - r * r / s);
    for (const double one : {2., x2, -3.}) system.x.push_back(one);
    system.b = plain_product(system.A, system.x);
    system.b[grid] = -2 * p;
    system.b[grid + 1] = -2 * q;
    system.b[grid + 2] = -3 * s;
    return system;
}

TEST(HiddenUnknown, IsRightOrToldOfBesideAGrid)
{
    const auto system = grid_beside_three(11);  // 1334 unknowns
    for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::lu, MethodChoice::gmres})
        for (const SolverMode mode : {SolverMode::automatic, SolverMode::iterative})
            for (const StopTest stop : {StopTest::residual, StopTest::error}) {
                if (method == MethodChoice::lu && mode == SolverMode::iterative) continue;
                SolverOptions options{.mode = mode, .method = method};
                options.krylov.stop = stop;
                const Claim claim = solved(system, options);
                EXPECT_FALSE(claim.silent && !(claim.worst <= uncertain_from))
                    << name(method) << " stop=" << name(stop) << ": off by " << claim.worst << "; " << claim.words;
            }
}

/// Rows that lead by a millionth only, and lead to one another by millionths: dominance proves A regular, yet its
/// condition is 2⁵⁶ and more.
KnownSystem hardly_grounded(std::uint64_t seed)
{
    Random       random(seed);
    const Index  n = 4 + random.below(4);
    const double little = 0x1p-19;
    EntryList    entries;
    for (Index i = 0; i < n; ++i) {
        entries.add(i, i, 1);
        const bool last = i + 1 == n;
        if (i > 0) entries.add(i, i - 1, last ? -1 : -little);
        if (!last) entries.add(i, i + 1, i == 0 ? -(1 - 2 * little) : -(1 - little));
    }
    KnownSystem system{.A = entries.matrix(n, n)};
    for (Index i = 0; i < n; ++i) system.x.push_back(1 + random.below(9));
    system.b = plain_product(system.A, system.x);
    return system;
}

TEST(HardlyGrounded, IsRightOrToldOf) { expect_right_or_told(hardly_grounded, MethodChoice::lu); }

/// A mesh of 150 × 150 nodes, each with a coupling to another far away that makes its row lead by nothing; the last
/// unknown is the current of a source at one node, or a conductance there.
CsrMatrix<double> coupled_mesh(bool source)
{
    constexpr Index k = 150, n = k * k;
    EntryList       entries;
    for (Index i = 0; i < n; ++i) {
        if (i % k + 1 < k) link(entries, i, i + 1, 1);
        if (i + k < n) link(entries, i, i + k, 1);
        entries.add(i, (i + n / 2) % n, 0.5);
    }
    entries.add(0, n, 1);
    entries.add(n, 0, 1);
    entries.add(n, n, source ? 0 : 4);
    return entries.matrix(n + 1, n + 1);
}

TEST(RowwiseLimit, IsThatOfAnLuWhereManyUnknownsHaveConstraints)
{
    Cpu        cpu(2);
    const auto with_source = coupled_mesh(true), without = coupled_mesh(false);
    EXPECT_EQ(Witness<double>(cpu, with_source).rowwise_limit(5e-3), lu_tolerance);
    EXPECT_GT(Witness<double>(cpu, without).rowwise_limit(5e-3), lu_tolerance);
}

TEST(LostConstants, AreAddedSoThatEveryLooseSetIsInBalance)
{
    // Grounded by 2⁻⁴⁰: ones are nearly taken to 0. From d = 0 and r = (1, 2, 3), Σ r = 6 = 2⁻⁴⁰ c.
    const auto          A = to_csr({3, 3, {1 + 0x1p-40, -1, 0, -1, 2, -1, 0, -1, 1}});
    Cpu                 serial(1);
    const Witness<>     witness(serial, A);
    std::vector<double> d(3, 0.);
    witness.add_lost_constants(std::vector<double>{1, 2, 3}, d);
    for (const double one : d) EXPECT_NEAR(one * 0x1p-40, 6, 1e-3);
}

}  // namespace
}  // namespace ilux

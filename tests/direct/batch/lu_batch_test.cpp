#include "ilux/direct/batch/lu_batch.hpp"

#include <gtest/gtest.h>

#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/tests/direct/batch/batch_systems.hpp"
#include "ilux/tests/direct/same_monitor.hpp"
#include "ilux/tests/direct/small_matrix.hpp"

namespace ilux::test {
namespace {

constexpr std::size_t enough = std::size_t{1} << 40;

/// [1 1; 1 2], with its pivots as they stand.
struct Pair {
    Small                             A{{{1, 1}, {1, 2}}, MatrixView::Layout::rows};
    std::shared_ptr<const LuSymbolic> symbolic = analyse(A.view(), as_given);
    LuFactors                         F = gilbert_peierls(symbolic, A.view().val);
};

TEST(LuBatch, OfTheHostHasTheBitsOfASingleRefactorization)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        if (system.A.n == 0 || system.A.n > 1000) continue;
        SCOPED_TRACE(system.name);
        const auto          n = static_cast<std::size_t>(system.A.n);
        LuBatch             batch(nullptr, system.F.symbolic, system.F.pattern, 3, enough);
        LuFactors           alone = system.F;
        const auto          all = member_values(system.A.val, 3);
        const auto          b = random_vector(system.A.n, 5);
        std::vector<double> x(n), wanted(n), e(n), wanted_e(n);
        Cpu                 be(1);
        LuWorkspace         ws(system.A.n);
        EXPECT_EQ(batch.room(), 1);
        for (Index m = 0; m < 3; ++m) {
            BatchMember done;
            batch.refactor(member_of(all, 3, m), std::span(&done, 1));
            refactor_serial(member_of(all, 3, m), alone);
            expect_same_monitor(done.monitor, alone.monitor);
            batch.solve(b, x, std::span(&done, 1));
            lu_solve(be, alone, b, wanted, ws);
            EXPECT_TRUE(done.refine.finite);
            EXPECT_LE(done.refine.backward_error, 1e-13);
            batch.substitute(b, e);
            EXPECT_TRUE(identical(e, wanted));
        }
    }
}

TEST(LuBatch, SaysThatAMemberHasABadColumnAndGoesOn)
{
    const Pair                pair;
    LuBatch                   batch(nullptr, pair.symbolic, pair.F.pattern, 1, enough);
    const std::vector<double> singular{1, 1, 1, 1}, sound{1, 1, 1, 3}, b{2, 4};
    std::vector<double>       x(2);
    BatchMember               done;
    batch.refactor(singular, std::span(&done, 1));
    EXPECT_EQ(done.monitor.bad_column, 1);
    batch.solve(b, x, std::span(&done, 1));
    EXPECT_FALSE(done.refine.finite);
    batch.refactor(sound, std::span(&done, 1));
    batch.solve(b, x, std::span(&done, 1));
    EXPECT_TRUE(done.refine.finite);
    EXPECT_EQ(x, (std::vector<double>{1, 1}));
}

TEST(LuBatch, RefusesLengthsThatDisagreeAndMemoryThatIsNotThere)
{
    const Pair               pair;
    LuBatch                  batch(nullptr, pair.symbolic, pair.F.pattern, 2, enough);
    std::vector<double>      x(2);
    std::vector<BatchMember> done(2);
    expect_refusal([&] { batch.refactor(std::vector<double>(8), done); }, {"2 members", "room for 1"});
    expect_refusal([&] { batch.refactor(std::vector<double>(3), std::span(done).first(1)); }, {"3 values"});
    batch.refactor(pair.A.view().val, std::span(done).first(1));
    expect_refusal([&] { batch.solve(std::vector<double>(1), x, std::span(done).first(1)); }, {"b has 1"});
    expect_refusal([&] { batch.solve(std::vector<double>(2), x, done); }, {"2 members"});
    expect_refusal([&] { LuBatch(nullptr, pair.symbolic, pair.F.pattern, 0, enough); }, {"0 members"});
    expect_refusal<OutOfMemory>([&] { LuBatch(nullptr, pair.symbolic, pair.F.pattern, 1, batch.bytes() - 1); },
                                {"may be used"});
    EXPECT_NO_THROW(LuBatch(nullptr, pair.symbolic, pair.F.pattern, 1, batch.bytes()));
}

}  // namespace
}  // namespace ilux::test

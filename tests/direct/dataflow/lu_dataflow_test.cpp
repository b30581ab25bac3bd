#include "ilux/direct/dataflow/lu_dataflow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/elimination_bound.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/direct/worked_example.hpp"

namespace ilux::test {
namespace {

using Slot = DataflowProgram::Slot;
using Products = std::vector<std::pair<Slot, Slot>>;

template <class S>
class LuDataflowOf : public testing::Test {};
TYPED_TEST_SUITE(LuDataflowOf, BothScalars, ScalarName);

template <class S = double>
std::vector<S> run(const DataflowProgram& program, std::span<const NotDeduced<S>> input,
                   const NotDeduced<S>* a = nullptr)
{
    std::vector<S> v(program.slots());
    run_serial<S>(program, input, a, v);
    return v;
}

/// val in the order of the pattern.
template <class S = double>
std::vector<S> factor_values(const LuPattern& P, const DataflowProgram& program, std::span<const NotDeduced<S>> input)
{
    const auto     v = run<S>(program, input);
    std::vector<S> val(static_cast<std::size_t>(P.nnz()));
    for (std::size_t p = 0; p < val.size(); ++p) val[p] = v[program.slot_of[p]];
    return val;
}

/// Task of each slot; slots that no task computes have −1.
std::vector<Offset> task_of_slots(const DataflowProgram& program)
{
    std::vector<Offset> task_of(program.slots(), -1);
    for (std::size_t t = 0; t < program.task.size(); ++t)
        for (int r = 0; r < program.task[t].entries; ++r) task_of[program.task[t].slot + r] = static_cast<Offset>(t);
    return task_of;
}

/// What an entry subtracts, or its divisor's twin where `twin`, partial sums replaced by their products.
Products products_of(const DataflowProgram& program, const std::vector<Offset>& task_of, Slot slot, bool twin = false)
{
    const auto& task = program.task[static_cast<std::size_t>(task_of[slot])];
    const int   part = 1 << task.log2_part, lane = static_cast<int>(slot - task.slot) * part;
    const int   begin = twin ? task.steps : 0, end = twin ? task.steps + task.divisor_steps : task.steps;
    Products    found;
    const auto  add = [&](DataflowProgram::Operand o) {
        if (o.a == DataflowProgram::zero_slot && o.b == DataflowProgram::zero_slot) return;
        if (o.a != DataflowProgram::minus_one_slot || program.source[o.b] >= 0)
            return found.emplace_back(o.a, o.b), void();
        const Products inner = products_of(program, task_of, o.b);
        found.insert(found.end(), inner.begin(), inner.end());
    };
    for (int step = begin; step < end; ++step)
        for (int l = lane; l < lane + part; ++l) add(program.operand[32 * (task.first + step) + l]);
    for (const auto& late : program.late[twin ? program.divisor[slot] : slot]) add(late);
    std::ranges::sort(found);
    return found;
}

/// By definition: (r, k) subtracts l_ri u_ik for all i before both, and is divided by u_kk below the diagonal.
std::vector<Products> products_by_definition(const LuPattern& P, const DataflowProgram& program)
{
    std::vector<Products> all(static_cast<std::size_t>(P.nnz()));
    for (Index k = 0; k < P.n; ++k) {
        std::map<Index, Offset> at;
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) at[P.row[p]] = p;
        for (Offset q = P.col_ptr[k]; q < P.diag[k]; ++q)
            for (Offset s = P.diag[P.row[q]] + 1; s < P.col_ptr[P.row[q] + 1]; ++s)
                all[at.at(P.row[s])].emplace_back(program.slot_of[s], program.slot_of[q]);
    }
    for (Products& of_entry : all) std::ranges::sort(of_entry);
    return all;
}

template <class V>
bool same_bytes(const V& x, const V& y)
{
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0);
}

void expect_same_program(const DataflowProgram& x, const DataflowProgram& y)
{
    EXPECT_TRUE(same_bytes(x.task, y.task));
    EXPECT_TRUE(same_bytes(x.operand, y.operand));
    EXPECT_TRUE(same_bytes(x.late, y.late));
    EXPECT_TRUE(same_bytes(x.source, y.source));
    EXPECT_TRUE(same_bytes(x.scale, y.scale));
    EXPECT_TRUE(same_bytes(x.divisor, y.divisor));
    EXPECT_TRUE(same_bytes(x.slot_of, y.slot_of));
    EXPECT_EQ(x.depth, y.depth);
    EXPECT_EQ(x.products, y.products);
}

TEST(LuDataflow, IsTheSameProgramForAnyNumberOfThreads)
{
    std::vector<DataflowSystem> all = dataflow_systems();
    all.push_back(with_duplicates(gallery::poisson2d(30, 31)));  // enough entries for threads, under a sanitizer, too
    for (const DataflowSystem& system : all) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        const bool       many = P.multiply_adds() > 1e6;
        for (const TailColumns tail : {TailColumns{}, choose_dense_tail(P)}) {
            const DataflowProgram one = factor_dataflow(P, tail, Cpu(1));
            for (const int threads : {2, 3, 8})
                if (!many || threads == 3) expect_same_program(factor_dataflow(P, tail, Cpu(threads)), one);
        }
    }
}

TEST(LuDataflow, OfTheWorkedExampleAreItsFactors)
{
    const CsrMatrix<double> A = worked_example();
    const LuFactors<>       F = gilbert_peierls(analysed(A), A.val());
    EXPECT_TRUE(identical(factor_values(*F.pattern, factor_dataflow(*F.pattern), A.val()), F.val));
}

TEST(LuDataflow, SubtractEveryProductOnceAndDivideAsTheDefinitionSays)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        if (P.n > 1000) continue;  // the next test adds them up
        const DataflowProgram program = factor_dataflow(P);
        const auto            expected = products_by_definition(P, program);
        const auto            task_of = task_of_slots(program);
        for (Index k = 0; k < P.n; ++k)
            for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) {
                const Slot slot = program.slot_of[p];
                Products   found = products_of(program, task_of, slot);
                std::erase_if(found,
                              [&](auto ab) { return ab.first == DataflowProgram::minus_one_slot; });  // inputs added
                ASSERT_EQ(found, expected[p]) << "column " << k << ", row " << P.row[p];
                const auto& task = program.task[static_cast<std::size_t>(task_of[slot])];
                if (p > P.diag[k]) {
                    EXPECT_EQ(program.divisor[slot], program.slot_of[P.diag[k]]);
                }
                if (task.divide == DataflowProgram::by_twin) {
                    ASSERT_GT(p, P.diag[k]);
                    Products twin = products_of(program, task_of, slot, true);
                    std::erase_if(twin, [&](auto ab) { return ab.first == DataflowProgram::minus_one_slot; });
                    ASSERT_EQ(twin, expected[P.diag[k]]);
                }
            }
    }
}

TEST(LuDataflow, ReadOnlyWhatEarlierTasksComputed)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const DataflowProgram program = factor_dataflow(*system.F.pattern);
        const auto            task_of = task_of_slots(program);
        for (std::size_t t = 0; t < program.task.size(); ++t) {
            const auto& task = program.task[t];
            const auto  before = [&](DataflowProgram::Operand o) {
                return task_of[o.a] < static_cast<Offset>(t) && task_of[o.b] < static_cast<Offset>(t);
            };
            for (std::size_t o = 32 * std::size_t{task.first};
                 o < 32 * (std::size_t{task.first} + task.steps + task.divisor_steps); ++o)
                ASSERT_TRUE(before(program.operand[o])) << "task " << t;
            for (Slot slot = task.slot; slot < task.slot + task.entries; ++slot)
                ASSERT_TRUE(before(program.late[slot][0]) && before(program.late[slot][1])) << "task " << t;
            if (task.pilot >= 0) {
                ASSERT_LT(task_of[task.pilot], static_cast<Offset>(t));
            }
            ASSERT_LE(task.steps + task.divisor_steps, DataflowProgram::max_steps);
            ASSERT_LE(task.entries << task.log2_part, 32);
        }
    }
}

TYPED_TEST(LuDataflowOf, ReproduceTheMatrixWithinTheBoundOfElimination)
{
    using S = TypeParam;
    for (const SystemOf<S>& system : systems_of<S>(dataflow_systems())) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        expect_bound_of_elimination<S>(P, factor_values<S>(P, factor_dataflow(P), system.A.val), system.A.val);
    }
}

TEST(LuDataflow, HaveTheBitsOfRefactorSerialWhereSumsAreShort)
{
    const CsrMatrix<double> A = gallery::tridiagonal({.n = 500});
    LuFactors<>             F = gilbert_peierls(analysed(A), A.val());
    refactor_serial(A.val(), F);
    EXPECT_TRUE(identical(factor_values(*F.pattern, factor_dataflow(*F.pattern), A.val()), F.val));
}

TEST(LuDataflow, AreAsDeepAsTheColumnsAndNoDeeperForHubs)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        if (system.name != "circuit" && system.name != "mesh" && system.name != "full") continue;
        SCOPED_TRACE(system.name);
        const LuPattern&   P = *system.F.pattern;
        std::vector<Index> level(P.n, 0);
        Index              depth = 0;
        for (Index k = 0; k < P.n; ++k) {
            for (Offset q = P.col_ptr[k]; q < P.diag[k]; ++q)
                if (P.lower_count(P.row[q]) > 0) level[k] = std::max(level[k], level[P.row[q]] + 1);
            depth = std::max(depth, level[k] + 1);
        }
        const DataflowProgram program = factor_dataflow(P);
        EXPECT_GE(program.depth, depth);
        EXPECT_LE(program.depth, depth + 2 + depth / 10);
    }
}

TYPED_TEST(LuDataflowOf, SolveWithAAndItsTranspose)
{
    using S = TypeParam;
    for (const SystemOf<S>& system : systems_of<S>(dataflow_systems())) {
        SCOPED_TRACE(system.name);
        const LuPattern&      P = *system.F.pattern;
        const DataflowProgram factor = factor_dataflow(P);
        const auto            v = run<S>(factor, system.A.val);
        const auto            b = random_numbers<S>(P.n, 11);
        for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
            const SolveDataflow solve = solve_dataflow(P, factor, transpose);
            const auto          s = run<S>(solve.dataflow, b, v.data());
            std::vector<S>      x(P.n);
            for (std::size_t slot = 0; slot < s.size(); ++slot)
                if (solve.out_index[slot] >= 0) x[solve.out_index[slot]] = solve.out_scale[slot] * s[slot];
            EXPECT_LE(componentwise_error<S>(system.view(), x, b, transpose == Transpose::yes), 1e-12);
        }
    }
}

}  // namespace
}  // namespace ilux::test

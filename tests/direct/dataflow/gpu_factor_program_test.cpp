#include "ilux/direct/dataflow/gpu_factor_program.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/direct/lu/gpu_entry_refactor.hpp"
#include "ilux/tests/direct/dataflow/tail_systems.hpp"
#include "ilux/tests/direct/pattern_systems.hpp"

namespace ilux::test {
namespace {

template <class T>
bool same_on_device(Gpu& gpu, const T* device, const UnsetVector<T>& host)
{
    std::vector<T> found(host.size());
    download<T>(gpu, DeviceSpan<const T>(device, host.size()), found);
    return host.empty() || std::memcmp(found.data(), host.data(), host.size() * sizeof(T)) == 0;
}

void expect_same_program(Gpu& gpu, const DataflowView& device, const DataflowProgram& host)
{
    ASSERT_EQ(device.task_count, static_cast<Index>(host.task.size()));
    EXPECT_TRUE(same_on_device(gpu, device.task, host.task));
    EXPECT_TRUE(same_on_device(gpu, device.operand, host.operand));
    EXPECT_TRUE(same_on_device(gpu, device.late, host.late));
    EXPECT_TRUE(same_on_device(gpu, device.source, host.source));
    EXPECT_TRUE(same_on_device(gpu, device.scale, host.scale));
    EXPECT_TRUE(same_on_device(gpu, device.divisor, host.divisor));
}

constexpr std::size_t unlimited = ~std::size_t{0};

std::optional<GpuFactorProgram> program_of(Gpu& gpu, const LuPattern& P, TailColumns tail, std::span<const Index> order,
                                           std::size_t most_bytes = unlimited)
{
    const EntryInputs  inputs = entry_inputs(P);
    const GpuLuPattern pattern(gpu, std::make_shared<const LuPattern>(P), inputs);
    return gpu_factor_program(gpu, pattern, inputs, tail, order, most_bytes);
}

void expect_program_of_host(Gpu& gpu, const LuPattern& P, TailColumns tail, std::span<const Index> order)
{
    const DataflowProgram host = factor_dataflow(P, tail);
    const auto            device = program_of(gpu, P, tail, order);
    ASSERT_TRUE(device);
    ASSERT_EQ(device->dataflow.slots(), host.slots());
    ASSERT_EQ(device->dataflow.bytes(), GpuDataflow(gpu, host).bytes());
    expect_same_program(gpu, device->dataflow.view(), host);
    for (std::size_t e = 0; e < device->slot_of.size(); ++e) ASSERT_EQ(device->slot_of[e], host.slot_of[e]) << e;
}

std::vector<Index> ascending(Index n)
{
    std::vector<Index> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

/// A dense matrix whose first row and column and diagonal are given `copies` times.
DataflowSystem repeated_inputs_and_long_sums(Index n, int copies)
{
    Entries A;
    A.n = n;
    A.ptr = {0};
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j)
            for (int k = 0; k < (i == 0 || j == 0 || i == j ? copies : 1); ++k) {
                A.col.push_back(j);
                A.val.push_back((i == j ? n : 1.0 / (1 + i + 2 * j)) / (k + 1));
            }
        A.ptr.push_back(static_cast<Offset>(A.col.size()));
    }
    auto F = gilbert_peierls(analyse({A.n, A.ptr, A.col, A.val, MatrixLayout::rows}), A.val);
    return {"repeated, long sums, " + std::to_string(copies), std::move(A), std::move(F)};
}

TEST(GpuFactorProgram, IsTheProgramOfTheHostEveryTimeByAnyOrderOfColumns)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu  gpu;
    auto systems = pattern_systems();
    systems.push_back(repeated_inputs_and_long_sums(140, 2));
    systems.push_back(repeated_inputs_and_long_sums(140, 200));
    for (const DataflowSystem& system : systems) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        const LuLevels   levels = lu_levels(P, DependencyRule::left);
        auto             tails = forced_tails(P);
        tails.push_back(TailColumns{});
        tails.push_back(choose_dense_tail(P));
        for (const TailColumns tail : tails) expect_program_of_host(gpu, P, tail, ascending(P.n));
        for (int repeat = 0; repeat < repeats(5); ++repeat) expect_program_of_host(gpu, P, tails.back(), levels.column);
    }
}

TEST(GpuFactorProgram, IsTheProgramOfTheHostWhereThereIsMoreThanTheGpuHoldsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const CsrMatrix<double>& A : {gallery::mna_random({.n = 3000, .decades = 6}), gallery::power_grid({.n = 80}),
                                       gallery::poisson2d(120, 120)}) {
        const auto P = dataflow_system("", A).F.pattern;
        expect_program_of_host(gpu, *P, choose_dense_tail(*P), lu_levels(*P, DependencyRule::left).column);
    }
}

/// Two blocks of one row and, above the second, an entry that is given 300 times.
DataflowSystem often_repeated()
{
    Entries A;
    A.n = 2;
    A.ptr = {0, 301, 302};
    A.col.assign(301, 1);
    A.col[0] = 0;
    A.col.push_back(1);
    for (int k = 0; k < 302; ++k) A.val.push_back(1 + 1.0 / (k + 3));
    auto F = gilbert_peierls(analyse({A.n, A.ptr, A.col, A.val, MatrixLayout::rows}), A.val);
    return {"often repeated", std::move(A), std::move(F)};
}

TEST(GpuFactorProgram, AddsManyInputsOfAnEntryAsTheHostDoes)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                   gpu;
    const DataflowSystem  system = often_repeated();
    const LuPattern&      P = *system.F.pattern;
    const DataflowProgram host = factor_dataflow(P);
    const auto            device = program_of(gpu, P, {}, ascending(P.n));
    ASSERT_TRUE(device);
    ASSERT_EQ(P.nnz_F(), 1);
    const auto          input = on_device(gpu, system.A.val);
    auto                v = device->dataflow.workspace(gpu);
    std::vector<double> expected(host.slots());
    device->dataflow.run(gpu, input.data(), nullptr, v, nullptr);
    run_serial(host, system.A.val, nullptr, expected);
    const auto found = on_host(gpu, v);
    for (std::size_t e = 0; e < device->slot_of.size(); ++e)
        EXPECT_EQ(found[device->slot_of[e]], expected[host.slot_of[e]]) << e;
}

TEST(GpuFactorProgram, IsNotMadeOfMoreProductsThanSumsOfSumsHoldAndLeftIsTaken)
{
    ILUX_SKIP_WITHOUT_GPU();
    constexpr Offset chunk = DataflowProgram::chunk;
    Gpu              gpu;
    const auto       most = static_cast<Index>(chunk * chunk * chunk / 2 + chunk / 2);
    for (const Index products : {most, most + 1}) {
        const auto P = dataflow_system_as_it_stands("", arrow_down(products + 1, 3)).F.pattern;
        EXPECT_EQ(program_of(gpu, *P, {}, ascending(P->n)).has_value(), products == most);
        const GpuEntryRefactor<> refactor(gpu, P);
        EXPECT_EQ(refactor.method(), products == most ? "dataflow" : "left");
    }
}

TEST(GpuFactorProgram, IsNotMadeWhereMemoryWouldNotSuffice)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu        gpu;
    const auto P = dataflow_system("circuit", gallery::mna_random({.n = 400, .decades = 6})).F.pattern;
    const auto program = program_of(gpu, *P, {}, ascending(P->n));
    ASSERT_TRUE(program);
    const auto  before = device_use().bytes;
    std::size_t least = 0, most = 100 * program->dataflow.bytes();  // too little, and enough
    while (most - least > 1) {
        const std::size_t middle = least + (most - least) / 2;
        (program_of(gpu, *P, {}, ascending(P->n), middle) ? most : least) = middle;
    }
    EXPECT_GT(least, program->dataflow.bytes());
    EXPECT_LT(most, 10 * program->dataflow.bytes());
    EXPECT_FALSE(program_of(gpu, *P, {}, ascending(P->n), 0));
    EXPECT_EQ(device_use().bytes, before);
}

}  // namespace
}  // namespace ilux::test

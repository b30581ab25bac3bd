// Chunks made on the device, array by array beside those that the host makes.

#include <gtest/gtest.h>

#include "ilux/tests/sptrsv/systems.hpp"
#include "ilux/tests/support/checks.hpp"
#ifdef ILUX_WITH_CUDA  // chunked_analysis.cu is compiled in such builds only
#include "ilux/gallery/pde.hpp"
#include "ilux/sptrsv/gpu/chunked_analysis.hpp"

using namespace ilux;

namespace {

template <class V>
std::vector<V> on_host(Gpu& gpu, const V* device, std::size_t count)
{
    std::vector<V> host(device ? count : 0);
    if (device) download<V>(gpu, DeviceSpan<const V>(device, count), host);
    return host;
}

/// What stands on the device, in vectors.
template <class T>
struct Downloaded {
    std::vector<Index>     chunk_ptr, task_ptr, team, source, in_index, out_index;
    std::vector<ChunkTask> tasks;
    std::vector<T>         val;
    std::vector<double>    in_scale, out_scale, inv_diag;

    Downloaded(Gpu& gpu, const DeviceChunks<T>& made)
    {
        const auto& v = made.view;
        chunk_ptr = on_host(gpu, v.chunk_ptr, made.chunks + std::size_t{1});
        task_ptr = on_host(gpu, v.task_ptr, made.chunks + std::size_t{1});
        team = on_host(gpu, v.team, made.chunks);
        if (made.chunks == 0) return;
        tasks = on_host(gpu, v.tasks, task_ptr.back());
        const std::size_t n = chunk_ptr.back(), steps = tasks.back().entries + std::size_t(tasks.back().steps);
        source = on_host(gpu, v.source, 32 * steps);
        val = on_host(gpu, v.val, 32 * steps);
        in_index = on_host(gpu, v.frame.in_index, n);
        out_index = on_host(gpu, v.frame.out_index, n);
        in_scale = on_host(gpu, v.frame.in_scale, n);
        out_scale = on_host(gpu, v.frame.out_scale, n);
        inv_diag = on_host(gpu, v.frame.inv_diag, n);
    }
};

/// A stop at the first difference, for arrays are long.
template <class V>
void expect_equal(const std::vector<V>& device, const std::vector<V>& host, const char* name)
{
    ASSERT_EQ(device.size(), host.size()) << name;
    for (std::size_t k = 0; k < host.size(); ++k) ASSERT_TRUE(device[k] == host[k]) << name << '[' << k << ']';
}

template <class T>
void expect_twins_as_tuned(Gpu& gpu, const ForwardSystem<T>& system, const ChunkedTuning& tuning)
{
    const auto          device = analyse_chunks(gpu, system, tuning, LayoutMaker::device);
    const auto          host = analyse_chunks(gpu, system, tuning, LayoutMaker::host);
    const Downloaded<T> d(gpu, device), h(gpu, host);
    EXPECT_EQ(device.chunks, host.chunks);
    EXPECT_EQ(device.slots, host.slots);
    EXPECT_EQ(device.group, host.group);
    EXPECT_EQ(device.shared_bytes, host.shared_bytes);
    EXPECT_EQ(device.facts.depth, host.facts.depth);
    EXPECT_EQ(device.facts.longest_row, host.facts.longest_row);
    expect_equal(d.chunk_ptr, h.chunk_ptr, "chunk_ptr");
    expect_equal(d.task_ptr, h.task_ptr, "task_ptr");
    expect_equal(d.team, h.team, "team");
    expect_equal(d.tasks, h.tasks, "tasks");
    expect_equal(d.in_index, h.in_index, "in_index");
    expect_equal(d.out_index, h.out_index, "out_index");
    expect_equal(d.in_scale, h.in_scale, "in_scale");
    expect_equal(d.out_scale, h.out_scale, "out_scale");
    expect_equal(d.inv_diag, h.inv_diag, "inv_diag");
    expect_equal(d.source, h.source, "source");
    expect_equal(d.val, h.val, "val");
}

/// Levels found by the host where rows are long, and by the device.
template <class T>
void expect_twins(Gpu& gpu, const ForwardSystem<T>& system, ChunkedTuning tuning)
{
    expect_twins_as_tuned(gpu, system, tuning);
    tuning.host_levels = 0;
    expect_twins_as_tuned(gpu, system, tuning);
}

void expect_twins_of(Gpu& gpu, const CsrMatrix<double>& L, const ChunkedTuning& tuning)
{
    expect_twins(gpu, forward_system<double>(L, Triangle::lower, Diagonal::unit), tuning);
}

/// The strictly lower part, as values of an ILU(0) would fill it.
CsrMatrix<double> lower_part(const CsrMatrix<double>& A)
{
    return test::lower_from(A.rows(), [&](Index i) {
        std::vector<Index> columns;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1] && A.col()[p] < i; ++p) columns.push_back(A.col()[p]);
        return columns;
    });
}

std::vector<ChunkedTuning> chunked_tunings()
{
    return {{},
            {.chunks = 1},
            {.chunks = 7, .least_rows = 8},
            {.chunks = 200, .least_rows = 1},
            {.chunks = 3, .shared_bytes = 4 << 10},  // halved
            {.chunks = 1, .shared_bytes = 256},      // often
            {.chunks = 1, .shared_bytes = 1},        // to single rows
            {.chunks = 11, .least_rows = 4, .longest = 9, .segment = 4}};
}

}  // namespace

TEST(GpuChunked, OrdersRandomSystemsAsTheHostDoes)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (Index n : {0, 1, 2, 31, 32, 33, 1000, 20000})
        for (Index per_row : {0, 1, 3, 40})
            for (const ChunkedTuning& tuning : chunked_tunings()) {
                SCOPED_TRACE(testing::Message() << "n = " << n << ", per row " << per_row << ", chunks "
                                                << tuning.chunks << ", shared " << tuning.shared_bytes);
                const auto L = test::random_triangle(n, per_row, {Triangle::lower, Diagonal::unit}, n + per_row);
                expect_twins_of(gpu, L, tuning);
                if (testing::Test::HasFailure()) return;
            }
}

TEST(GpuChunked, OrdersGridsChainsDiagonalsAndLongRowsAsTheHostDoes)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const ChunkedTuning& tuning : {ChunkedTuning{}, ChunkedTuning{.chunks = 3, .shared_bytes = 24 << 10}}) {
        expect_twins_of(gpu, lower_part(gallery::poisson2d({.n = 150})), tuning);
        expect_twins_of(gpu, lower_part(gallery::convdiff3d({.n = 32})), tuning);
        expect_twins_of(gpu,
                        test::lower_from(50000, [](Index i) { return i ? std::vector{i - 1} : std::vector<Index>(); }),
                        tuning);
        expect_twins_of(gpu, test::lower_from(100000, [](Index) { return std::vector<Index>(); }), tuning);
        expect_twins_of(gpu,
                        test::lower_from(3000,
                                         [](Index i) {  // long rows, short ones, and one that reads all
                                             if (i % 500 == 499 || i == 2999) return test::identity(i);
                                             return i ? std::vector{i / 2} : std::vector<Index>();
                                         }),
                        tuning);
        expect_twins_of(gpu,
                        test::lower_from(100001,
                                         [](Index i) { return i < 100000 ? std::vector<Index>() : test::identity(i); }),
                        tuning);
    }
}

TEST(GpuChunked, OrdersRowsAsLongAsItsLevelSearchCanCountAsTheHostDoes)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (Index longest : {32766, 32767, 32768})  // the last one is left to the host
        for (Index chunks : {1, 2})
            expect_twins_of(gpu,
                            test::lower_from(40000,
                                             [&](Index i) {
                                                 return i == 39999 ? test::identity(longest)
                                                        : i % 100  ? std::vector{i - 1}
                                                                   : std::vector<Index>();
                                             }),
                            {.chunks = chunks, .longest = 100000});
}

TEST(GpuChunked, GivesUpWhereLevelsAreWideAndTellsThem)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu        gpu;
    const auto wide = test::lower_from(40000, [](Index i) {  // two levels
        return i <= 20000 ? std::vector<Index>() : std::vector{i - 20001, i - 20000};
    });
    const auto deep = lower_part(gallery::poisson2d({.n = 100}));
    for (const auto* L : {&wide, &deep}) {
        const auto system = forward_system<double>(*L, Triangle::lower, Diagonal::unit);
        const auto made = analyse_chunks(gpu, system, {}, LayoutMaker::device, WideLevels::give_up);
        const bool given_up = L == &wide;
        EXPECT_EQ(choose_engine(made.facts) != GpuSpTrsvEngine::chunked, given_up);
        EXPECT_EQ(made.chunks == 0, given_up);
        EXPECT_EQ(made.level, given_up ? levels(*L) : std::vector<Index>());
    }
}

TEST(GpuChunked, CarriesFramesAndPivotsAndSingleValuesAsTheHostDoes)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const auto& shape : test::shapes())
        for (const ChunkedTuning& tuning : chunked_tunings()) {
            const auto A = test::random_triangle(3000, 12, shape, 5);
            const auto frame = test::random_frame(3000, 6);
            expect_twins(gpu, forward_system<double>(A, shape.triangle, shape.diagonal, frame), tuning);
            expect_twins(gpu, forward_system<float>(A, shape.triangle, shape.diagonal, frame), tuning);
            expect_twins(gpu, forward_system<float>(A, shape.triangle, shape.diagonal, {.out_scale = frame.out_scale}),
                         tuning);
        }
}

TEST(GpuChunked, FreesWhatTheAnalysisTook)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu        gpu;
    const auto before = device_use().bytes;
    const auto L = lower_part(gallery::poisson2d({.n = 100}));
    {
        const auto made = analyse_chunks(gpu, forward_system<double>(L, Triangle::lower, Diagonal::unit), {});
        EXPECT_EQ(device_use().bytes, before + made.arrays.bytes());
        EXPECT_GT(made.seconds.upload, 0);
        EXPECT_GT(made.seconds.device, 0);
    }
    EXPECT_EQ(device_use().bytes, before);
}
#endif

// The arrays of the rounds, and A as their first matrix.

#include <cub/device/device_select.cuh>

#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux::rounds {
namespace {

using cuda::check;

template <class V>
__global__ void take_matrix(Index n, const Offset* row_ptr, Offset* start, Index* length, Index* active,
                            RowArrays<V> at, Index* column)
{
    const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    start[i] = row_ptr[i];
    length[i] = static_cast<Index>(row_ptr[i + 1] - row_ptr[i]);
    active[i] = i;
    at.scale[i] = {1, 0};
    at.row_first[i] = at.col_first[i] = at.row_fold[i] = at.col_fold[i] = 1;
    column[i] = i;
}

template <class V>
__global__ void take_test_vectors(Index n, const double* t, Index count, RowArrays<V> at)
{
    const Index i = thread_in_grid();
    if (i >= n) return;
    const double* row = t + static_cast<std::size_t>(i) * count;
    double        sum = 0;
    for (Index c = 0; c < count; ++c) sum += row[c] * row[c];
    at.scale[i].t = count == 1 ? row[0] : sqrt(sum);
}

}  // namespace

template <Scalar S>
RoundsState<S>::RoundsState(Gpu& gpu, const DeviceCsr<S>& A) : n(A.rows()), active_count(A.rows()), nnz(A.nnz())
{
    gpu.make_current();
    const auto rows = static_cast<std::size_t>(n);
    check(cub::DeviceSelect::Flagged(nullptr, scratch_bytes, static_cast<Index*>(nullptr), static_cast<Index*>(nullptr),
                                     static_cast<Index*>(nullptr), static_cast<Index*>(nullptr), n, cuda::stream(gpu)),
          "cub::DeviceSelect");
    for (int k : {0, 1}) {
        arrays.room(rows, start[k]);
        arrays.room(rows, length[k]);
        arrays.room(rows, active[k]);
        arrays.room(rows, waiting[k]);
        arrays.room(rows, watching[k]);
        arrays.room(rows, fresh[k]);
    }
    for (auto& rows_of_bin : bin) arrays.room(rows, rows_of_bin);
    for (double** a : {&at.row_scale, &at.col_scale, &at.row_first, &at.col_first, &at.row_fold, &at.col_fold,
                       &at.row_largest, &at.spare})
        arrays.room(rows, *a);
    for (V** a : {&at.diagonal, &at.y, &at.z, &pivot}) arrays.room(rows, *a);
    for (FixedOf<V>** a : {&at.w_L, &at.w_U}) arrays.room(rows, *a);
    for (long long** a : {&at.room, &at.used, &at.used_next}) arrays.room(rows, *a);
    for (Status** a : {&at.col_largest, &at.priority, &at.status, &at.first}) arrays.room(rows, *a);
    arrays.room(rows, at.L_start);
    arrays.room(rows, at.pivot);
    arrays.room(rows, at.scale);
    for (Index** a : {&at.in_level, &at.col_degree, &at.blocker, &at.doomed, &at.beaten, &at.L_length, &at.L_total,
                      &at.place, &pivots, &number, &column})
        arrays.room(rows, *a);
    arrays.room(1, count);
    arrays.room(scratch_bytes + 1, scratch);
    arrays.upload(gpu);

    entries[0] = Entries<V>(static_cast<std::size_t>(nnz));
    copy_device(gpu, A.col().data(), entries[0].col);
    copy_device(gpu, cuda::as_values(A.val().data()), entries[0].val);
    if (n == 0) return;
    launch(gpu, take_matrix<V>, n, n, A.row_ptr().data(), start[0], length[0], active[0], at, column);
}

template <Scalar S>
void RoundsState<S>::take_test_vectors(Gpu& gpu, std::span<const double> t)
{
    if (n == 0) return;
    const auto count = static_cast<Index>(t.size() / static_cast<std::size_t>(n));
    test_vectors = DeviceBuffer<double>(t.size());
    upload(gpu, t, test_vectors);
    launch(gpu, rounds::take_test_vectors<V>, n, n, test_vectors.data(), count, at);
    at.vectors = test_vectors.data();
    at.vector_count = count > 1 ? count : 0;
}

template <Scalar S>
Counters RoundsState<S>::read(Gpu& gpu) const
{
    Counters host;
    detail::download_bytes(gpu, count, &host, sizeof host);
    return host;
}

template <Scalar S>
void RoundsState<S>::clear(Gpu& gpu)
{
    check(cudaMemsetAsync(count, 0, sizeof(Counters), cuda::stream(gpu)), "cudaMemsetAsync");
}

template <Scalar S>
void RoundsState<S>::turn(Index rest)
{
    now ^= 1;
    active_count = rest;
}

#define ILUX_INSTANTIATE(S) template struct RoundsState<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds

// Products of sparse matrices and rows chosen from one, on a device.

#include "ilux/precond/coarse_steps/products.hpp"

#include <optional>
#include <vector>

#include "ilux/base/gpu/by_key.hpp"
#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/coarse_steps/root_rules.hpp"
#include "ilux/precond/coarse_steps/device_rows.hpp"
#include "ilux/precond/coarse_steps/smoothing.hpp"

namespace ilux {
namespace {

using coarse::DeviceRows;
using coarse::SumOfProduct;
using rounds::launch;
using rounds::launch_tiles;
using rounds::thread_in_grid;
using rounds::Tile;
using rounds::tile_threads;

constexpr int classes = 5;         // of tables: 64, 256, 1024, 4096 slots, and the largest
constexpr int terms_an_entry = 4;  // of a product, about: a row whose table was too small gets the next one

/// Rows by the table that they need.
struct Lists {
    Index* rows[classes];
    Index* count;  ///< classes + 1, the last of rows that are too wide for any
};
template <class V>
__host__ __device__ constexpr int slots_of(int which)
{
    return which < 4 ? 64 << (2 * which) : rounds::largest_table<V>;
}
template <class V>
__device__ int table_for(Offset entries)
{
    int which = 0;
    while (which < classes - 1 && 4 * entries > Offset{3} * slots_of<V>(which)) ++which;
    return which;
}

__device__ void append(const Lists& lists, int which, Index r)
{
    if (which == classes) atomicAdd(lists.count + which, 1);
    else rounds::append<classes>(r, which, lists.rows, lists.count);
}

template <class V>
__global__ void list_by_terms(Index rows, SumOfProduct<V> sum, Lists lists)
{
    const Index r = thread_in_grid();
    if (r < rows) append(lists, table_for<V>(sum.terms(r) / terms_an_entry), r);
}

template <class V>
__global__ void list_by_length(Index rows, const Offset* ptr, Lists lists)
{
    const Index r = thread_in_grid();
    if (r < rows) append(lists, table_for<V>(ptr[r + 1] - ptr[r]), r);
}

/// Where rows of the result go; no columns while their lengths are counted.
template <class V>
struct Result {
    Offset* ptr;  ///< of a row r its length at r + 1, or where it begins at r
    Index*  col;
    V*      val;
};

/// Rows of one list. A row for which the table is too small goes to the next list.
template <class Group, int slots, int threads, class V>
__global__ void __launch_bounds__(threads) form(SumOfProduct<V> sum, int which, Lists lists, Index count, Result<V> to)
{
    extern __shared__ double2 memory[];
    const Group               group;
    const long                at = Group::in_grid();
    const bool                is = at < count;
    const Index               r = is ? lists.rows[which][at] : 0;
    rounds::Table<V, slots>   table(memory, Group::in_block(), Group::per_block);
    const bool                fits = coarse::sum_row<Group, slots, V>(group, sum, is, r, table);
    if (!is) return;
    const Index entries = *table.count;
    if (to.col == nullptr) {
        if (group.lane() != 0) return;
        if (fits) to.ptr[r + 1] = entries;
        else append(lists, which + 1, r);
        return;
    }
    for (Index e = group.lane(); e < entries; e += Group::size) {
        const int   s = table.list[e];
        const Index j = table.col[s];
        Index       rank = 0;
        for (Index other = 0; other < entries; ++other) rank += table.col[table.list[other]] < j;
        to.col[to.ptr[r] + rank] = j;
        to.val[to.ptr[r] + rank] = table.val[s];
    }
}

template <class Group, int slots, int threads, class V>
bool form_list(Gpu& gpu, const SumOfProduct<V>& sum, int which, const Lists& lists, Index count, const Result<V>& to)
{
    constexpr std::size_t bytes = Group::per_block * rounds::Table<V, slots>::bytes;
    if (count == 0) return true;
    if (bytes + cuda::reserved_shared > static_cast<std::size_t>(gpu.state().shared_bytes)) return false;
    const auto kernel = form<Group, slots, threads, V>;
    cuda::allow_shared(gpu, kernel);
    const unsigned blocks = rounds::blocks_for(count, Group::per_block);
    kernel<<<blocks, threads, bytes, cuda::stream(gpu)>>>(sum, which, lists, count, to);
    cuda::check_launch("form");
    return true;
}

/// @return whether the device has room for such tables
template <class V>
bool form_class(Gpu& gpu, const SumOfProduct<V>& sum, int which, const Lists& lists, Index count, const Result<V>& to)
{
    switch (which) {
        case 0:
            return form_list<Tile<8>, 64, tile_threads>(gpu, sum, which, lists, count, to);
        case 1:
            return form_list<Tile<16>, 256, tile_threads>(gpu, sum, which, lists, count, to);
        case 2:
            return form_list<Tile<32>, 1024, tile_threads>(gpu, sum, which, lists, count, to);
        case 3:
            return form_list<rounds::BlockGroup<256>, 4096, 256>(gpu, sum, which, lists, count, to);
        default:
            return form_list<rounds::BlockGroup<512>, rounds::largest_table<V>, 512>(gpu, sum, which, lists, count, to);
    }
}

/// The lists of one matrix in device memory.
class RowLists {
public:
    explicit RowLists(Index rows) : rows_(static_cast<std::size_t>(rows) * classes), count_(classes + 1)
    {
        for (int c = 0; c < classes; ++c) lists_.rows[c] = rows_.data() + static_cast<std::size_t>(rows) * c;
        lists_.count = count_.data();
    }
    const Lists&       lists() const { return lists_; }
    std::vector<Index> counts(Gpu& gpu) const { return on_host<Index>(gpu, count_); }
    void               clear(Gpu& gpu)
    {
        cuda::check(cudaMemsetAsync(count_.data(), 0, count_.size() * sizeof(Index), cuda::stream(gpu)),
                    "cudaMemsetAsync");
    }

private:
    DeviceBuffer<Index> rows_, count_;
    Lists               lists_;
};

/// C + diag(f) A B by tables. @return nothing where a row is too wide for them
template <class T, class V = cuda::Value<T>>
std::optional<DeviceCsr<T>> by_tables(Gpu& gpu, Index rows, Index cols, const SumOfProduct<V>& sum)
{
    DeviceBuffer<Offset> ptr(rows + std::size_t{1});
    RowLists             lists(rows);
    launch(gpu, list_by_terms<V>, rows, rows, sum, lists.lists());
    for (int c = 0; c < classes; ++c)
        if (!form_class<V>(gpu, sum, c, lists.lists(), lists.counts(gpu)[c], {ptr.data(), nullptr, nullptr})) return {};
    if (lists.counts(gpu)[classes] > 0) return {};
    const Offset        nnz = add_up(gpu, ptr);
    DeviceBuffer<Index> col(static_cast<std::size_t>(nnz));
    DeviceBuffer<T>     val(static_cast<std::size_t>(nnz));
    lists.clear(gpu);
    launch(gpu, list_by_length<V>, rows, rows, ptr.data(), lists.lists());
    const auto counts = lists.counts(gpu);
    for (int c = 0; c < classes; ++c)
        if (!form_class<V>(gpu, sum, c, lists.lists(), counts[c],
                           {ptr.data(), col.data(), cuda::as_values(val.data())}))
            return {};
    return DeviceCsr<T>(gpu, cols, std::move(ptr), std::move(col), std::move(val));
}

template <class V>
__device__ double tie_of(V value)
{
    return roots::rounded_tie(rounds::modulus(value));
}

/// A thread a row; the rule chooses entries.
template <class V, class Rule>
__global__ void count_chosen(Index rows, DeviceRows<V> A, Rule rule, Offset* ptr)
{
    const Index i = thread_in_grid();
    if (i >= rows) return;
    const double bound = rule.bound(A, i);
    Offset       count = 0;
    for (Offset p = A.ptr[i]; p < A.ptr[i + 1]; ++p) count += A.col[p] != i && tie_of(A.val[p]) > bound;
    ptr[i + 1] = count;
}
template <class V, class Rule>
__global__ void take_chosen(Index rows, DeviceRows<V> A, Rule rule, const Offset* ptr, Index* col, double* val)
{
    const Index i = thread_in_grid();
    if (i >= rows) return;
    const double bound = rule.bound(A, i);
    Offset       to = ptr[i];
    for (Offset p = A.ptr[i]; p < A.ptr[i + 1]; ++p) {
        const double size = tie_of(A.val[p]);
        if (A.col[p] == i || !(size > bound)) continue;
        col[to] = A.col[p];
        val[to++] = size;
    }
}

/// Magnitudes above a bound of their row, off the diagonal.
template <class T, class Rule>
DeviceCsr<double> chosen_magnitudes(Gpu& gpu, const DeviceCsr<T>& A, const Rule& rule)
{
    using V = cuda::Value<T>;
    gpu.make_current();
    const Index          rows = A.rows();
    DeviceBuffer<Offset> ptr(rows + std::size_t{1});
    launch(gpu, count_chosen<V, Rule>, rows, rows, coarse::rows_of(A), rule, ptr.data());
    const Offset         nnz = add_up(gpu, ptr);
    DeviceBuffer<Index>  col(static_cast<std::size_t>(nnz));
    DeviceBuffer<double> val(static_cast<std::size_t>(nnz));
    launch(gpu, take_chosen<V, Rule>, rows, rows, coarse::rows_of(A), rule, ptr.data(), col.data(), val.data());
    return DeviceCsr<double>(gpu, A.cols(), std::move(ptr), std::move(col), std::move(val));
}

struct AboveZero {
    template <class V>
    __device__ double bound(const DeviceRows<V>&, Index) const
    {
        return 0;
    }
};
struct AboveShare {
    double share;

    __device__ double bound(const DeviceRows<double>& F, Index i) const
    {
        double largest = 0;
        for (Offset p = F.ptr[i]; p < F.ptr[i + 1]; ++p)
            if (F.col[p] != i) largest = fmax(largest, tie_of(F.val[p]));
        return share * largest;
    }
};

/// −ω / d̂_i of every row.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) find_steps(Index rows, DeviceRows<V> A, V* step)
{
    const Tile<lanes> tile;
    const long        i = tile.in_grid();
    if (i >= rows) return;
    V      d{};
    double total = 0;
    for (Offset p = A.ptr[i] + tile.lane(); p < A.ptr[i + 1]; p += lanes) {
        total += rounds::modulus(A.val[p]);
        if (A.col[p] == i) d = A.val[p];
    }
    total = tile.sum(total);
    d = tile.sum(d);
    const double size = rounds::modulus(d), by = smoothing_step(size, total);
    if (tile.lane() == 0)
        step[i] = rounds::negated(size > 0 ? Divisor<V>(d)(cuda::from_real<V>(by * size)) : cuda::from_real<V>(by));
}

}  // namespace

template <class T>
DeviceCsr<double> magnitudes(Gpu& be, const DeviceCsr<T>& A)
{
    return chosen_magnitudes(be, A, AboveZero{});
}

DeviceCsr<double> strong(Gpu& be, const DeviceCsr<double>& F, double share)
{
    return chosen_magnitudes(be, F, AboveShare{share});
}

template <class T>
DeviceCsr<T> product(Gpu& be, const DeviceCsr<NotDeduced<T>>& A, const DeviceCsr<NotDeduced<T>>& B)
{
    be.make_current();
    const auto b = coarse::rows_of(B);
    auto       made = by_tables<T>(be, A.rows(), B.cols(), {coarse::rows_of(A), b, b, nullptr, false});
    if (made) return std::move(*made);
    Cpu host(1);
    return DeviceCsr<T>(be, product<T>(host, brought(be, A), brought(be, B)));
}

template <class T>
DeviceCsr<T> smoothed(Gpu& be, const DeviceCsr<NotDeduced<T>>& A, const DeviceCsr<NotDeduced<T>>& P)
{
    using V = cuda::Value<T>;
    be.make_current();
    DeviceBuffer<T> step(static_cast<std::size_t>(A.rows()));
    launch_tiles<8>(be, find_steps<8, V>, A.rows(), A.rows(), coarse::rows_of(A), cuda::as_values(step.data()));
    const auto p = coarse::rows_of(P);
    auto made = by_tables<T>(be, A.rows(), P.cols(), {coarse::rows_of(A), p, p, cuda::as_values(step.data()), true});
    if (made) return std::move(*made);
    Cpu host(1);
    return DeviceCsr<T>(be, smoothed<T>(host, brought(be, A), brought(be, P)));
}

template <class T>
DeviceCsr<T> adjoint(Gpu& be, const DeviceCsr<T>& A)
{
    DeviceRowArrays<T> made = adjoint_rows<T>(be, A.row_ptr(), A.col(), A.val(), A.cols());
    return DeviceCsr<T>(be, A.rows(), std::move(made.row_ptr), std::move(made.col), std::move(made.val));
}

#define ILUX_INSTANTIATE(T)                                                                 \
    template DeviceCsr<double> magnitudes(Gpu&, const DeviceCsr<T>&);                       \
    template DeviceCsr<T>      product<T>(Gpu&, const DeviceCsr<T>&, const DeviceCsr<T>&);  \
    template DeviceCsr<T>      smoothed<T>(Gpu&, const DeviceCsr<T>&, const DeviceCsr<T>&); \
    template DeviceCsr<T>      adjoint(Gpu&, const DeviceCsr<T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

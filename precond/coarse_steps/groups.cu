// Groups on a device.

#include "ilux/base/gpu/by_key.hpp"
#include "ilux/precond/coarse_steps/groups.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux {
namespace {

using rounds::launch;
using rounds::thread_in_grid;

__global__ void number_nodes(NodeNumbering nodes, Index* of, Offset* begin, Index* member)
{
    const Index node = thread_in_grid();
    if (node == 0) begin[0] = 0;
    if (node >= nodes.nodes()) return;
    const Offset first = Offset{node} * nodes.size;
    begin[node + 1] = first + nodes.size;
    for (Index k = 0; k < nodes.size; ++k) {
        member[first + k] = nodes.member(node, k);
        of[nodes.member(node, k)] = node;
    }
}

__global__ void compose(Index n, const Index* first, const Index* second, Index* of)
{
    const Index i = thread_in_grid();
    if (i < n) of[i] = first[i] >= 0 ? second[first[i]] : -1;
}

__global__ void count_groups(Index n, const Index* of, Offset* ptr)
{
    const Index i = thread_in_grid();
    if (i < n) ptr[i + 1] = of[i] >= 0;
}

__global__ void indicate(Index n, const Index* of, const Offset* ptr, Index* col, double* val)
{
    const Index i = thread_in_grid();
    if (i >= n || of[i] < 0) return;
    col[ptr[i]] = of[i];
    val[ptr[i]] = 1;
}

}  // namespace

Groups<Gpu> groups_of(Gpu& be, const NodeNumbering& nodes)
{
    be.make_current();
    const auto  n = static_cast<std::size_t>(nodes.n);
    Groups<Gpu> groups{DeviceBuffer<Index>(n), DeviceBuffer<Offset>(nodes.nodes() + std::size_t{1}),
                       DeviceBuffer<Index>(n)};
    launch(be, number_nodes, nodes.nodes(), nodes, groups.of.data(), groups.begin.data(), groups.member.data());
    return groups;
}

Groups<Gpu> grouped(Gpu& be, DeviceBuffer<Index> of, Index count)
{
    auto sorted = by_key<Index>(be, of, count);
    return {std::move(of), std::move(sorted.begin), std::move(sorted.item)};
}

Groups<Gpu> composed(Gpu& be, const Groups<Gpu>& first, const Groups<Gpu>& second)
{
    be.make_current();
    const Index         n = first.size();
    DeviceBuffer<Index> of(static_cast<std::size_t>(n));
    launch(be, compose, n, n, first.of.data(), second.of.data(), of.data());
    return grouped(be, std::move(of), second.count());
}

DeviceCsr<double> indicator(Gpu& be, const Groups<Gpu>& groups)
{
    be.make_current();
    const Index          n = groups.size();
    DeviceBuffer<Offset> ptr(n + std::size_t{1});
    launch(be, count_groups, n, n, groups.of.data(), ptr.data());
    const Offset         nnz = add_up(be, ptr);
    DeviceBuffer<Index>  col(static_cast<std::size_t>(nnz));
    DeviceBuffer<double> val(static_cast<std::size_t>(nnz));
    launch(be, indicate, n, n, groups.of.data(), ptr.data(), col.data(), val.data());
    return DeviceCsr<double>(be, groups.count(), std::move(ptr), std::move(col), std::move(val));
}

}  // namespace ilux

#include "ilux/precond/coarse_steps/groups.hpp"

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {

Groups<Cpu> groups_of(Cpu& be, const NodeNumbering& nodes)
{
    const auto  n = static_cast<std::size_t>(nodes.n);
    Groups<Cpu> groups{std::vector<Index>(n), std::vector<Offset>(nodes.nodes() + std::size_t{1}),
                       std::vector<Index>(n)};
    for_row_blocks(be, nodes.nodes(), [&](Index, Index begin, Index end, int) {
        for (Index node = begin; node < end; ++node) {
            const Offset first = Offset{node} * nodes.size;
            groups.begin[node + 1] = first + nodes.size;
            for (Index k = 0; k < nodes.size; ++k) {
                groups.member[first + k] = nodes.member(node, k);
                groups.of[nodes.member(node, k)] = node;
            }
        }
    });
    return groups;
}

Groups<Cpu> grouped(Cpu&, std::vector<Index> of, Index count)
{
    Groups<Cpu> groups{.of = std::move(of), .begin = std::vector<Offset>(count + std::size_t{1}, 0), .member = {}};
    for (const Index group : groups.of)
        if (group >= 0) ++groups.begin[group + 1];
    for (Index g = 0; g < count; ++g) groups.begin[g + 1] += groups.begin[g];
    groups.member.resize(groups.begin.back());
    std::vector<Offset> next(groups.begin.begin(), groups.begin.end() - 1);
    for (Index i = 0; i < groups.size(); ++i)
        if (groups.of[i] >= 0) groups.member[next[groups.of[i]]++] = i;
    return groups;
}

Groups<Cpu> composed(Cpu& be, const Groups<Cpu>& first, const Groups<Cpu>& second)
{
    std::vector<Index> of(first.of);
    for (Index& group : of)
        if (group >= 0) group = second.of[group];
    return grouped(be, std::move(of), second.count());
}

CsrMatrix<double> indicator(Cpu&, const Groups<Cpu>& groups)
{
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    for (const Index group : groups.of) {
        if (group >= 0) col.push_back(group);
        row_ptr.push_back(static_cast<Offset>(col.size()));
    }
    std::vector<double> ones(col.size(), 1.);
    return CsrMatrix<double>::from_sorted(groups.size(), groups.count(), std::move(row_ptr), std::move(col),
                                          std::move(ones));
}

Groups<Gpu> on_device(Gpu& gpu, const Groups<Cpu>& groups)
{
    return {on_device<Index>(gpu, groups.of), on_device<Offset>(gpu, groups.begin),
            on_device<Index>(gpu, groups.member)};
}

Groups<Cpu> without_empty(Cpu& be, Groups<Cpu> groups)
{
    std::vector<Index> number(groups.count() + std::size_t{1}, 0);
    for (Index g = 0; g < groups.count(); ++g) number[g + 1] = number[g] + (groups.begin[g + 1] > groups.begin[g]);
    const Index count = number.back();
    if (count == groups.count()) return groups;
    for (Index& g : groups.of) g = g < 0 ? g : number[g];
    return grouped(be, std::move(groups.of), count);
}

Groups<Gpu> without_empty(Gpu& gpu, Groups<Gpu> groups)
{
    Cpu host(1);
    return on_device(gpu, without_empty(host, on_host(gpu, groups)));
}

Groups<Cpu> on_host(Gpu& gpu, const Groups<Gpu>& groups)
{
    return {on_host<Index>(gpu, groups.of), on_host<Offset>(gpu, groups.begin), on_host<Index>(gpu, groups.member)};
}

}  // namespace ilux

#include "ilux/precond/coarse_steps/roots.hpp"

#include <algorithm>

#include "ilux/precond/coarse_steps/root_rules.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {
namespace {

using namespace roots;

TieRows rows_of(const CsrMatrix<double>& ties) { return {ties.row_ptr().data(), ties.col().data(), ties.val().data()}; }

template <class Do>
void for_nodes(Cpu& be, Index n, Do&& f)
{
    for_row_blocks(be, n, [&](Index, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) f(i);
    });
}

std::vector<Key> choose(Cpu& be, const Ties<Cpu>& ties, int distance)
{
    const Index      n = ties.there.rows();
    const TieRows    there = rows_of(ties.there), back = rows_of(ties.back);
    std::vector<Key> key(n), near(n), least(n);
    for (Index i = 0; i < n; ++i) key[i] = key_of(i);
    while (std::ranges::any_of(key, waits)) {
        for_nodes(be, n, [&](Index i) { near[i] = least_near(there, back, key.data(), i); });
        if (distance == 2) for_nodes(be, n, [&](Index i) { least[i] = least_near(there, back, near.data(), i); });
        const std::vector<Key>& by = distance == 2 ? least : near;
        for_nodes(be, n, [&](Index i) { key[i] = decided(key[i], by[i]); });
    }
    return key;
}

}  // namespace

Groups<Cpu> around_roots(Cpu& be, const Ties<Cpu>& ties, int distance, bool alone)
{
    const Index        n = ties.there.rows();
    const TieRows      there = rows_of(ties.there), back = rows_of(ties.back);
    const auto         key = choose(be, ties, distance);
    std::vector<Index> at_root(n, -1), near_root(n, -1), of(n, -1);
    Index              count = 0;
    for (Index i = 0; i < n; ++i) {
        const bool tied = there.ptr[i + 1] > there.ptr[i] || back.ptr[i + 1] > back.ptr[i];
        if (key[i] == root && (alone || tied)) at_root[i] = count++;
    }
    const auto join = [&](const std::vector<Index>& before, std::vector<Index>& after) {
        for_nodes(be, n,
                  [&](Index i) { after[i] = before[i] >= 0 ? before[i] : strongest(there, back, before.data(), i); });
    };
    join(at_root, near_root);
    join(near_root, of);
    return grouped(be, std::move(of), count);
}

}  // namespace ilux

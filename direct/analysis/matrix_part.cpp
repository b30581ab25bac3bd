#include "ilux/direct/analysis/matrix_part.hpp"

#include <algorithm>
#include <unordered_set>

#include "ilux/reorder/symmetric_graph.hpp"

namespace ilux {

MatrixPart::MatrixPart(const PatternView& A, Index seed, Index size, const NextUnknowns& next) : A_(A)
{
    const auto                dense = static_cast<Offset>(detail::hub_degree(A.n));
    std::unordered_set<Index> seen{seed};
    std::vector<Index>        columns;
    met_.push_back(seed);
    levels_.push_back(1);
    for (std::size_t k = 0; k < met_.size() && std::ssize(met_) < size; ++k) {
        if (std::ssize(met_) > levels_.back() && k == static_cast<std::size_t>(levels_.back()))
            levels_.push_back(this->size());
        const Index i = met_[k];
        if (next) next(i, columns);
        else columns.assign(A.col.begin() + A.row_ptr[i], A.col.begin() + A.row_ptr[i + 1]);
        for (const Index j : columns) {
            if (std::ssize(met_) == size) break;
            if (A.row_ptr[j + 1] - A.row_ptr[j] <= dense && seen.insert(j).second) met_.push_back(j);
        }
    }
    if (this->size() > levels_.back()) levels_.push_back(this->size());
}

double MatrixPart::radius(Index first) const
{
    ILUX_ASSERT(first <= size());
    const auto level = std::ranges::lower_bound(levels_, first) - levels_.begin();
    if (level == 0) return 0;
    const double before = levels_[level - 1];
    return double(level - 1) + (first - before) / (levels_[level] - before);
}

PartPattern MatrixPart::pattern(Index first) const
{
    PartPattern part;
    part.unknown.assign(met_.begin(), met_.begin() + first);
    std::ranges::sort(part.unknown);
    for (const Index v : part.unknown) {
        auto at = part.unknown.begin();
        for (Offset p = A_.row_ptr[v]; p < A_.row_ptr[v + 1]; ++p) {  // both ascend
            at = std::lower_bound(at, part.unknown.end(), A_.col[p]);
            if (at == part.unknown.end() || *at != A_.col[p]) continue;
            part.col.push_back(static_cast<Index>(at - part.unknown.begin()));
            part.source.push_back(p);
        }
        part.row_ptr.push_back(static_cast<Offset>(part.col.size()));
    }
    return part;
}

}  // namespace ilux

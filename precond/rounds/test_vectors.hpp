#pragma once
// Vectors that M should treat as A does: those that A takes to little, such as a constant or the motions of a rigid
// body.

#include <cmath>
#include <span>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

/// A row t_i for each of n unknowns: its values in all vectors. Refers to them.
class TestVectors {
public:
    /// @param by_rows  rows × vectors
    TestVectors(std::span<const double> by_rows, Index rows)
        : val_(by_rows), count_(rows > 0 ? static_cast<Index>(by_rows.size() / static_cast<std::size_t>(rows)) : 1)
    {}

    std::span<const double> values() const { return val_; }
    Index                   count() const { return count_; }
    /// ‖t_i‖
    double size(Index i) const { return count_ == 1 ? std::abs(val_[i]) : std::sqrt(dot(i, i)); }
    /// ⟨t_i, t_j⟩ / ‖t_i‖²: s_ij times it, on the diagonal in place of s_ij at j, changes S t least, in the sense of
    /// least squares; not at all where t is one vector.
    double weight(Index i, Index j) const { return count_ == 1 ? val_[j] / val_[i] : dot(i, j) / dot(i, i); }

private:
    double dot(Index i, Index j) const
    {
        const double* ti = val_.data() + static_cast<std::size_t>(i) * count_;
        const double* tj = val_.data() + static_cast<std::size_t>(j) * count_;
        double        sum = 0;
        for (Index c = 0; c < count_; ++c) sum += ti[c] * tj[c];
        return sum;
    }
    std::span<const double> val_;
    Index                   count_ = 1;
};

/// Rows `which` of `t`, in their order.
std::vector<double> picked_rows(std::span<const double> t, Index rows, std::span<const Index> which);

}  // namespace ilux

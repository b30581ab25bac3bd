#pragma once
// A sparse vector under construction, with dense look-up: what every row of a factor or Schur complement is formed in.

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

/// What is left of a sum below this share of its largest term is rounding noise.
inline constexpr double noise_level = 4 * std::numeric_limits<double>::epsilon();

/// Values at positions 0..n−1, most of them absent. start() empties it in O(1): a slot counts only while its stamp is
/// the current step.
template <class T>
class SparseAccumulator {
    struct Slot {
        T     value = 0;
        Index step = -1;
    };

public:
    explicit SparseAccumulator(Index n) : slot_(static_cast<std::size_t>(n)), index_(static_cast<std::size_t>(n)) {}

    /// @param step  ≥ 0, other than all before
    void start(Index step)
    {
        step_ = step;
        count_ = 0;
    }

    /// Adds with pointers and count held in registers; the object ends before anything else is asked of the vector.
    class Writer {
    public:
        explicit Writer(SparseAccumulator& to)
            : to_(to), slot_(to.slot_.data()), index_(to.index_.data()), step_(to.step_), count_(to.count_)
        {}
        ~Writer() { to_.count_ = count_; }
        Writer(const Writer&) = delete;
        Writer& operator=(const Writer&) = delete;

        void add(Index j, T x)
        {
            Slot& slot = slot_[j];
            if (slot.step == step_) {
                slot.value += x;
            } else {
                slot = {x, step_};
                index_[count_++] = j;
            }
        }

    private:
        SparseAccumulator& to_;
        Slot*              slot_;
        Index*             index_;
        const Index        step_;
        Index              count_;
    };

    std::span<Index>       index() { return {index_.data(), static_cast<std::size_t>(count_)}; }  ///< may be reordered
    std::span<const Index> index() const { return {index_.data(), static_cast<std::size_t>(count_)}; }
    bool                   has(Index j) const { return slot_[j].step == step_; }
    T                      operator[](Index j) const { return slot_[j].value; }
    T&                     operator[](Index j) { return slot_[j].value; }

    /// Takes out the positions for which gone(j).
    template <class Gone>
    void erase_if(Gone&& gone)
    {
        const auto rest = std::remove_if(index().begin(), index().end(), [&](Index j) {
            const bool out = gone(j);
            if (out) slot_[j].step = -1;
            return out;
        });
        count_ = static_cast<Index>(rest - index().begin());
    }

private:
    std::vector<Slot>  slot_;   // n
    std::vector<Index> index_;  // n; the first count_ are positions present
    Index              step_ = -1, count_ = 0;
};

}  // namespace ilux

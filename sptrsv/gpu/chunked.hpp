#pragma once
// Engine `chunked`: a block solves contiguous rows with its x in shared memory; internal to sptrsv/.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/sptrsv/gpu/chunked_analysis.hpp"
#include "ilux/sptrsv/gpu/renewed_values.hpp"

namespace ilux {

/// Inside a chunk a dependency costs a look into shared memory, about 0.1 µs, not a trip to L2 and back, 0.26 µs.
template <class T>
class ChunkedEngine {
public:
    using S = working_of<T>;
    /// Given up, it cannot solve: facts() say so.
    explicit ChunkedEngine(Gpu& gpu, const ForwardSystem<T>& system, WideLevels wide = WideLevels::go_on);

    SpTrsvFacts   facts() const { return facts_; }
    SpTrsvSeconds seconds() const { return seconds_; }
    /// The level of each row, for the engine that takes over; empty unless given up, or where long rows were split.
    std::vector<Index> take_level() { return std::move(level_); }
    std::size_t        bytes() const;
    std::size_t        workspace_bytes() const;
    void               prepare(Gpu& gpu, DeviceSpan<std::byte> work) const;
    void solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work, Index rhs = 1) const;
    EngineNumbers<T> numbers() { return numbers_; }

private:
    Index            chunks_ = 0;
    Index            slots_ = 0;
    int              group_ = 2;
    std::size_t      shared_bytes_ = 0;
    DeviceArrays     arrays_;
    ChunkedView<T>   view_;
    EngineNumbers<T> numbers_;
    SpTrsvFacts      facts_;
    SpTrsvSeconds    seconds_;

    std::vector<Index> level_;
};

}  // namespace ilux

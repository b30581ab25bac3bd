#pragma once
// Engine `chunked`: a block solves contiguous rows with its x in shared memory; internal to sptrsv/.

#include "ilux/base/gpu.hpp"
#include "ilux/sptrsv/chunked_analysis.hpp"

namespace ilux {

/// Inside a chunk a dependency costs a look into shared memory, about 0.1 µs, not a trip to L2 and back, 0.26 µs.
template <class T>
class ChunkedEngine {
public:
    ChunkedEngine(Gpu& gpu, const ForwardSystem<T>& system);

    SpTrsvFacts   facts() const { return facts_; }
    SpTrsvSeconds seconds() const { return seconds_; }
    std::size_t   bytes() const;
    std::size_t   workspace_bytes() const;
    void          prepare(Gpu& gpu, DeviceSpan<std::byte> work) const;
    void          solve(Gpu& gpu, DeviceSpan<const double> b, DeviceSpan<double> out, DeviceSpan<std::byte> work) const;

private:
    Index          chunks_ = 0;
    Index          slots_ = 0;
    int            group_ = 2;
    std::size_t    shared_bytes_ = 0;
    DeviceArrays   arrays_;
    ChunkedView<T> view_;
    SpTrsvFacts    facts_;
    SpTrsvSeconds  seconds_;
};

}  // namespace ilux

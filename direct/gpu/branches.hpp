#pragma once
// Streams beside another one. Only .cu files include this.

#include <memory>
#include <type_traits>
#include <vector>

#include "ilux/base/gpu/cuda.hpp"

namespace ilux::cuda {

/// Streams that leave another one at a point of it, and join it again: branches of a graph where that is captured.
class Branches {
public:
    explicit Branches(Index count)
    {
        if (count == 0) return;
        fork_ = new_event();
        for (Index s = 0; s < count; ++s) {
            cudaStream_t stream = nullptr;
            check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
            streams_.emplace_back(stream);
            joins_.push_back(new_event());
        }
    }

    cudaStream_t operator[](Index s) const { return streams_[s].get(); }
    void         fork(cudaStream_t from, Index count) const
    {
        if (count == 0) return;
        check(cudaEventRecord(fork_.get(), from), "cudaEventRecord");
        for (Index s = 0; s < count; ++s)
            check(cudaStreamWaitEvent(streams_[s].get(), fork_.get(), 0), "cudaStreamWaitEvent");
    }
    void join(cudaStream_t to, Index count) const
    {
        for (Index s = 0; s < count; ++s) {
            check(cudaEventRecord(joins_[s].get(), streams_[s].get()), "cudaEventRecord");
            check(cudaStreamWaitEvent(to, joins_[s].get(), 0), "cudaStreamWaitEvent");
        }
    }

private:
    struct Destroy {
        void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
        void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
    };
    using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy>;
    using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy>;

    static Event new_event()
    {
        cudaEvent_t event = nullptr;
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
        return Event(event);
    }

    Event               fork_;
    std::vector<Stream> streams_;
    std::vector<Event>  joins_;
};

}  // namespace ilux::cuda

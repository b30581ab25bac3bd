#pragma once
// CUDA graphs made of what a function enqueues. Only .cu files include this.

#include <memory>
#include <mutex>

#include "ilux/base/gpu/cuda.hpp"

namespace ilux::cuda {

/// Whether a capture is going on, inside which no graph can be launched.
inline bool capturing(cudaStream_t stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
}

/// What `work` enqueues on the stream of `gpu`, to be launched again by launch_graph; nothing runs now. Null where the
/// stream cannot be captured: the legacy default stream of a caller. `work` allocates nothing. One capture at a time.
template <class Work>
std::shared_ptr<void> capture_graph(Gpu& gpu, Work&& work)
{
    const auto stream = cuda::stream(gpu);
    if (stream == nullptr || stream == cudaStreamLegacy) return nullptr;
    const std::lock_guard alone(capture_or_wait());
    cudaGraph_t           graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    try {
        work();
    } catch (...) {  // the stream leaves its capture whatever happens
        cudaStreamEndCapture(stream, &graph);
        if (graph) cudaGraphDestroy(graph);
        cudaGetLastError();
        throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    cudaGraphExec_t   exec = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
    check(error, "cudaGraphInstantiate");
    return {exec, [](void* made) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(made)); }};
}

inline void launch_graph(Gpu& gpu, const std::shared_ptr<void>& graph)
{
    check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph.get()), stream(gpu)), "cudaGraphLaunch");
}

}  // namespace ilux::cuda

#include "ilux/base/gpu/gpu_graph.hpp"

#include "ilux/base/gpu/cuda_graph.hpp"

namespace ilux {

GpuGraph::GpuGraph(Gpu& gpu, std::function<void()> work) : graph_(cuda::capture_graph(gpu, work))
{
    if (!graph_) work_ = std::move(work);
}

void GpuGraph::launch(Gpu& gpu) const
{
    const cuda::Range range("graph");
    if (graph_) cuda::launch_graph(gpu, graph_);
    else if (work_) work_();
}

}  // namespace ilux

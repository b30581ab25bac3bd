#pragma once
// Launches of thread block clusters, and how many of them a GPU has room for. Only .cu files include this.

#include <algorithm>
#include <array>

#include "ilux/base/gpu/cuda.hpp"

namespace ilux::cuda {

/// Stays in place: its configuration points at itself.
struct ClusterLaunch {
    cudaLaunchAttribute size{};
    cudaLaunchConfig_t  config{};

    ClusterLaunch(unsigned groups, unsigned cluster, unsigned threads, cudaStream_t stream)
    {
        size.id = cudaLaunchAttributeClusterDimension;
        size.val.clusterDim = {cluster, 1, 1};
        config.gridDim = groups * cluster;
        config.blockDim = threads;
        config.stream = stream;
        config.attrs = &size;
        config.numAttrs = 1;
    }
    ClusterLaunch(const ClusterLaunch&) = delete;
};

inline constexpr std::array<Index, 5> cluster_sizes{1, 2, 4, 8, 16};
using ClusterRoom = std::array<int, cluster_sizes.size()>;  ///< clusters of each size that can be at work at once

/// Lets a kernel have clusters of 16, and takes from `room` what it has no room for.
inline void limit_room(const void* kernel, unsigned threads, ClusterRoom& room)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "cudaFuncSetAttribute");
    for (std::size_t s = 0; s < room.size(); ++s) {
        const ClusterLaunch launch(1, static_cast<unsigned>(cluster_sizes[s]), threads, nullptr);
        int                 clusters = 0;
        if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config) != cudaSuccess) {
            cudaGetLastError();  // this GPU has no clusters of that size
            clusters = 0;
        }
        room[s] = std::min(room[s], clusters);
    }
}

}  // namespace ilux::cuda

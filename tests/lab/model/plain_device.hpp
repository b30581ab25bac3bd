#pragma once
// A device on which every sub-node of the performance model has a round cost, so that predictions can be had by hand.

#include "ilux/lab/model/perf_model.hpp"

namespace ilux::test {

/// A cycle is a second, an access takes 100, a warp computes 50 a step; launches and calls cost nothing, bandwidth and
/// issue slots are plenty. So of method left, in cluster mode | in the pipeline: begin and scatter 300 | 400, and 150
/// for each 64 entries; 300 | 400 for each 32 updates; 250 for each 64 entries of an update; 100 at the end, and 250
/// for each 64 entries.
inline DeviceParameters plain_device(double multiprocessors = 1, double resident_warps = 8)
{
    constexpr double nothing = 0, plenty = 1e30;
    DeviceParameters p;
    p.multiprocessors = multiprocessors;
    p.resident_warps = resident_warps;
    p.clock = 1;
    p.bandwidth = p.cache_bandwidth = p.cache_bytes = plenty;
    p.comp_cycle = 1;
    p.comp_latency = 50;
    p.flag = 70;
    p.launch = p.barrier = p.call = nothing;
    p.cache_cycle.fill(100);
    p.global_cycle.fill(100);
    return p;
}

}  // namespace ilux::test

#pragma once
// What is assumed of a GPU where a plan is made before one is asked.

namespace ilux {

/// Multiprocessors of an H100 and of an H200. Where a Gpu is at hand, Gpu::multiprocessors() takes its place.
constexpr int usual_multiprocessors = 132;

}  // namespace ilux

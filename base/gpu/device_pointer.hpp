#pragma once
// What a caller's pointer points to.

namespace ilux {

/// Whether kernels may read there: memory of a GPU, managed or page-locked. Elsewhere they end with all that the
/// process has on the GPU.
bool is_for_kernels(const void* memory);

}  // namespace ilux

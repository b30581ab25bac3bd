#pragma once
// NVIDIA's cuDSS with its own defaults: its matching and ordering, pivots within blocks. Its analysis orders on host
// threads where its threading layer for libgomp lies beside the library. Opened as the rivals of lu_rival.hpp are.

#include <memory>
#include <optional>
#include <string>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/gpu/gpu.hpp"

namespace ilux::app {

/// Why it cannot be measured here, or "". A device is not asked for.
std::string why_no_cudss();

/// What cuDSS tells; empty: it does not.
struct CudssFacts {
    std::string                 version;
    int                         host_threads = 1;
    std::optional<std::int64_t> nnz_LU, bytes, host_bytes;  ///< bytes: of the device, kept
    std::optional<std::int64_t> perturbed_pivots, refine_steps, refine_limit;
};

/// One analysis and its factors. Calls enqueue on the Gpu's stream and may wait. @throws DeviceError with cuDSS's
/// status
template <Scalar S>
class CudssRival {
public:
    /// Copies the pattern. @throws InvalidInput where why_no_cudss() says so, and where 32 bits cannot count A's
    /// entries
    CudssRival(Gpu& gpu, const CsrView<S>& A, int host_threads);
    ~CudssRival();
    CudssRival(const CudssRival&) = delete;
    CudssRival& operator=(const CudssRival&) = delete;

    /// @param values, b, x  in device memory: nnz in A's order, n, n; values stay where they are until after solve(),
    /// which refines by them
    void       analyse(const S* values);
    void       factor(const S* values);
    void       refactor(const S* values);
    void       solve(const S* b, S* x);
    CudssFacts facts() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ilux::app

#pragma once
// The values of one system after another, of one pattern, on the host and on a GPU.

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "ilux/base/gpu/array.hpp"
#include "ilux/base/gpu/host_buffer.hpp"

namespace ilux {

/// It alone knows where the newest values are, and moves them once: a caller's array is copied to memory that a GPU
/// reads by itself. There are two places for values. Those of the next system can be written while work on the last
/// ones goes on.
template <Scalar S = double>
class SystemValues {
public:
    /// Allocates nothing. @param count  values of a system
    explicit SystemValues(std::size_t count) : count_(count) {}

    std::size_t size() const { return count_; }

    /// Where the next system's values may be written, which saves a copy of them. @throws OutOfMemory
    std::span<S> next();
    /// next() ← values of a GPU, and the GPU in use gets them there if it is the same. Waits. @return next()
    /// @throws InvalidInput for another number of them; OutOfMemory, DeviceError
    std::span<const S> bring_next(const Array<const S>& values);
    /// These become the last ones. Nothing is copied where they were written to next(), or are the last ones already.
    /// @param values  of the host, or of a GPU: bring_next() then
    /// @throws InvalidInput for another number of them; OutOfMemory, DeviceError, and then nothing has changed
    void take(const Array<const S>& values);

    /// The last ones on the host; none before take().
    std::span<const S> host() const { return {slots_[now_].host.get(), taken_ ? count_ : 0}; }
    /// The last ones on the GPU in use; none without one.
    DeviceSpan<const S> there() const { return slots_[now_].device; }
    /// Which of the two places they are in, for graphs that know where values are: 0 or 1.
    int slot() const { return now_; }

    /// From now on values are kept on this GPU, too, which must outlive this. Those of the host stay where they are.
    /// @throws OutOfMemory, DeviceError, and then they are on the host alone
    void use_gpu(Gpu& gpu);
    void leave_gpu();
    Gpu* gpu() const { return gpu_; }  ///< null: values are on the host alone

    std::size_t bytes() const;  ///< of the host
    std::size_t device_bytes() const;

private:
    struct Free {
        void operator()(S* memory) const noexcept;
    };
    struct Slot {
        std::unique_ptr<S[], Free> host;  // whole pages, left unset
        std::optional<PageLock>    lock;
        DeviceBuffer<S>            device;
        bool                       uploaded = false;  // by bring_next()
    };
    void  make(Slot& slot);
    Slot& next_slot();
    void  put_on_gpu(Slot& slot);
    void  leave_gpu(Slot& slot) noexcept;
    void  upload(Slot& slot);
    void  require_count(std::size_t given) const;

    std::size_t         count_;
    Gpu*                gpu_ = nullptr;
    std::optional<Gpu>  copier_;  // a stream for values alone
    std::array<Slot, 2> slots_;
    int                 now_ = 0;
    bool                taken_ = false;
};

}  // namespace ilux

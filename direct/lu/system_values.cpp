#include "ilux/direct/lu/system_values.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <new>

#include "ilux/base/error.hpp"
#include "ilux/base/gpu/stream_order.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr std::size_t page = 4096;  // pages that are locked for one array hold no other

std::size_t in_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

template <Scalar S>
void SystemValues<S>::Free::operator()(S* memory) const noexcept
{
    std::free(memory);
}

template <Scalar S>
void SystemValues<S>::make(Slot& slot)
{
    if (slot.host || count_ == 0) return;
    if (count_ > static_cast<std::size_t>(-1) / 2 / sizeof(S)) throw std::bad_array_new_length();
    slot.host.reset(static_cast<S*>(std::aligned_alloc(page, in_pages(count_ * sizeof(S)))));
    if (!slot.host) throw std::bad_alloc();
}

template <Scalar S>
void SystemValues<S>::put_on_gpu(Slot& slot)
{
    if (!slot.host || slot.lock) return;
    gpu_->make_current();
    DeviceBuffer<S> device(count_);
    slot.lock.emplace(slot.host.get(), in_pages(count_ * sizeof(S)));
    slot.device = std::move(device);
}

template <Scalar S>
void SystemValues<S>::leave_gpu(Slot& slot) noexcept
{
    slot.device = {};  // first: it waits for the device, which may still read the host's memory
    slot.lock.reset();
    slot.uploaded = false;
}

template <Scalar S>
void SystemValues<S>::upload(Slot& slot)
{
    enqueue_upload<S>(*copier_, std::span<S>(slot.host.get(), count_), slot.device);
    copier_->synchronize();
}

template <Scalar S>
typename SystemValues<S>::Slot& SystemValues<S>::next_slot()
{
    Slot& slot = slots_[1 - now_];
    make(slot);
    if (gpu_) put_on_gpu(slot);
    return slot;
}

/// Who asks for it may write there: what has travelled is no longer what it holds.
template <Scalar S>
std::span<S> SystemValues<S>::next()
{
    Slot& slot = next_slot();
    slot.uploaded = false;
    return {slot.host.get(), count_};
}

template <Scalar S>
void SystemValues<S>::require_count(std::size_t given) const
{
    require(given == count_, [&] { return fmt::format("{} values for a pattern of {} entries", given, count_); });
}

/// Brings the values as bytes: a caller's complex numbers may stand on multiples of 8 bytes only.
template <Scalar S>
std::span<const S> SystemValues<S>::bring_next(const Array<const S>& values)
{
    require_count(values.size());
    const std::span<S> to = next();
    Slot&              slot = slots_[1 - now_];
    Gpu&               caller = *values.gpu();
    if (gpu_ && caller.device() == gpu_->device()) {
        run_after(*copier_, caller);
        detail::enqueue_copy(*copier_, values.there().data(), slot.device.data(), to.size_bytes());
        slot.uploaded = true;
    }
    download<S>(caller, values.there(), to);
    if (slot.uploaded) copier_->synchronize();
    return to;
}

template <Scalar S>
void SystemValues<S>::take(const Array<const S>& values)
{
    require_count(values.size());
    if (taken_ && !values.gpu() && values.host().data() == host().data()) return;
    if (values.gpu()) (void)bring_next(values);
    Slot& slot = next_slot();
    if (!values.gpu() && values.host().data() != slot.host.get()) {
        slot.uploaded = false;  // those were others
        detail::copy_in_parallel(slot.host.get(), values.host().data(), count_ * sizeof(S));
    }
    if (gpu_ && !slot.uploaded) upload(slot);
    slot.uploaded = false;
    now_ = 1 - now_;
    taken_ = true;
}

template <Scalar S>
void SystemValues<S>::use_gpu(Gpu& gpu)
{
    if (gpu_ == &gpu) return;
    leave_gpu();
    try {
        gpu_ = &gpu;
        copier_.emplace(gpu.device());
        for (Slot& slot : slots_) put_on_gpu(slot);
        if (taken_) upload(slots_[now_]);
    } catch (...) {
        leave_gpu();
        throw;
    }
}

template <Scalar S>
void SystemValues<S>::leave_gpu()
{
    for (Slot& slot : slots_) leave_gpu(slot);
    copier_.reset();
    gpu_ = nullptr;
}

template <Scalar S>
std::size_t SystemValues<S>::bytes() const
{
    return count_ * sizeof(S) * ((slots_[0].host != nullptr) + (slots_[1].host != nullptr));
}

template <Scalar S>
std::size_t SystemValues<S>::device_bytes() const
{
    return (slots_[0].device.size() + slots_[1].device.size()) * sizeof(S);
}

#define ILUX_INSTANTIATE(S) template class SystemValues<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

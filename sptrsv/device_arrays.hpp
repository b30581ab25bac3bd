#pragma once
// Read-only arrays of one engine: one allocation on the device, filled straight from the host vectors.

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "ilux/base/gpu.hpp"

namespace ilux {

/// add() each host array with the pointer it will have, then upload() once, while the host arrays and those pointers
/// still stand. An empty array gives a null pointer. Starts are 256-byte aligned.
class DeviceArrays {
public:
    template <class V>
    void add(std::span<const V> host, const V*& device)
    {
        static_assert(std::is_trivially_copyable_v<V>);
        device = nullptr;
        if (host.empty()) return;
        const auto set = [](void* pointer, std::byte* at) {
            *static_cast<const V**>(pointer) = reinterpret_cast<V*>(at);
        };
        pieces_.push_back({host.data(), host.size_bytes(), &device, set});
        bytes_ += (host.size_bytes() + 255) / 256 * 256;
    }
    template <class V>
    void add(const std::vector<V>& host, const V*& device)
    {
        add(std::span<const V>(host), device);
    }

    void upload(Gpu& gpu)
    {
        memory_ = DeviceBuffer<std::byte>(bytes_);
        std::size_t at = 0;
        for (const Piece& piece : pieces_) {
            detail::upload_bytes(gpu, piece.host, memory_.data() + at, piece.bytes);
            piece.set(piece.pointer, memory_.data() + at);
            at += (piece.bytes + 255) / 256 * 256;
        }
        pieces_.clear();
    }

    std::size_t bytes() const { return memory_.size(); }

private:
    struct Piece {
        const void* host;
        std::size_t bytes;
        void*       pointer;
        void (*set)(void*, std::byte*);
    };
    std::vector<Piece>      pieces_;
    std::size_t             bytes_ = 0;
    DeviceBuffer<std::byte> memory_;
};

}  // namespace ilux

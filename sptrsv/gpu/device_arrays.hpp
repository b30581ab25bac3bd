#pragma once
// Arrays of one engine in one allocation on the device: filled straight from host vectors, or room that kernels fill.

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "ilux/base/gpu/gpu.hpp"

namespace ilux {

/// add() each host array, and room() for what kernels write, with the pointer it will have; then upload() once, while
/// the host arrays and those pointers still stand. An empty array gives a null pointer. Starts are 256-byte aligned.
class DeviceArrays {
public:
    template <class V>
    void add(std::span<const V> host, const V*& device)
    {
        append(host.data(), host.size(), device);
    }
    template <class V, class Allocator>
    void add(const std::vector<V, Allocator>& host, const V*& device)
    {
        append(host.data(), host.size(), device);
    }
    /// `count` values, zero at first.
    template <class V>
    void room(std::size_t count, V*& device)
    {
        append(nullptr, count, device);
    }

    void upload(Gpu& gpu)
    {
        memory_ = DeviceBuffer<std::byte>(bytes_);
        std::vector<std::byte> together;  // small arrays side by side make one transfer
        std::size_t            at = 0, together_at = 0;
        const auto             flush = [&] {
            if (!together.empty())
                detail::upload_bytes(gpu, together.data(), memory_.data() + together_at, together.size());
            together.clear();
        };
        for (const Piece& piece : pieces_) {
            if (piece.host && piece.bytes <= small_bytes) {
                if (together.empty()) together_at = at;
                together.resize(at - together_at + piece.bytes);
                std::memcpy(together.data() + (at - together_at), piece.host, piece.bytes);
            } else {
                flush();
                if (piece.host) detail::upload_bytes(gpu, piece.host, memory_.data() + at, piece.bytes);
            }
            piece.set(piece.pointer, memory_.data() + at);
            at += aligned(piece.bytes);
        }
        flush();
        pieces_.clear();
    }

    std::size_t bytes() const { return memory_.size(); }
    std::size_t bytes_asked_for() const { return bytes_; }  ///< of all that was added; bytes() once uploaded

private:
    static constexpr std::size_t small_bytes = std::size_t{1} << 16;

    struct Piece {
        const void* host;  // null: room
        std::size_t bytes;
        void*       pointer;
        void (*set)(void*, std::byte*);
    };

    static std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

    template <class V>
    void append(const void* host, std::size_t count, V*& device)
    {
        static_assert(std::is_trivially_copyable_v<V>);
        device = nullptr;
        if (count == 0) return;
        const auto set = [](void* pointer, std::byte* at) { *static_cast<V**>(pointer) = reinterpret_cast<V*>(at); };
        pieces_.push_back({host, count * sizeof(V), &device, set});
        bytes_ += aligned(count * sizeof(V));
    }

    std::vector<Piece>      pieces_;
    std::size_t             bytes_ = 0;
    DeviceBuffer<std::byte> memory_;
};

}  // namespace ilux

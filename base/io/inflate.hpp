#pragma once
// Deflated data in memory, unpacked; for base/io alone.

#include <cstdint>
#include <span>
#include <string_view>

#include "ilux/base/stop_token.hpp"

namespace ilux::detail {

/// The data has the head and the checksum of zlib, or neither.
enum class Deflated { zlib, raw };

/// Bytes that were taken and made.
struct Inflated {
    std::uint64_t in = 0, out = 0;
};

/// Unpacks all there is up to the end that the data have, and keeps the first bytes.
/// @param kept  out, as far as there are so many bytes
/// @throws InvalidInput "NAME: …" where the data are damaged or end early, by their checksum too; OutOfMemory,
/// Cancelled, OutOfTime
Inflated inflate_all(std::string_view packed, Deflated kind, std::span<char> kept, std::string_view name,
                     const StopToken& stop);

}  // namespace ilux::detail

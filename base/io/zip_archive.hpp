#pragma once
// The members of a zip archive in memory, stored or deflated, zip64 too; for base/io alone.
// Format: PKWARE's APPNOTE.TXT 6.3.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/stop_token.hpp"

namespace ilux::detail {

struct ZipMember {
    std::string   name;
    unsigned      method = 0;  ///< 0 stored, 8 deflated
    unsigned      flags = 0;
    std::uint32_t checksum = 0;
    std::uint64_t packed = 0, size = 0, header = 0;  ///< bytes in the archive and unpacked; where its own header stands
};

/// Bytes of a member: the archive's own, or unpacked ones.
struct ZipData {
    std::unique_ptr<char[]> unpacked;
    std::string_view        view;
};

/// @throws InvalidInput where the directory is damaged
std::vector<ZipMember> zip_members(std::string_view archive, std::string_view name);
/// Memory is asked for only where the packed bytes can hold what the directory promises.
/// @throws InvalidInput where the member is damaged, encrypted, or packed in another way
ZipData zip_data(std::string_view archive, const ZipMember& member, std::string_view name, const StopToken& stop = {});

}  // namespace ilux::detail

#include "ilux/base/io/zip_archive.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>

#include "ilux/base/error.hpp"
#include "ilux/base/io/inflate.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/io/raw_bytes.hpp"

namespace ilux::detail {
namespace {

constexpr std::string_view local_mark("PK\3\4", 4), central_mark("PK\1\2", 4), end_mark("PK\5\6", 4),
    end64_mark("PK\6\6", 4), locator_mark("PK\6\7", 4);

[[noreturn]] void throw_damaged(std::string_view name, std::string_view what)
{
    throw InvalidInput(fmt::format("{}: the zip archive is damaged: {}", name, what));
}

/// Numbers of a record at a place inside the archive.
class ZipRecord {
public:
    /// @throws InvalidInput unless there are `size` bytes that begin with the mark
    ZipRecord(std::string_view archive, std::uint64_t at, std::size_t size, std::string_view mark,
              std::string_view name)
    {
        if (at > archive.size() || archive.size() - at < size || !archive.substr(at).starts_with(mark))
            throw_damaged(name, fmt::format("no record is at byte {}: is the file truncated?", at));
        bytes_ = archive.substr(at);
    }
    std::uint64_t two(std::size_t at) const { return load<std::endian::little, std::uint16_t>(bytes_.data() + at); }
    std::uint64_t four(std::size_t at) const { return load<std::endian::little, std::uint32_t>(bytes_.data() + at); }
    std::uint64_t eight(std::size_t at) const { return load<std::endian::little, std::uint64_t>(bytes_.data() + at); }
    std::string_view rest(std::size_t at) const { return bytes_.substr(at); }

private:
    std::string_view bytes_;
};

struct ZipDirectory {
    std::uint64_t members, begin;
};

ZipDirectory directory_of(std::string_view archive, std::string_view name)
{
    const auto end = archive.rfind(end_mark);
    if (end == std::string_view::npos || archive.size() - end < 22)
        throw_damaged(name, "its directory, which stands at the end, is missing: is the file truncated?");
    const ZipRecord record(archive, end, 22, end_mark, name);
    ZipDirectory    directory{record.two(10), record.four(16)};
    if (directory.members != 0xffff && directory.begin != 0xffffffff) return directory;
    if (end < 20) return directory;
    if (!archive.substr(end - 20).starts_with(locator_mark)) return directory;
    const ZipRecord locator(archive, end - 20, 20, locator_mark, name);
    const ZipRecord large(archive, locator.eight(8), 56, end64_mark, name);
    return {large.eight(32), large.eight(48)};
}

/// Sizes that do not fit 32 bits stand in the extra field of type 1, in this order, where the record has all ones.
void take_large_sizes(std::string_view extra, std::string_view name, ZipMember& member)
{
    while (extra.size() >= 4) {
        const auto type = load<std::endian::little, std::uint16_t>(extra.data());
        const auto length = load<std::endian::little, std::uint16_t>(extra.data() + 2);
        if (extra.size() - 4 < length) throw_damaged(name, "a field of its directory ends early");
        std::string_view field = extra.substr(4, length);
        for (std::uint64_t* size : {&member.size, &member.packed, &member.header})
            if (type == 1 && *size == 0xffffffff && field.size() >= 8) {
                *size = load<std::endian::little, std::uint64_t>(field.data());
                field.remove_prefix(8);
            }
        extra.remove_prefix(4 + length);
    }
}

std::uint32_t checksum_of(std::string_view bytes)
{
    return static_cast<std::uint32_t>(
        crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

std::vector<ZipMember> zip_members(std::string_view archive, std::string_view name)
{
    const ZipDirectory     directory = directory_of(archive, name);
    std::vector<ZipMember> members;
    std::uint64_t          at = directory.begin;
    for (std::uint64_t k = 0; k < directory.members; ++k) {
        const ZipRecord   record(archive, at, 46, central_mark, name);
        const std::size_t name_size = record.two(28), extra_size = record.two(30), comment_size = record.two(32);
        const std::size_t whole = 46 + name_size + extra_size + comment_size;
        if (record.rest(0).size() < whole) throw_damaged(name, "its directory ends early");
        ZipMember member{.name = std::string(record.rest(46).substr(0, name_size)),
                         .method = static_cast<unsigned>(record.two(10)),
                         .flags = static_cast<unsigned>(record.two(8)),
                         .checksum = static_cast<std::uint32_t>(record.four(16)),
                         .packed = record.four(20),
                         .size = record.four(24),
                         .header = record.four(42)};
        take_large_sizes(record.rest(46 + name_size).substr(0, extra_size), name, member);
        members.push_back(std::move(member));
        at += whole;
    }
    return members;
}

ZipData zip_data(std::string_view archive, const ZipMember& member, std::string_view name, const StopToken& stop)
{
    constexpr std::uint64_t most_per_byte = 1032;  // deflate packs no better
    const std::string       what = fmt::format("{}: {}", name, printable(member.name));
    const ZipRecord         record(archive, member.header, 30, local_mark, name);
    const std::size_t       head = 30 + record.two(26) + record.two(28);
    require((member.flags & 1) == 0, [&] { return fmt::format("{} is encrypted", what); });
    require(member.method == 0 || member.method == 8, [&] {
        return fmt::format("{} is packed by method {}; read are 0 (stored) and 8 (deflated)", what, member.method);
    });
    if (record.rest(0).size() < head || record.rest(head).size() < member.packed)
        throw_damaged(what, "it ends early: is the file truncated?");
    const std::string_view packed = record.rest(head).substr(0, member.packed);
    ZipData                data;
    data.view = packed;
    if (member.method == 0 && member.size != member.packed) throw_damaged(what, "its two sizes disagree");
    if (member.method == 8) {
        if (member.size / most_per_byte > member.packed)
            throw_damaged(what,
                          fmt::format("{} bytes cannot hold the {} that are promised", member.packed, member.size));
        data.unpacked = std::make_unique_for_overwrite<char[]>(member.size + 1);
        const auto made = inflate_all(packed, Deflated::raw, {data.unpacked.get(), member.size}, what, stop).out;
        if (made != member.size) throw_damaged(what, fmt::format("{} bytes were promised, {} came", member.size, made));
        data.view = {data.unpacked.get(), member.size};
    }
    if (checksum_of(data.view) != member.checksum) throw_damaged(what, "its checksum is wrong");
    return data;
}

}  // namespace ilux::detail

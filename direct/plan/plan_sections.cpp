#include "ilux/direct/plan/plan_sections.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>

namespace ilux {
namespace {

constexpr std::array<char, 8> magic{'i', 'l', 'u', 'x', 'p', 'l', 'a', 'n'};
constexpr std::uint32_t       this_order = 0x01020304, other_order = 0x04030201;
constexpr std::uint32_t       format = 3;
constexpr std::uint32_t       most_sections = 64;

struct Head {
    std::array<char, 8>  magic = ilux::magic;
    std::uint32_t        order = this_order, format = ilux::format;
    std::array<char, 16> version = {};  // of ilux
    PlanKey              key;
    std::uint32_t        sections = 0, crc = 0;  // of the head with crc 0, and the table
};
struct Entry {
    std::array<char, 24> name = {};
    std::uint64_t        offset = 0, bytes = 0;
    std::uint32_t        crc = 0, unused = 0;
};
static_assert(sizeof(Head) == 56 && sizeof(Entry) == 48);

std::uint32_t crc_of(std::string_view bytes, std::uint32_t before = 0)
{
    return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}
template <class T>
std::string_view bytes_of(const T& value)
{
    return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::uint32_t crc_of(Head head, std::string_view table)
{
    head.crc = 0;
    return crc_of(table, crc_of(bytes_of(head)));
}

template <std::size_t size>
void set_name(std::array<char, size>& to, std::string_view from)
{
    std::ranges::copy(from.substr(0, size - 1), to.begin());
}
template <std::size_t size>
std::string name_in(const std::array<char, size>& from)
{
    return {from.begin(), std::find(from.begin(), from.end(), '\0')};
}

std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// @throws InvalidInput unless `head` can be read on
void check_head(const Head& head, const std::string& name)
{
    require(head.magic == magic, [&] { return name + ": not a plan of ilux"; });
    require(head.order != other_order, [&] { return name + ": a plan of a machine with the other order of bytes"; });
    require(head.order == this_order, [&] { return name + ": the head of the plan is damaged"; });
    require(head.format == format, [&] {
        return fmt::format(
            "{}: a plan in format {}, where this version of ilux reads {}; remove the file to make it anew", name,
            head.format, format);
    });
    require(name_in(head.version) == ILUX_VERSION, [&] {
        return fmt::format("{}: a plan of another version of ilux than {}; remove the file to make it anew", name,
                           ILUX_VERSION);
    });
    require(head.sections <= most_sections, [&] { return name + ": the head of the plan is damaged"; });
}

}  // namespace

std::string join_sections(const PlanKey& key, std::span<const PlanSection> sections)
{
    Head head;
    head.key = key;
    head.sections = static_cast<std::uint32_t>(sections.size());
    set_name(head.version, ILUX_VERSION);
    std::string table;
    std::size_t at = sizeof(Head) + sections.size() * sizeof(Entry);
    for (const PlanSection& section : sections) {
        Entry entry{.offset = at, .bytes = section.bytes.size(), .crc = crc_of(section.bytes)};
        set_name(entry.name, section.name);
        table += bytes_of(entry);
        at += aligned(section.bytes.size());
    }
    head.crc = crc_of(head, table);
    std::string file(bytes_of(head));
    file.reserve(at);
    file += table;
    for (const PlanSection& section : sections) {
        file += section.bytes;
        file.resize(aligned(file.size()));
    }
    return file;
}

PlanSections::PlanSections(std::string_view file, std::string name) : name_(std::move(name))
{
    Head head;
    require(file.size() >= sizeof head, [&] { return name_ + ": not a plan of ilux, or cut short"; });
    std::memcpy(&head, file.data(), sizeof head);
    check_head(head, name_);
    const std::size_t table_bytes = head.sections * sizeof(Entry);
    require(file.size() - sizeof head >= table_bytes, [&] { return name_ + ": the plan is cut short"; });
    const std::string_view table = file.substr(sizeof head, table_bytes);
    require(crc_of(head, table) == head.crc, [&] { return name_ + ": the head of the plan is damaged"; });
    key_ = head.key;
    for (std::uint32_t s = 0; s < head.sections; ++s) {
        Entry entry;
        std::memcpy(&entry, table.data() + s * sizeof entry, sizeof entry);
        const std::string section = name_in(entry.name);
        require(entry.offset <= file.size() && entry.bytes <= file.size() - entry.offset,
                [&] { return fmt::format("{}: the plan is cut short within section {}", name_, section); });
        const auto bytes = file.substr(entry.offset, entry.bytes);
        require(crc_of(bytes) == entry.crc,
                [&] { return fmt::format("{}: section {} of the plan is damaged", name_, section); });
        sections_.emplace_back(section, bytes);
    }
}

const PlanSections::Named* PlanSections::find(std::string_view section) const
{
    const auto found = std::ranges::find(sections_, section, &Named::first);
    return found == sections_.end() ? nullptr : &*found;
}

std::string_view PlanSections::bytes(std::string_view section) const
{
    const Named* const found = find(section);
    require(found != nullptr, [&] { return fmt::format("{}: the plan has no section {}", name_, section); });
    return found->second;
}

SectionReader PlanSections::open(std::string_view section) const
{
    return {bytes(section), fmt::format("{}: section {}", name_, section)};
}

}  // namespace ilux

#pragma once
// The container of a stored plan: a head, then sections by name, each with its length and a checksum.

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ilux/base/error.hpp"

namespace ilux {

/// What a plan was made for, in 16 bytes.
struct PlanKey {
    std::uint64_t pattern = 0, options = 0;  ///< hashes
    friend bool   operator==(const PlanKey&, const PlanKey&) = default;
};

/// Numbers and arrays one after another, as this machine has them in memory; arrays start on multiples of 8 bytes.
class SectionWriter {
public:
    template <class T>
    void put(T value)
    {
        static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
        append(&value, sizeof value);
    }
    template <class V>
    void put_array(const V& values)
    {
        static_assert(std::has_unique_object_representations_v<typename V::value_type> ||
                      std::is_same_v<typename V::value_type, double>);
        put<std::uint64_t>(values.size());
        append(values.data(), values.size() * sizeof(values[0]));
    }
    const std::string& bytes() const { return bytes_; }

private:
    void append(const void* from, std::size_t bytes)
    {
        if (bytes > 0) bytes_.append(static_cast<const char*>(from), bytes);
        bytes_.resize((bytes_.size() + 7) / 8 * 8);
    }

    std::string bytes_;
};

/// Reads what a SectionWriter wrote. @throws InvalidInput, naming file and section, where there is less than is asked
/// for; nothing is allocated before
class SectionReader {
public:
    /// @param where  for messages
    SectionReader(std::string_view bytes, std::string where) : left_(bytes), where_(std::move(where)) {}

    template <class T>
    T get()
    {
        static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
        T value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    template <class V>
    void get_array(V& values)
    {
        using T = typename V::value_type;
        const auto count = get<std::uint64_t>();
        require(count <= left_.size() / sizeof(T), [&] { return where_ + ": an array is longer than its section"; });
        const char* const from = take(count * sizeof(T));
        values.resize(count);
        if (count > 0) std::memcpy(values.data(), from, count * sizeof(T));
    }
    void expect_end() const
    {
        require(left_.empty(), [&] { return where_ + ": the section is longer than its contents"; });
    }
    const std::string& where() const { return where_; }

private:
    const char* take(std::size_t bytes)
    {
        const std::size_t padded = (bytes + 7) / 8 * 8;
        require(padded <= left_.size(), [&] { return where_ + ": the section ends early"; });
        const char* const at = left_.data();
        left_.remove_prefix(padded);
        return at;
    }

    std::string_view left_;
    std::string      where_;
};

/// A part of a file of plans.
struct PlanSection {
    std::string name;  ///< at most 23 letters
    std::string bytes;
};

/// The head and the sections as the bytes of a file.
std::string join_sections(const PlanKey& key, std::span<const PlanSection> sections);

/// A file cut into its sections; looked at, not copied.
class PlanSections {
public:
    /// @param name  of the file, for messages
    /// @throws InvalidInput for what is no plan, another version or byte order, or damaged, and says which
    PlanSections(std::string_view file, std::string name);

    const PlanKey& key() const { return key_; }
    bool           has(std::string_view section) const { return find(section) != nullptr; }
    /// Both @throw InvalidInput when there is no such section.
    std::string_view bytes(std::string_view section) const;
    SectionReader    open(std::string_view section) const;

private:
    using Named = std::pair<std::string, std::string_view>;
    const Named* find(std::string_view section) const;

    std::string        name_;
    PlanKey            key_;
    std::vector<Named> sections_;
};

}  // namespace ilux

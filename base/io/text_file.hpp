#pragma once
// Whole files in memory: gzip is undone on the way in.

#include <memory>
#include <string>
#include <string_view>

#include "ilux/base/stop_token.hpp"

namespace ilux {

/// The bytes of a file, or of standard input for "-". Gzip data, known by its first two bytes and not by the name,
/// are unpacked (several members too). The bytes are copied: those of a mapped file vanish, by SIGBUS, when somebody
/// shortens it.
class TextFile {
public:
    /// @param stop  asked every few milliseconds, also while a pipe has nothing to read
    /// @throws InvalidInput naming the file when it is missing, a folder, unreadable or corrupt, or changes while it is
    /// read
    explicit TextFile(const std::string& path, const StopToken& stop = {});
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;

    std::string_view view() const { return view_; }
    void             release();  ///< gives the memory back early; view() is then empty

private:
    std::string             text_;  // unpacked, or of a length that was not known before
    std::unique_ptr<char[]> bytes_;
    std::string_view        view_;
};

/// How messages name a file: "standard input" for "-".
std::string shown_name(const std::string& path);

/// Unpacks bytes already in memory; `name` stands in messages.
std::string unpack_gzip(std::string_view packed, std::string_view name, const StopToken& stop = {});

}  // namespace ilux

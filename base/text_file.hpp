#pragma once
// Whole files in and out of memory: gzip is undone on the way in, and a file appears complete or not at all.

#include <memory>
#include <string>
#include <string_view>

#include "ilux/base/monitor.hpp"

namespace ilux {

/// The bytes of a file, or of standard input for "-". Gzip data, known by its first two bytes and not by the name,
/// are unpacked (several members too). The bytes are copied: those of a mapped file vanish, by SIGBUS, when somebody
/// shortens it.
class TextFile {
public:
    /// @param checkpoint  asked while a regular file is read and while data are unpacked, not while another program keeps us waiting
    /// @throws InvalidInput naming the file when it is missing, a folder, unreadable or corrupt, or changes while it is read
    explicit TextFile(const std::string& path, const Checkpoint& checkpoint = {});
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;

    std::string_view view() const { return view_; }
    void             release();  ///< gives the memory back early; view() is then empty

private:
    std::string             text_;  // unpacked, or of a length that was not known before
    std::unique_ptr<char[]> bytes_;
    std::string_view        view_;
};

/// The same for bytes already in memory; `name` stands in messages.
std::string unpack_gzip(std::string_view packed, std::string_view name, const Checkpoint& checkpoint = {});

/// Writes to a temporary file beside `path` and renames it at commit(); without commit() nothing is left behind.
/// A name ending in .gz is compressed. "-" is standard output; it and devices are written directly.
/// Every member @throws InvalidInput naming the file and the system's reason
class AtomicFile {
public:
    explicit AtomicFile(const std::string& path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(std::string_view bytes);
    void commit();

private:
    [[noreturn]] void fail() const;
    void              discard() noexcept;

    std::string target_;            ///< what the caller named, symbolic links followed
    std::string temporary_;         ///< empty when written directly, or when renamed
    void*       stream_ = nullptr;  ///< a gzFile
};

/// Removes the regular file that an AtomicFile of this path would replace; devices and folders stay.
/// @return whether there was one  @throws InvalidInput naming the file and the system's reason
bool remove_file(const std::string& path);

}  // namespace ilux

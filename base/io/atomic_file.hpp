#pragma once
// Files that appear complete or not at all.

#include <optional>
#include <string>
#include <string_view>

#include "ilux/base/stop_token.hpp"

namespace ilux {

/// Where an AtomicFile is to appear, and what was there when this was made. Nothing is touched.
struct FileTarget {
    /// Attributes of a regular file that was there; its successor gets the same.
    struct Former {
        unsigned mode, owner, group;
    };

    /// @param name  a path; "-", /dev/stdout, /dev/stderr and /dev/fd/N are descriptors that the program was given
    /// @throws InvalidInput where symbolic links lead nowhere
    FileTarget(const std::string& name);  // NOLINT(google-explicit-constructor): a path is one
    FileTarget(const char* name) : FileTarget(std::string(name)) {}  // NOLINT(google-explicit-constructor)

    bool direct() const { return descriptor >= 0 || special; }  ///< written as it comes, with nothing to replace

    std::string           name;             ///< as given
    std::string           path;             ///< symbolic links followed, also one to a file that is not there yet
    int                   descriptor = -1;  ///< −1: it is a path
    bool                  special = false;  ///< a FIFO or a device
    StopToken             stop = {};        ///< asked while a FIFO waits for its reader
    std::optional<Former> former;
};

/// Removes the regular file that an AtomicFile of this target would replace; a link to it stays.
/// @return whether there was one  @throws InvalidInput naming the file and the system's reason
bool remove_former(const FileTarget& target);

/// Looks whether an AtomicFile could be made, without opening a FIFO, whose reader would take that for the end.
/// @throws InvalidInput naming the file and the system's reason
void require_writable(const FileTarget& target);

/// Writes to a file without a name in the folder of `target.path`; commit() brings it to the disk and names it. Without
/// commit() nothing is left behind, even where the program is killed; only file systems that have no such files (NFS)
/// hold one with a name beside the path meanwhile. The file has the mode of its former and, as far as the system
/// allows, the owner. A name ending in .gz is compressed. Descriptors, FIFOs and devices are written directly. Every
/// member @throws InvalidInput naming the file and the system's reason; the constructor Cancelled, OutOfTime where a
/// FIFO has no reader
class AtomicFile {
public:
    explicit AtomicFile(FileTarget target);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(std::string_view bytes);
    void commit();

private:
    void open();
    void take_name();
    void discard() noexcept;

    FileTarget  target_;
    std::string temporary_;         ///< empty when written directly, without a name, or when renamed
    int         file_ = -1;         ///< outlives the stream, for fsync
    void*       stream_ = nullptr;  ///< a gzFile
};

}  // namespace ilux

#include "ilux/base/io/text_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <tuple>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

constexpr std::size_t piece = std::size_t{1} << 30;        // one system or zlib call takes at most this many bytes
constexpr std::size_t short_piece = std::size_t{1} << 22;  // a few milliseconds: the token is asked between two

class FileDescriptor {
public:
    explicit FileDescriptor(int fd) : fd_(fd) {}
    ~FileDescriptor()
    {
        if (fd_ > STDERR_FILENO) close(fd_);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int             get() const { return fd_; }

private:
    int fd_;
};

bool is_gzip(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

[[noreturn]] void throw_unreadable(const std::string& name)
{
    throw InvalidInput(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
}

struct stat status_of(int fd, const std::string& name)
{
    struct stat status {};
    if (fstat(fd, &status) != 0) throw_unreadable(name);
    return status;
}

/// Until there is something to read, or nothing will ever be. The token is asked meanwhile.
void await_bytes(int fd, const StopToken& stop)
{
    const int milliseconds = stop.possible() ? 20 : -1;  // −1: as long as it takes
    pollfd    wanted{.fd = fd, .events = POLLIN, .revents = 0};
    int       ready = 0;
    while (ready == 0 || (ready < 0 && errno == EINTR)) {  // before its first writer, a FIFO that is read looks empty
        stop.check();
        ready = poll(&wanted, 1, milliseconds);
    }
}

/// Reads a pipe, a device, or a file whose beginning somebody else has read.
std::string read_stream(int fd, const std::string& name, const StopToken& stop)
{
    std::string bytes(65536, '\0');
    std::size_t size = 0;
    for (;;) {
        if (size == bytes.size()) bytes.resize(2 * size);
        await_bytes(fd, stop);
        const ssize_t count = ::read(fd, bytes.data() + size, std::min(bytes.size() - size, piece));
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count < 0) throw_unreadable(name);
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
    }
    bytes.resize(size);
    return bytes;
}

/// All of a regular file of that status into `bytes`, which has room for one more.
/// @throws InvalidInput when it is another file afterwards: what was read is then of neither state, or of an unfinished
/// one
void read_regular(int fd, const struct stat& before, char* bytes, const std::string& name, const StopToken& stop)
{
    const auto  expected = static_cast<std::size_t>(before.st_size);
    std::size_t size = 0;
    while (size <= expected) {
        const auto    wanted = std::min(expected + 1 - size, short_piece);
        const ssize_t count = ::pread(fd, bytes + size, wanted, static_cast<off_t>(size));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw_unreadable(name);
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
        if (stop.possible() && size < expected) stop.check();
    }
    const struct stat after = status_of(fd, name);
    const bool        rewritten = std::tie(after.st_mtim.tv_sec, after.st_mtim.tv_nsec) !=
                           std::tie(before.st_mtim.tv_sec, before.st_mtim.tv_nsec);
    require(size == expected && after.st_size == before.st_size && !rewritten, [&] {
        return fmt::format("{} changed while it was read: it had {} bytes, and now has {}; {} could be read", name,
                           expected, after.st_size, size);
    });
}

}  // namespace

TextFile::TextFile(const std::string& path, const StopToken& stop)
{
    const bool        standard_input = path == "-";
    const std::string name = shown_name(path);
    // O_NONBLOCK: a FIFO that nobody writes to yet is opened, and waited for, all the same.
    const FileDescriptor file(standard_input ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    require(file.get() >= 0, [&] { return fmt::format("cannot open {}: {}", name, std::strerror(errno)); });
    const struct stat status = status_of(file.get(), name);
    require(!S_ISDIR(status.st_mode), [&] { return fmt::format("cannot read {}: it is a folder", name); });

    if (S_ISREG(status.st_mode) && status.st_size > 0 && lseek(file.get(), 0, SEEK_CUR) == 0) {
        const auto size = static_cast<std::size_t>(status.st_size);
        bytes_ = std::make_unique_for_overwrite<char[]>(size + 1);
        read_regular(file.get(), status, bytes_.get(), name, stop);
        view_ = {bytes_.get(), size};
    } else view_ = text_ = read_stream(file.get(), name, stop);
    if (!is_gzip(view_)) return;
    std::string text = unpack_gzip(view_, name, stop);
    release();
    view_ = text_ = std::move(text);
}

void TextFile::release()
{
    bytes_.reset();
    text_ = {};
    view_ = {};
}

std::string shown_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string unpack_gzip(std::string_view packed, std::string_view name, const StopToken& stop)
{
    z_stream stream{};
    if (inflateInit2(&stream, 15 + 16) != Z_OK) throw OutOfMemory(fmt::format("no memory to unpack {}", name));
    const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);

    std::string text(std::max<std::size_t>(4 * packed.size(), 4096), '\0');
    std::size_t in = 0, out = 0;
    for (;;) {
        if (stop.possible() && out > 0) stop.check();
        if (out == text.size()) text.resize(2 * out);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));  // zlib does not write there
        stream.avail_in = static_cast<uInt>(std::min(packed.size() - in, piece));
        stream.next_out = reinterpret_cast<Bytef*>(text.data() + out);
        stream.avail_out = static_cast<uInt>(std::min(text.size() - out, short_piece));
        const uInt had_in = stream.avail_in, had_out = stream.avail_out;
        const int  status = inflate(&stream, Z_NO_FLUSH);
        in += had_in - stream.avail_in;
        out += had_out - stream.avail_out;
        if (status == Z_STREAM_END) {
            if (in == packed.size()) break;
            require(is_gzip(packed.substr(in)), [&] {
                return fmt::format("{}: corrupt gzip data: {} bytes follow the end at byte {}", name,
                                   packed.size() - in, in);
            });
            inflateReset(&stream);
            continue;
        }
        if (status == Z_MEM_ERROR) throw OutOfMemory(fmt::format("no memory to unpack {}", name));
        require(status == Z_OK || status == Z_BUF_ERROR, [&] {
            return fmt::format("{}: corrupt gzip data at byte {}: {}", name, in,
                               stream.msg != nullptr ? stream.msg : "unknown error");
        });
        require(in < packed.size() || stream.avail_out == 0, [&] {
            return fmt::format("{}: corrupt gzip data: the file breaks off at byte {}, inside the compressed data",
                               name, in);
        });
    }
    text.resize(out);
    return text;
}

}  // namespace ilux

#include "ilux/base/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_written = std::size_t{1} << 30;  // one zlib call takes at most this many bytes
constexpr int         most_links = 40;                      // as Linux

[[noreturn]] void fail(const FileTarget& target, int error)
{
    throw InvalidInput(fmt::format("cannot write {}: {}", target.name == "-" ? "standard output" : target.name,
                                   error != 0 ? std::strerror(error) : "compression failed"));
}

/// N of /dev/fd/N and its like, or −1.
int named_descriptor(std::string_view path)
{
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!path.starts_with(folder)) continue;
        const std::string_view digits = path.substr(folder.size());
        int                    descriptor = -1;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
        if (error == std::errc{} && end == digits.data() + digits.size()) return descriptor;
    }
    return -1;
}

/// Waits for the reader of a FIFO, and asks target.stop meanwhile, which a plain open() would not. @return −1: see
/// errno
int open_special(const FileTarget& target)
{
    constexpr auto between_tries = std::chrono::milliseconds(10);
    for (;; std::this_thread::sleep_for(between_tries)) {
        const int   file = ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        struct stat about {};
        if (file >= 0) {
            (void)fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
            return file;
        }
        const int  error = errno;
        const bool without_reader = error == ENXIO && stat(target.path.c_str(), &about) == 0 && S_ISFIFO(about.st_mode);
        errno = error;
        if (!without_reader) return -1;
        target.stop.check();
    }
}

/// Zero, or why the file may not be replaced.
int why_not_writable(const FileTarget& target)
{
    if (target.descriptor >= 0) {
        const int flags = fcntl(target.descriptor, F_GETFL);
        if (flags < 0) return errno;
        return (flags & O_ACCMODE) == O_RDONLY ? EBADF : 0;
    }
    if (!target.former && !target.special) return 0;
    return access(target.path.c_str(), W_OK) == 0 || errno == ENOENT ? 0 : errno;  // a former file may be gone by now
}

/// The path by which a descriptor gets its first name.
std::string link_to(int file) { return fmt::format("/proc/self/fd/{}", file); }

/// A file in the folder of `path` that has no name, or −1 where there are none.
int open_unnamed(const std::string& path)
{
    const fs::path folder = fs::path(path).parent_path();
    const int file = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0 || access(link_to(file).c_str(), F_OK) == 0) return file;
    close(file);  // without /proc it would never have one
    return -1;
}

/// The file gets what open() would have given it, or what its former had. Another's file is kept as theirs where the
/// system lets us, which is root's case; elsewhere it becomes ours, as a copy would.
void dress(int file, const std::optional<FileTarget::Former>& former)
{
    const mode_t mask = umask(0);
    umask(mask);
    if (former) {
        const bool kept = fchown(file, former->owner, former->group) == 0;
        if (!kept) (void)!fchown(file, static_cast<uid_t>(-1), former->group);
    }
    fchmod(file, former ? former->mode & 0777 : 0666 & ~mask);
}

/// Some file systems have nothing to bring to a disk and say so.
bool sync(int file) { return fsync(file) == 0 || errno == EINVAL || errno == EOPNOTSUPP; }

}  // namespace

FileTarget::FileTarget(const std::string& given) : name(given), path(given)
{
    std::error_code failed;  // what cannot be looked at cannot be opened either, and open() says why
    if (name == "-") descriptor = STDOUT_FILENO;
    for (int links = 0; descriptor < 0; ++links) {
        descriptor = named_descriptor(path);
        if (descriptor >= 0 || !fs::is_symlink(fs::symlink_status(path, failed))) break;
        if (links == most_links) fail(*this, ELOOP);
        const fs::path to = fs::read_symlink(path, failed);
        if (failed) break;
        path = (fs::path(path).parent_path() / to).string();  // an absolute one replaces all
    }
    struct stat about {};
    if (descriptor >= 0 || stat(path.c_str(), &about) != 0) return;
    if (S_ISREG(about.st_mode)) former = {.mode = about.st_mode, .owner = about.st_uid, .group = about.st_gid};
    else special = !S_ISDIR(about.st_mode);
}

bool remove_former(const FileTarget& target)
{
    if (!target.former) return false;
    if (const int error = why_not_writable(target); error != 0) fail(target, error);
    if (unlink(target.path.c_str()) != 0 && errno != ENOENT) fail(target, errno);
    return true;
}

void require_writable(const FileTarget& target)
{
    if (const int error = why_not_writable(target); error != 0) fail(target, error);
    if (!target.direct()) AtomicFile probe(target);
}

AtomicFile::AtomicFile(FileTarget target) : target_(std::move(target))
{
    std::error_code ignored;
    if (!target_.direct() && fs::is_directory(target_.path, ignored)) fail(target_, EISDIR);
    if (const int error = why_not_writable(target_); error != 0) fail(target_, error);
    try {
        open();
    } catch (...) {
        discard();
        throw;
    }
}

void AtomicFile::open()
{
    if (target_.descriptor >= 0) file_ = fcntl(target_.descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    else if (target_.special) file_ = open_special(target_);
    else {
        file_ = open_unnamed(target_.path);
        std::string beside = target_.path + ".XXXXXX";
        if (file_ < 0 && (file_ = mkostemp(beside.data(), O_CLOEXEC)) >= 0) temporary_ = std::move(beside);
    }
    if (file_ < 0) fail(target_, errno);
    if (!target_.direct()) dress(file_, target_.former);
    const int of_stream = fcntl(file_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);  // the stream closes its own
    if (of_stream < 0) fail(target_, errno);
    stream_ = gzdopen(of_stream, target_.name.size() > 3 && target_.name.ends_with(".gz") ? "wb6" : "wbT");
    if (stream_ == nullptr) {
        close(of_stream);
        throw OutOfMemory(fmt::format("no memory to write {}", target_.name));
    }
    gzbuffer(static_cast<gzFile>(stream_), 1 << 18);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto part = bytes.substr(0, most_written);
        errno = 0;
        if (gzwrite(static_cast<gzFile>(stream_), part.data(), static_cast<unsigned>(part.size())) <= 0)
            fail(target_, errno);
        bytes.remove_prefix(part.size());
    }
}

void AtomicFile::commit()
{
    errno = 0;
    if (gzclose_w(static_cast<gzFile>(std::exchange(stream_, nullptr))) != Z_OK) fail(target_, errno);
    if (!target_.direct()) {
        if (!sync(file_)) fail(target_, errno);
        take_name();
    }
    if (close(std::exchange(file_, -1)) != 0) fail(target_, errno);
}

/// The file gets its name at once where nothing is there; what is there is replaced by a rename.
void AtomicFile::take_name()
{
    const auto named = [&](const std::string& name) {
        return linkat(AT_FDCWD, link_to(file_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    if (temporary_.empty()) {
        if (named(target_.path)) return;
        if (errno != EEXIST) fail(target_, errno);
    }
    for (int k = 0; temporary_.empty(); ++k) {
        std::string beside = fmt::format("{}.{}.{}", target_.path, getpid(), k);
        if (named(beside)) temporary_.swap(beside);  // needs no memory: what has a name is also removed
        else if (errno != EEXIST) fail(target_, errno);
    }
    if (rename(temporary_.c_str(), target_.path.c_str()) != 0) fail(target_, errno);
    temporary_.clear();
}

void AtomicFile::discard() noexcept
{
    if (stream_ != nullptr) gzclose_w(static_cast<gzFile>(std::exchange(stream_, nullptr)));
    if (file_ >= 0) close(std::exchange(file_, -1));
    if (!temporary_.empty()) unlink(temporary_.c_str());
    temporary_.clear();
}

}  // namespace ilux

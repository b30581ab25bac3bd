// Loaded before a program (LD_PRELOAD): lets the k-th call of one kind fail, if it is of a file in a given folder or,
// for read and write, of a standard descriptor.
//
//   ILUX_FAULT_CALL   open, read, write, fsync, linkat, rename, close or unlink
//   ILUX_FAULT_AT     k, from 1
//   ILUX_FAULT_ERROR  errno, or "throw": std::logic_error, which is nobody's fault but the program's
//   ILUX_FAULT_UNDER  the folder, without links in its name
//   ILUX_FAULT_HIT    a file that is made when the fault happens
//
// A close that fails has closed all the same, as on Linux.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace {

template <class Function>
Function* real(const char* name)
{
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_under_folder(const char* path)
{
    const char* folder = std::getenv("ILUX_FAULT_UNDER");
    return folder != nullptr && path != nullptr && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool is_under_folder(int file)
{
    char link[64] = "/proc/self/fd/", path[4096];
    int  digits = 1;
    for (int rest = file; rest >= 10; rest /= 10) ++digits;
    for (int k = digits; k > 0; --k, file /= 10) link[13 + k] = static_cast<char>('0' + file % 10);
    const ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return false;
    path[size] = '\0';
    return is_under_folder(path);
}

/// Counts a call. @return whether it is the one to fail, with errno set
bool fails(const char* call)
{
    static int  count = 0;
    const char *wanted = std::getenv("ILUX_FAULT_CALL"), *at = std::getenv("ILUX_FAULT_AT"),
               *error = std::getenv("ILUX_FAULT_ERROR"), *hit = std::getenv("ILUX_FAULT_HIT");
    if (wanted == nullptr || at == nullptr || error == nullptr || hit == nullptr || std::strcmp(wanted, call) != 0)
        return false;
    if (++count != std::atoi(at)) return false;
    real<int(const char*, mode_t)>("creat")(hit, 0600);
    if (std::strcmp(error, "throw") == 0) throw std::logic_error("an injected fault");
    errno = std::atoi(error);
    return true;
}

bool is_watched(int file) { return (file >= 0 && file <= STDERR_FILENO) || is_under_folder(file); }

int open_file(const char* name, const char* path, int flags, mode_t mode)
{
    if (is_under_folder(path) && fails("open")) return -1;
    return real<int(const char*, int, ...)>(name)(path, flags, mode);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_file("open", path, flags, mode);
}

int open64(const char* path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_file("open64", path, flags, mode);
}

int mkostemp(char* path, int flags)
{
    if (is_under_folder(path) && fails("open")) return -1;
    return real<int(char*, int)>("mkostemp")(path, flags);
}

ssize_t read(int file, void* buffer, size_t count)
{
    if (is_watched(file) && fails("read")) return -1;
    return real<ssize_t(int, void*, size_t)>("read")(file, buffer, count);
}

ssize_t pread(int file, void* buffer, size_t count, off_t where)
{
    if (is_watched(file) && fails("read")) return -1;
    return real<ssize_t(int, void*, size_t, off_t)>("pread")(file, buffer, count, where);
}

ssize_t write(int file, const void* buffer, size_t count)
{
    if (is_watched(file) && fails("write")) return -1;
    return real<ssize_t(int, const void*, size_t)>("write")(file, buffer, count);
}

int fsync(int file)
{
    if (is_watched(file) && fails("fsync")) return -1;
    return real<int(int)>("fsync")(file);
}

int close(int file)
{
    const bool fault = is_under_folder(file) && fails("close");
    const int  error = errno, result = real<int(int)>("close")(file);
    if (fault) errno = error;
    return fault ? -1 : result;
}

int rename(const char* from, const char* to) noexcept
{
    if (is_under_folder(from) && fails("rename")) return -1;
    return real<int(const char*, const char*)>("rename")(from, to);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept
{
    if (is_under_folder(to) && fails("linkat")) return -1;
    return real<int(int, const char*, int, const char*, int)>("linkat")(from_folder, from, to_folder, to, flags);
}

int unlink(const char* path) noexcept
{
    if (is_under_folder(path) && fails("unlink")) return -1;
    return real<int(const char*)>("unlink")(path);
}
}

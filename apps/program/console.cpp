#include "ilux/apps/program/console.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "ilux/base/io/printable.hpp"

namespace ilux::app {
namespace {

/// Zero, or the error that ended it.
int write_all(int file, std::string_view text) noexcept
{
    while (!text.empty()) {
        const ssize_t count = ::write(file, text.data(), text.size());
        if (count >= 0) text.remove_prefix(static_cast<std::size_t>(count));
        else if (errno == EAGAIN) {  // whoever opened it does not wait; we do
            pollfd room{.fd = file, .events = POLLOUT, .revents = 0};
            poll(&room, 1, -1);
        } else if (errno != EINTR) return errno;
    }
    return 0;
}

}  // namespace

void settle_descriptors()
{
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(file, F_GETFD) < 0 && errno == EBADF)  // open() takes the lowest that is free: this one
            (void)!open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

void write_out(std::string_view text)
{
    if (const int error = write_all(STDOUT_FILENO, text); error != 0)
        throw BrokenOutput(fmt::format("standard output cannot be written: {}", std::strerror(error)));
}

void write_err(std::string_view text) noexcept { write_all(STDERR_FILENO, text); }

void complain(std::string_view message) noexcept
{
    try {
        write_err(fmt::format("{}: {}\n", program_name, printable(message)));
    } catch (const std::bad_alloc&) {
        complain_of_memory();
    }
}

void complain_of_memory() noexcept
{
    write_err(program_name);
    write_err(": out of memory\n");
}

}  // namespace ilux::app

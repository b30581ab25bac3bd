#include "ilux/apps/program/child.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "ilux/apps/program/progress.hpp"
#include "ilux/base/error.hpp"

extern char** environ;

namespace ilux::app {
namespace {

[[noreturn]] void cannot_start(int error)
{
    throw InvalidInput(fmt::format("a process of its own cannot be started: {}", std::strerror(error)));
}

/// In the child: becomes `program`, which dies with its parent however that ends.
[[noreturn]] void become(const char* program, pid_t parent, int out, char* const* argv)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && dup2(out, STDOUT_FILENO) >= 0)
        execve(program, argv, environ);
    _exit(127);
}

/// A child and the reading end of its standard output. Killed, if it still runs, and waited for at the end.
class Child {
public:
    Child(const char* program, const std::vector<std::string>& arguments)
    {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) cannot_start(errno);
        std::vector<char*> argv{const_cast<char*>(std::strcmp(program, this_program) == 0 ? "ilux" : program)};
        for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
        argv.push_back(nullptr);
        const pid_t parent = getpid();
        pid_ = fork();
        if (pid_ == 0) become(program, parent, ends[1], argv.data());
        const int error = errno;
        close(ends[1]);
        out_ = ends[0];
        if (pid_ > 0) return;
        close(out_);
        cannot_start(error);
    }
    ~Child()
    {
        if (!waited_) kill();
        close(out_);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    int  out() const { return out_; }
    void kill()
    {
        ::kill(pid_, SIGKILL);
        wait();
    }
    /// Its status, as waitpid gives it.
    int wait()
    {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        waited_ = true;
        return status;
    }

private:
    pid_t pid_ = 0;
    int   out_ = -1;
    bool  waited_ = false;
};

/// Waits for bytes, or for the end. @return false when the time is over
bool wait_for(int file, double seconds_left)
{
    pollfd    descriptor{.fd = file, .events = POLLIN, .revents = 0};
    const int timeout = std::isfinite(seconds_left) ? static_cast<int>(std::clamp(1e3 * seconds_left, 0., 1e9)) : -1;
    int       ready = 0;
    do ready = poll(&descriptor, 1, timeout);
    while (ready < 0 && errno == EINTR);
    return ready != 0 || seconds_left > 1e6;
}

void take_lines(std::string& text, const std::function<void(std::string_view)>& take)
{
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
        take(std::string_view(text).substr(begin, end - begin));
    text.erase(0, begin);
}

}  // namespace

Ending run_program(const std::string& program, const std::vector<std::string>& arguments, double seconds,
                   const std::function<void(std::string_view line)>& take, TimeLimit limit)
{
    WallClock    clock;
    Child        child(program.c_str(), arguments);
    std::string  text;
    const double most = seconds > 0 ? seconds : INFINITY;
    bool         begun = false;
    for (;;) {
        if (!wait_for(child.out(), most - clock.seconds())) {
            child.kill();
            return {.words = fmt::format("ended after the time limit of {:g} s", seconds), .killed = true};
        }
        std::array<char, 4096> buffer;
        const ssize_t          got = read(child.out(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        text.append(buffer.data(), static_cast<std::size_t>(got));
        take_lines(text, take);
        const bool first = !std::exchange(begun, true);
        if (limit == TimeLimit::between_lines || (limit == TimeLimit::after_first_line && first)) clock = WallClock();
    }
    const int status = child.wait();
    if (WIFSIGNALED(status)) return {.words = fmt::format("ended by signal {}", WTERMSIG(status)), .killed = true};
    const int code = WEXITSTATUS(status);
    return {.words = code == 0 ? "" : fmt::format("ended with exit code {}", code), .killed = false};
}

std::string run_self(const std::vector<std::string>& arguments, double seconds,
                     const std::function<void(std::string_view line)>& take, TimeLimit limit)
{
    return run_program(this_program, arguments, seconds, take, limit).words;
}

}  // namespace ilux::app

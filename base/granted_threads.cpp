// OpenMP's runtime ends the program where the system gives it no thread, and waits for ever for its threads in a child
// of fork(), which has none of them. So the threads are tried first, and a fork is noticed.

#include "ilux/base/granted_threads.hpp"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "ilux/base/wall_clock.hpp"

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace ilux::detail {
namespace {

/// What is known of the teams that one thread opens.
struct Teams {
    int                      last = 1;  ///< OpenMP keeps the threads of the last team
    std::optional<WallClock> refusal;   ///< when the system refused more than `granted`
    int                      granted = 1;
    bool                     alone = false;  ///< for good
};
thread_local Teams teams;

constexpr double seconds_between_tries = 1;

bool threads_at_fork = true;  ///< written and read by the thread that forks

void before_fork()
{
#if __has_include(<sys/single_threaded.h>)
    threads_at_fork = __libc_single_threaded == 0;
#endif
}
void in_forked_child()
{
    if (threads_at_fork) teams.alone = true;
}
[[maybe_unused]] const int forks_are_noticed = pthread_atfork(before_fork, nullptr, in_forked_child);

/// Starts threads until there are `wanted`, this one counted, or the system refuses; then ends them. Their stacks are
/// free for OpenMP's threads then.
int try_threads(int wanted)
{
    std::mutex               gate;
    std::vector<std::thread> started;
    try {
        const std::scoped_lock closed(gate);  // all must be there at the same time
        started.reserve(wanted - std::size_t{1});
        while (static_cast<int>(started.size()) + 1 < wanted)
            started.emplace_back([&gate] { const std::scoped_lock open(gate); });
    } catch (const std::system_error&) {  // the number that there is tells it
    } catch (const std::bad_alloc&) {     // as well
    }
    for (std::thread& thread : started) thread.join();
    return static_cast<int>(started.size()) + 1;
}

/// OpenMP's own blocks are small; it ends the program where it cannot have them.
bool memory_for_a_team()
{
    constexpr std::size_t enough = std::size_t{1} << 20;
    return std::unique_ptr<char[]>(new (std::nothrow) char[enough]) != nullptr;
}

}  // namespace

int granted_threads(int wanted)
{
    const bool inside = omp_get_active_level() >= omp_get_max_active_levels();  // a region there has one thread anyway
    if (teams.alone || inside) return 1;
    if (teams.refusal && teams.refusal->seconds() > seconds_between_tries) teams.refusal.reset();
    if (teams.refusal) wanted = std::min(wanted, teams.granted);
    if (wanted > teams.last) {
        wanted = std::min(wanted, omp_get_thread_limit());
        const int found = memory_for_a_team() ? try_threads(wanted) : 1;
        if (found < wanted) {
            teams.granted = found;
            teams.refusal.emplace();
        }
        wanted = found;
    }
    if (wanted > 1) teams.last = wanted;
    return wanted;
}

}  // namespace ilux::detail

#pragma once
// Work that cannot be interrupted, and must not keep its caller.

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "ilux/base/stop_token.hpp"

namespace ilux {

/// Set once nobody waits for the result any more.
using Abandoned = std::atomic<bool>;

/// The result of work(), which runs in a thread of its own. The token is asked before that begins, then every few
/// milliseconds. What it throws reaches the caller at once; the thread is left behind and ends when its work does. So
/// `work` must own all that it uses. What work() throws reaches the caller, too. Runs on the calling thread, deaf to
/// the token, where nothing can stop it or the system has no thread to give. Cost: some 50 µs for the thread.
template <class Work>
auto run_detached(Work work, const StopToken& stop)
{
    using Result = decltype(work(std::declval<const Abandoned&>()));
    struct Task {
        explicit Task(Work work) : run([this, work = std::move(work)]() mutable { return work(abandoned); }) {}
        Abandoned                    abandoned = false;
        std::packaged_task<Result()> run;
    };
    stop.check();
    const auto task = std::make_shared<Task>(std::move(work));
    auto       result = task->run.get_future();
    bool       detached = stop.possible();
    try {
        if (detached) std::thread([task] { task->run(); }).detach();
    } catch (const std::system_error&) {
        detached = false;
    }
    if (!detached) task->run();
    try {
        while (result.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) stop.check();
    } catch (...) {
        task->abandoned = true;
        throw;
    }
    return result.get();
}

}  // namespace ilux

#include "ilux/direct/supernodal/task_graph.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <utility>

#include "ilux/base/barrier.hpp"
#include "ilux/base/region_failure.hpp"

namespace ilux {
namespace {

/// What threads share while tasks run. Tasks take a tenth of a millisecond and more, so one lock does.
class Pool {
    /// Whether one comes later than the other: less work is behind it, or its number is larger.
    auto later() const
    {
        return [this](Index one, Index other) {
            return behind_[one] != behind_[other] ? behind_[one] < behind_[other] : one > other;
        };
    }

public:
    Pool(std::span<const double> behind, std::span<const Index> waits)
        : behind_(behind), waits_(waits.begin(), waits.end())
    {
        ready_.reserve(waits.size());
        for (std::size_t t = 0; t < waits.size(); ++t)
            if (waits[t] == 0) ready_.push_back(static_cast<Index>(t));
        std::make_heap(ready_.begin(), ready_.end(), later());
        left_ = waits.size();
    }

    /// @return the task to run next; −1: there is none any more
    Index take()
    {
        // 25 to 100 µs on x86, by the processor: to fall asleep and be woken takes as long.
        constexpr int most_polls = 2000;
        for (int polls = 0; polls < most_polls && idle_.load(std::memory_order_relaxed); ++polls) relax();
        std::unique_lock lock(mutex_);
        ++asleep_;
        changed_.wait(lock, [&] { return !ready_.empty() || left_ == 0 || closed_; });
        --asleep_;
        if (ready_.empty() || closed_) return -1;
        std::pop_heap(ready_.begin(), ready_.end(), later());
        const Index task = ready_.back();
        ready_.pop_back();
        tell();
        return task;
    }
    void done(std::span<const Index> next)
    {
        const std::lock_guard lock(mutex_);
        for (const Index t : next)
            if (--waits_[t] == 0) {
                ready_.push_back(t);
                std::push_heap(ready_.begin(), ready_.end(), later());
                if (asleep_ > 0) changed_.notify_one();
            }
        if (--left_ == 0) changed_.notify_all();
        tell();
    }
    void close()
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        changed_.notify_all();
        tell();
    }

private:
    void tell() { idle_.store(ready_.empty() && left_ > 0 && !closed_, std::memory_order_relaxed); }

    std::span<const double> behind_;
    std::vector<Index>      waits_, ready_;
    std::size_t             left_ = 0;
    int                     asleep_ = 0;
    bool                    closed_ = false;
    std::atomic<bool>       idle_ = false;  // nothing is ready now
    std::mutex              mutex_;
    std::condition_variable changed_;
};

}  // namespace

Index TaskGraph::add(double cost)
{
    cost_.push_back(cost);
    return static_cast<Index>(cost_.size()) - 1;
}

void TaskGraph::finish()
{
    const std::size_t n = cost_.size();
    next_ptr_.assign(n + 1, 0);
    waits_.assign(n, 0);
    for (const auto& [earlier, later] : edges_) ++next_ptr_[earlier + 1], ++waits_[later];
    std::partial_sum(next_ptr_.begin(), next_ptr_.end(), next_ptr_.begin());
    next_.resize(edges_.size());
    std::vector<Index> at(next_ptr_.begin(), next_ptr_.end() - 1);
    for (const auto& [earlier, later] : edges_) next_[at[earlier]++] = later;
    edges_ = {};
    behind_ = cost_;
    for (std::size_t t = n; t-- > 0;) {
        double most = 0;
        for (Index e = next_ptr_[t]; e < next_ptr_[t + 1]; ++e) most = std::max(most, behind_[next_[e]]);
        behind_[t] += most;
    }
}

double TaskGraph::cost() const { return std::accumulate(cost_.begin(), cost_.end(), 0.0); }

double TaskGraph::longest_path() const
{
    return behind_.empty() ? 0 : *std::max_element(behind_.begin(), behind_.end());
}

std::size_t TaskGraph::bytes() const
{
    return (cost_.capacity() + behind_.capacity()) * sizeof(double) +
           (next_ptr_.capacity() + next_.capacity() + waits_.capacity()) * sizeof(Index);
}

StopReason TaskGraph::run(Cpu& be, int threads, const StopToken& stop,
                          const std::function<void(Index task, int thread)>& work) const
{
    const int team = std::min(threads, be.team(threads > 1));
    if (team <= 1) {
        for (Index t = 0; t < tasks(); ++t) {
            if (const StopReason why = stop.reason(); why != StopReason::none) return why;
            work(t, 0);
        }
        return StopReason::none;
    }
    Pool                    pool(behind_, waits_);
    RegionFailure           failure;
    std::atomic<StopReason> stopped = StopReason::none;
#pragma omp parallel num_threads(team)
    for (Index t = pool.take(); t >= 0; t = pool.take()) {
        if (const StopReason why = stop.reason(); why != StopReason::none) stopped = why;
        else failure.run([&] { work(t, omp_get_thread_num()); });
        if (stopped != StopReason::none || failure.met()) {
            pool.close();
            break;
        }
        pool.done({next_.data() + next_ptr_[t], static_cast<std::size_t>(next_ptr_[t + 1] - next_ptr_[t])});
    }
    failure.rethrow();
    return stopped;
}

}  // namespace ilux

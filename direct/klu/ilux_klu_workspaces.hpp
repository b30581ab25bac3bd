#pragma once
// Scratch memory of the threads that solve with one numeric object at the same time.

#include <memory>
#include <mutex>
#include <vector>

#include "ilux/direct/solve/lu_solve.hpp"

namespace ilux::klu {

template <Scalar S>
struct Scratch {
    LuWorkspace<S> ws;
    std::vector<S> packed;
};

/// One Scratch for each of the threads that solve at the same time, made when first needed.
template <Scalar S>
class Workspaces {
public:
    explicit Workspaces(Index n) : n_(n) {}

    /// Calls use(scratch), which serves `together` right-hand sides at a time.
    template <class Use>
    void with(Index together, Use&& use)
    {
        std::unique_ptr<Scratch<S>> mine = take();
        const auto                  give_back = [this](Scratch<S>* scratch) {
            const std::scoped_lock lock(mutex_);
            idle_.emplace_back(scratch);  // there is room: take() saw to it
        };
        const std::unique_ptr<Scratch<S>, decltype(give_back)> held(mine.release(), give_back);
        if (together > 1 && held->ws.y.size() <= static_cast<std::size_t>(n_)) held->ws = LuWorkspace<S>(n_, together);
        use(*held);
    }

private:
    std::unique_ptr<Scratch<S>> take()
    {
        const std::scoped_lock lock(mutex_);
        if (idle_.empty()) {
            idle_.reserve(made_ + 1);
            auto fresh = std::make_unique<Scratch<S>>(Scratch<S>{LuWorkspace<S>(n_), {}});
            ++made_;
            return fresh;
        }
        auto one = std::move(idle_.back());
        idle_.pop_back();
        return one;
    }

    Index                                    n_;
    std::mutex                               mutex_;
    std::size_t                              made_ = 0;
    std::vector<std::unique_ptr<Scratch<S>>> idle_;
};

}  // namespace ilux::klu

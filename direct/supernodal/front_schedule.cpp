#include "ilux/direct/supernodal/front_schedule.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ilux/direct/supernodal/front_dense.hpp"

namespace ilux {
namespace {

// Multiply-adds. A thread does some 10⁹ to 10¹⁰ a second: so tasks take from a tenth of a millisecond on.
constexpr double least_subtrees = 1e6, tasks_of_subtrees = 256, least_split = 1e7;
constexpr Index  narrow_panel = 48, wide_panel = 96, wide_from = 1024, update_width = 128;

class Maker {
public:
    explicit Maker(FrontSchedule& schedule) : s_(schedule), tree_(schedule.plan->tree) {}

    void make()
    {
        find_first();
        const Index         fronts = tree_.fronts();
        std::vector<double> work(fronts);  // of the subtree
        for (Index f = 0; f < fronts; ++f) {
            work[f] += own_work(f);
            if (tree_.parent[f] >= 0) work[tree_.parent[f]] += work[f];
        }
        limit_ = std::max(least_subtrees, s_.plan->multiply_adds / tasks_of_subtrees);
        s_.inner.assign(fronts, 0);
        s_.parity.assign(fronts, 0);
        s_.left_ptr.assign(fronts, 0);
        last_.assign(fronts, -1);
        for (Index f = 0; f < fronts; ++f) {
            const Index up = tree_.parent[f];
            if (up >= 0 && work[up] <= limit_) s_.inner[f] = 1;
            else if (work[f] <= limit_) add_subtree(f, work[f]);
            else finish_subtrees(), add_front(f);
        }
        finish_subtrees();
        s_.graph.finish();
    }

private:
    double own_work(Index f) const
    {
        // Small fronts cost by their size, too.
        return front_multiply_adds(tree_.size(f), tree_.pivots(f)) + 8.0 * tree_.size(f) * tree_.size(f) + 500;
    }

    void find_first()
    {
        s_.first.resize(tree_.fronts());
        std::iota(s_.first.begin(), s_.first.end(), 0);
        for (Index f = 0; f < tree_.fronts(); ++f)
            if (const Index up = tree_.parent[f]; up >= 0) s_.first[up] = std::min(s_.first[up], s_.first[f]);
    }

    Offset left(Index f) const { return static_cast<Offset>(tree_.updates(f)) * tree_.updates(f); }

    void take_arena(Index f)
    {
        s_.left_ptr[f] = s_.arena;
        s_.arena += left(f);
    }

    /// What is left of a front lies in the stack that its depth below the top chooses: there, what its children left,
    /// in the other one, may be dropped as soon as it is complete.
    void add_subtree(Index top, double work)
    {
        if (work_ + work > limit_) finish_subtrees();
        tops_.push_back(top);
        work_ += work;
        take_arena(top);
        for (Index f = top; f-- > s_.first[top];) s_.parity[f] = static_cast<char>(1 - s_.parity[tree_.parent[f]]);
        std::array<Offset, 2> used{};
        for (Index f = s_.first[top]; f < top; ++f) {
            Offset& own = used[s_.parity[f]];
            s_.left_ptr[f] = own;
            own += left(f);
            s_.stacks[s_.parity[f]] = std::max(s_.stacks[s_.parity[f]], own);
            drop_children(f, used);
        }
    }

    /// Neighbours whose work is small make one task.
    void finish_subtrees()
    {
        if (tops_.empty()) return;
        const Index task = add({FrontTask::Kind::subtrees, tops_.back(), s_.first[tops_.front()]}, work_);
        for (const Index top : tops_) last_[top] = task;
        tops_.clear();
        work_ = 0;
    }

    /// What the children left ends at the top of their stack.
    void drop_children(Index f, std::array<Offset, 2>& used) const
    {
        if (const auto children = tree_.children(f); !children.empty())
            used[s_.parity[children[0]]] = s_.left_ptr[children[0]];
    }

    Index add(FrontTask task, double cost)
    {
        s_.tasks.push_back(task);
        return s_.graph.add(cost);
    }

    void after_children(Index f, Index task)
    {
        for (const Index child : tree_.children(f)) s_.graph.before(last_[child], task);
    }

    void add_front(Index f)
    {
        take_arena(f);
        const double work = own_work(f);
        if (work >= least_split) return add_blocks(f);
        last_[f] = add({FrontTask::Kind::whole, f}, work);
        after_children(f, last_[f]);
    }

    void add_blocks(Index f)
    {
        const double m = tree_.size(f), k = tree_.pivots(f), u = m - k;
        const Index  pivot_blocks = s_.pivot_blocks(f), all = s_.blocks(f);
        const auto   width = [&](Index block) {
            const auto [first, last] = s_.columns(f, block);
            return double(last - first);
        };
        const Index        begin_at = static_cast<Index>(s_.tasks.size()) + all;
        std::vector<Index> ready(all);  // the task after which a block may be worked on
        for (Index b = 0; b < all; ++b) {
            const Index task = add({FrontTask::Kind::assemble, f, b}, 4 * m * width(b));
            after_children(f, task);
            s_.graph.before(task, begin_at);
        }
        const Index begin = add({FrontTask::Kind::begin, f}, 10 * m);
        std::fill(ready.begin(), ready.end(), begin);
        for (Index j = 0; j < pivot_blocks; ++j) {
            const double w = width(j), rows = m - s_.columns(f, j).first;
            const Index  panel = add({FrontTask::Kind::panel, f, j}, 3 * rows * w * w);
            s_.graph.before(ready[j], panel);
            ready[j] = panel;
            for (Index b = j + 1; b < pivot_blocks; ++b) {
                const Index update = add({FrontTask::Kind::update, f, b, j}, rows * w * width(b));
                s_.graph.before(panel, update);
                if (ready[b] != begin) s_.graph.before(ready[b], update);
                ready[b] = update;
            }
        }
        const Index pivots = add({FrontTask::Kind::pivots, f}, m * k);
        s_.graph.before(ready[pivot_blocks - 1], pivots);
        if (all == pivot_blocks) {
            last_[f] = pivots;
            return;
        }
        const Index first_rest = static_cast<Index>(s_.tasks.size()), done = first_rest + all - pivot_blocks;
        for (Index b = pivot_blocks; b < all; ++b) {
            const Index rest = add({FrontTask::Kind::rest, f, b}, (k * k / 2 + u * k) * width(b));
            s_.graph.before(pivots, rest);
            s_.graph.before(rest, done);
        }
        last_[f] = add({FrontTask::Kind::done, f}, 0);
    }

    FrontSchedule&     s_;
    const FrontTree&   tree_;
    std::vector<Index> last_;                  // of each front that is not inner: the task that completes it
    double             limit_ = 0, work_ = 0;  // of a task of subtrees: the most; that of tops_
    std::vector<Index> tops_;                  // of subtrees without a task yet, which follow one another
};

}  // namespace

Index FrontSchedule::panel_width(Index f) const
{
    return plan->tree.pivots(f) >= wide_from ? wide_panel : narrow_panel;
}

Index FrontSchedule::pivot_blocks(Index f) const
{
    const Index width = panel_width(f);
    return (plan->tree.pivots(f) + width - 1) / width;
}

Index FrontSchedule::blocks(Index f) const
{
    return pivot_blocks(f) + (plan->tree.updates(f) + update_width - 1) / update_width;
}

std::pair<Index, Index> FrontSchedule::columns(Index f, Index block) const
{
    const Index pivots = plan->tree.pivots(f), before = pivot_blocks(f);
    if (block < before) return {block * panel_width(f), std::min(pivots, (block + 1) * panel_width(f))};
    const Index first = pivots + (block - before) * update_width;
    return {first, std::min(plan->tree.size(f), first + update_width)};
}

double FrontSchedule::run_bytes(int threads, std::size_t value) const
{
    const double numbers = static_cast<double>(plan->numbers()) + static_cast<double>(plan->f_source.size()) +
                           static_cast<double>(arena) + threads * static_cast<double>(stacks[0] + stacks[1]);
    const double sizes = 2.0 * plan->n + static_cast<double>(plan->tree.row.size());
    const double scales = static_cast<double>(plan->in_source.size() + plan->f_source.size()) + 2.0 * plan->n;
    return numbers * static_cast<double>(value) + (sizes + scales) * sizeof(double) + 3.0 * plan->n * sizeof(Index) +
           plan->fronts() * sizeof(PivotsSeen) + static_cast<double>(plan->bytes() + bytes());
}

std::size_t FrontSchedule::bytes() const
{
    return first.capacity() * sizeof(Index) + inner.capacity() + parity.capacity() +
           left_ptr.capacity() * sizeof(Offset) + tasks.capacity() * sizeof(FrontTask) + graph.bytes();
}

std::shared_ptr<const FrontSchedule> make_front_schedule(std::shared_ptr<const FrontPlan> plan)
{
    auto schedule = std::make_shared<FrontSchedule>();
    schedule->plan = std::move(plan);
    Maker(*schedule).make();
    return schedule;
}

}  // namespace ilux

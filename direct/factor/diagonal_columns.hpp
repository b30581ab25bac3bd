#pragma once
// The columns of the first factorization that a team of threads can finish, since their pivots stay on the diagonal.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/direct/factor/column_sweep.hpp"
#include "ilux/direct/factor/entry_store.hpp"
#include "ilux/direct/factor/input_columns.hpp"
#include "ilux/direct/factor/subtrees.hpp"

namespace ilux::detail {

/// Supposes that every pivot stays on the diagonal. Then column k needs only descendants in the elimination forest of B
/// + Bᵀ, and rows keep their numbers. Subtrees of little work are one thread's each; the columns above come in
/// ascending order, each waiting where its sweep meets a column that is not finished. A column whose pivot would leave
/// the diagonal, or is bad, is left out, and so is whatever needs it. The columns made have the bits that one thread
/// would give them, as long as no pivot that it takes off the diagonal gives another number to one of their rows or of
/// a column that they need.
template <class S>
class DiagonalColumns {
public:
    /// A finished column.
    struct Column {
        std::span<const Index> row;  ///< strict U, k, strict L
        std::span<const S>     val;
        std::size_t            upper = 0;  ///< entries of strict U
        PivotQuality           quality;
    };

    /// @param input  new  @param F  receives F, and room for L + U
    DiagonalColumns(const Cpu& be, const LuSymbolic& symbolic, InputColumns<S>& input, double pivot_tol, LuPattern& P,
                    LuFactors<S>& F);
    /// Makes F and the map of the input, too. @return why the work ended early, if it was told to stop
    StopReason run(const StopToken& stop);

    bool   made(Index k) const { return lower_[k].state.load(std::memory_order_relaxed) == State::made; }
    bool   all_made() const { return left_out_ == 0; }
    Column column(Index k) const;

    /// Puts the columns together where all were made. @return false, and nothing is done, where memory_limit may be
    /// passed
    /// @throws OutOfMemory
    bool join();

private:
    enum class State : char { pending, made, left_out };
    /// L(:,k) for those who need it. `state` is set last.
    struct Lower {
        std::atomic<State>         state = State::pending;
        Index                      count = 0;
        const Index*               row = nullptr;
        const S*                   val = nullptr;
        std::atomic<std::uint64_t> pruned = not_pruned;  ///< 2³² k + rows to search; k: the column that did it
    };
    struct Made {
        Index        upper = 0;
        PivotQuality quality;
    };
    struct Thread {
        explicit Thread(Index n) : room(n) {}
        SweepWorkspace<S> room;
        EntryStore<S>     store;
        Offset            entries = 0, next_question = 0;
        SweptColumn       column;         // at hand
        bool              unmet = false;  // it needs one that was left out
    };
    using Sweep = void (DiagonalColumns::*)(Thread&, Index);

    void          set_up();
    void          share();
    void          touch_room();
    Index         find_F(Index k, Offset above);
    void          work(Thread& mine, const StopToken& stop);
    bool          halted(Thread& mine, const StopToken& stop);
    void          make(Thread& mine, Index k);
    bool          fill_above(Index k, Offset end);
    void          sweep(Thread& mine, Index k);
    void          sweep_portable(Thread& mine, Index k) { sweep(mine, k); }
    ILUX_FMA void sweep_fma(Thread& mine, Index k) { sweep(mine, k); }
    State         wait_for(Index i) const;
    bool          finish(Thread& mine, Index k, double largest_in_B);
    void          prune(std::span<const Index> upper, Index k);
    void          clear(SweepWorkspace<S>& room, Index k, Offset begin, std::size_t reached) const;

    static constexpr std::uint64_t not_pruned = ~std::uint64_t{0};

    Cpu                                  be_;
    const LuSymbolic&                    S_;
    InputColumns<S>&                     input_;
    LuPattern&                           P_;
    LuFactors<S>&                        F_;
    double                               pivot_tol_;
    Sweep                                sweep_;
    TaskColumns                          tasks_;
    std::vector<Index>                   top_;
    std::unique_ptr<Lower[]>             lower_;  // n
    std::unique_ptr<Made[]>              made_;   // n
    std::vector<std::unique_ptr<Thread>> threads_;
    std::atomic<Index>                   next_step_ = 0, next_task_ = 0, next_top_ = 0, left_out_ = 0;
    std::atomic<bool>                    halt_ = false;
    std::atomic<StopReason>              stopped_ = StopReason::none;
};

}  // namespace ilux::detail

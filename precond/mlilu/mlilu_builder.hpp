#pragma once
// The level loop of MlIlu::build, a member function a step. Internal to mlilu*.cpp.

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ilux/precond/crout/level_blocks.hpp"
#include "ilux/precond/mlilu/damped.hpp"
#include "ilux/precond/mlilu/level_budget.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/precond/mlilu/pivot_bounds.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/precond/rounds/rounds_plan.hpp"

namespace ilux::detail {

constexpr Index max_levels = 40;

template <class T>
double largest_entry(const CsrView<T>& A)
{
    double largest = 0;
    for (T value : A.val()) largest = std::max(largest, std::abs(value));
    return largest;
}

template <class T>
CsrMatrix<T> empty_rows(Index rows, Index cols)
{
    return CsrMatrix<T>::from_sorted(rows, cols, std::vector<Offset>(rows + std::size_t{1}, 0), {}, {});
}

/// A level's factors, and the blocks of Â beside them; in rounds, which have no use for those, they stay empty.
template <class T>
struct FactoredLevel {
    CroutLevel<T>  factors;
    LevelBlocks<T> blocks;
};

template <class T>
class MlIluBuilder {
public:
    MlIluBuilder(Cpu& be, const CsrView<T>& A, const MlIluOptions& options, const ProgressListener& on_progress,
                 const StopToken& stop, const RoundsPlan* plan = nullptr);
    /// Told before anything else.
    void note(std::string decision, const MlIluReport& seconds_lost);

    /// The factors, and how the host solves with them; none where why_not() says so.
    std::pair<std::shared_ptr<const MlIluFactors<T>>, std::vector<MlIluLevelPlans<T>>> run(Damped<T> given);
    /// Why the plan does not suit A, or "".
    const std::string& why_not() const { return why_not_; }
    const MlIluReport& report() const { return report_; }

private:
    enum class Setup { undecided, rounds, crout };

    Index level_number() const { return static_cast<Index>(factors_->levels.size()) + 1; }
    bool  is_last(const CsrView<T>& S) const;

    Preprocessed<T> prepare(CsrMatrix<T> S);
    void            check_first(const Preprocessed<T>& pre);
    CsrMatrix<T>    add_level(Preprocessed<T>& pre);  ///< factors it, stores it; the next level's matrix
    bool            keeps(const FactoredLevel<T>& level);
    void            store(Preprocessed<T>& pre, FactoredLevel<T>& level, bool keep);
    void            add_last(const CsrView<T>& S);
    void            add_diagonal(const CsrView<T>& S, const char* why);
    void            finish();

    FactoredLevel<T> factor(const Preprocessed<T>& pre);
    FactoredLevel<T> factor_within(const Preprocessed<T>& pre, bool save);
    CroutOptions     crout_options(const Preprocessed<T>& pre, bool save) const;
    CsrMatrix<T>     next_matrix(const FactoredLevel<T>& level, bool mirrored);

    /// The next level's matrix, where pairs of rows serve as pivots, and they are stored as a level.
    std::optional<CsrMatrix<T>> add_pairs(Preprocessed<T>& pre);

    void                 decide_setup(const Preprocessed<T>& pre);
    CsrMatrix<T>         add_rounds(Preprocessed<T>& pre);
    const RoundsOfLevel* kept_rounds() const;

    void tell(Index done, Index total) const
    {
        if (on_progress_)
            on_progress_({.phase = Progress::Phase::setup, .level = level_number(), .done = done, .total = total});
        stop_.check();
    }
    void note_limit(const char* what);
    void note_depth(Index before);

    Cpu&                             be_;
    const MlIluOptions&              opt_;
    const ProgressListener&          on_progress_;
    const StopToken&                 stop_;
    const Offset                     nnz_;
    PivotBounds                      bounds_;
    LevelBudget<T>                   budget_;
    std::shared_ptr<MlIluFactors<T>> factors_ = std::make_shared<MlIluFactors<T>>();
    MlIluReport&                     report_ = factors_->report;
    std::vector<MlIluLevelPlans<T>>  plans_;
    Setup                            setup_;
    const RoundsPlan*                plan_;     // of an earlier matrix, or null
    std::string                      why_not_;  // it does not suit this one
    const Index                      tail_;     // rounds end with so many rows
    std::vector<double>              t_;        // the test vector, of the unknowns of S
};

}  // namespace ilux::detail

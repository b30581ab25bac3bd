#pragma once
// Which pivots a system is factored by: those within supernodes, or all rows' choice.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ilux/direct/lu/lu_factored.hpp"
#include "ilux/direct/lu/lu_report.hpp"
#include "ilux/direct/supernodal/front_choice.hpp"

namespace ilux {

/// Where values are, and factors are made.
template <Scalar S>
struct LuPlace {
    std::shared_ptr<SystemValues<S>>  values;
    std::shared_ptr<const LuSymbolic> symbolic;
    std::unique_ptr<LuDevice<S>>      device;  ///< null: the host

    LuPlace(std::shared_ptr<SystemValues<S>> those, std::shared_ptr<const LuSymbolic> of)
        : values(std::move(those)), symbolic(std::move(of))
    {}
    LuPlace(LuPlace&&) noexcept = default;
    ~LuPlace() { leave_gpu(); }  // values may live on

    /// @throws InvalidOption when options.refactor is cpu; OutOfMemory; DeviceError
    void use_gpu(Gpu& gpu);
    /// Not while there are factors on the GPU.
    void leave_gpu();
};

/// Factors by pivots of their own.
template <Scalar S>
struct ChosenPivots {
    std::unique_ptr<LuFactored<S>> factored;
    double                         growth = 1;  ///< when they were chosen

    /// Factors of the host go to a GPU that is in use. @throws OutOfMemory; InvalidInput for fronts that are too large
    void go_to(const LuPlace<S>& place, const Cpu& host);
};

/// Chooses pivots for one system.
template <Scalar S = double>
class PivotChoice {
public:
    PivotChoice(const Cpu& be, std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options)
        : be_(be), symbolic_(std::move(symbolic)), options_(options)
    {}

    /// Whether numbers are by entries or by supernodes, and why; empty before the first choice.
    const std::string& storage() const { return fronts_.why; }

    /// Factors the values by fronts, where that is chosen and these pivots will do. Where others would take long,
    /// refinement judges them: it mends growth of 1e9 in a few steps.
    /// @param place  left for the host, where its GPU cannot hold the fronts, `first` is set, and other pivots would
    /// take long
    /// @return nothing where other pivots are needed, or where it was stopped: then the report says so
    std::optional<ChosenPivots<S>> within_fronts(LuPlace<S>& place, bool first, const StopToken& stop,
                                                 LuReport& report);
    /// Factors the values on the host with pivots chosen among all rows of a block.
    /// @param most_fill  entries of L + U over those that the analysis predicted, from which on it is given up; 0: none
    /// @param report  holds what was found before: action, state and reason, to which a failure's is added
    std::optional<ChosenPivots<S>> among_all_rows(const LuPlace<S>& place, double most_fill, const StopToken& stop,
                                                  LuReport& report);
    /// Fronts that the host began with move to a GPU that came later.
    /// @return false where they cannot; then systems are factored by entries from now on
    bool fronts_fit(ChosenPivots<S>& pivots, const LuPlace<S>& place, LuReport& report);

private:
    std::unique_ptr<LuFactored<S>> by_fronts(LuPlace<S>& place, const StopToken& stop);
    std::unique_ptr<LuFactored<S>> made_by_fronts(LuPlace<S>& place, bool first, const StopToken& stop);

    Cpu                               be_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    LuOptions                         options_;
    FrontChoice                       fronts_;
};

/// These become the current ones; others are kept behind them as long as they are few and small.
template <Scalar S>
void keep(ChosenPivots<S> pivots, std::vector<ChosenPivots<S>>& all);

}  // namespace ilux

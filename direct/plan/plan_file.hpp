#pragma once
// What a direct solution prepares for one pattern, kept in a file, so that another process need not make it again.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ilux/base/io/atomic_file.hpp"
#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// A section each of the file; one more is whatever a later method prepares.
struct LuPlan {
    std::shared_ptr<const LuSymbolic> symbolic;  ///< "symbolic"
    std::shared_ptr<const LuPattern>
           pattern;      ///< "pattern"; pivots chosen for some values; null: only the analysis is kept
    double growth = 1;   ///< of the factors that they were chosen for
    double seconds = 0;  ///< that it took to make all of it
};

/// The bytes of a file, the same for the same plan.
std::string plan_bytes(const LuPlan& plan);

/// A plan out of the bytes of a file. All that is followed blindly later is checked: the analysis permutes the input as
/// it says, indices are in range, and the pattern is closed under fill. So a file that is damaged in spite of its
/// checksums may give wrong numbers, which the monitors and the backward error find, but no wrong access and no endless
/// wait. O(multiply-adds)
/// @param name  of the file, for messages
/// @throws InvalidInput, which says what is wrong: no plan, another version, byte order, pattern or options, or damaged
/// where
LuPlan parse_plan(std::string_view bytes, const std::string& name);

/// Whether a plan made with one serves the other: those options are alike that bear on the analysis, the pivots and how
/// numbers are stored. An automatic order_for takes an order for whomever it was made.
bool plan_serves(const LuOptions& made_with, const LuOptions& options);

/// @param options  those that bear on the analysis and the pivots must be the plan's; the plan takes over the others
/// @throws InvalidInput unless the plan was made for this pattern and such options
template <class S>
void require_plan_for(LuPlan& plan, const MatrixView<S>& A, const LuOptions& options, const std::string& name);

/// Appears complete or not at all. @throws InvalidInput naming the file and the system's reason
void write_plan(const FileTarget& target, const LuPlan& plan);
/// @throws as parse_plan, and for what is no regular file; nothing where there is no such file
std::optional<LuPlan> read_plan(const std::string& path);

namespace detail {
/// @throws InvalidInput, which begins with `where`
void check_symbolic(const LuSymbolic& symbolic, const std::string& where);
void check_pattern(const LuPattern& pattern, const LuSymbolic& symbolic, const std::string& where);
}  // namespace detail

}  // namespace ilux

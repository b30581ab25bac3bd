#include "ilux/direct/supernodal_gpu/gpu_front_solve.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

std::vector<double> by_position(std::span<const double> scale, std::span<const Index> perm)
{
    std::vector<double> sorted;
    if (scale.empty()) return sorted;
    for (const Index old : perm) sorted.push_back(scale[old]);
    return sorted;
}

}  // namespace

template <Scalar S>
GpuFrontSolve<S>::GpuFrontSolve(Gpu& gpu, const GpuFrontRefactor<S>& numbers, Transpose transpose)
    : transposed_(transpose != Transpose::no), plan_(front_solve_plan(numbers.plan(), numbers.schedule(), transposed_))
{
    const FrontPlan& fronts = numbers.plan();
    const LuPattern& P = numbers.pattern();
    require(std::ssize(fronts.tree.row) <= std::numeric_limits<Index>::max(),
            [] { return "more update rows of fronts than 32 bits can count"; });
    const auto  row_scale = by_position(P.row_scale, P.row_perm), col_scale = by_position(P.col_scale, P.col_perm);
    const auto& first = transposed_ ? P.col_perm : P.row_perm;
    const auto& last = transposed_ ? P.row_perm : P.col_perm;
    const auto  n = static_cast<std::size_t>(P.n);
    enter_.n = leave_.n = P.n;
    arrays_.add(first, enter_.perm);
    arrays_.add(last, leave_.perm);
    arrays_.add(transposed_ ? col_scale : row_scale, enter_.scale);
    arrays_.add(transposed_ ? row_scale : col_scale, leave_.scale);
    arrays_.add(plan_.front, view_.list);
    arrays_.add(plan_.item, view_.item);
    arrays_.add(plan_.gather_ptr, view_.gather_ptr);
    arrays_.add(plan_.gather, view_.gather);
    arrays_.add(plan_.f_row, view_.f_row);
    arrays_.add(plan_.f_ptr, view_.f_ptr);
    arrays_.add(plan_.f_col, view_.f_col);
    arrays_.add(plan_.f_entry, view_.f_entry);
    arrays_.room(n * solve_together<V>, view_.y);
    arrays_.room(n * solve_together<V>, view_.z);
    arrays_.room(fronts.tree.row.size() * solve_together<V>, view_.left);
    gpu.make_current();
    arrays_.upload(gpu);
    view_.F = numbers.view();
    view_.f_val = numbers.f_val();
    plan_.item = {};
    for (auto* array : {&plan_.front, &plan_.gather, &plan_.f_row, &plan_.f_col}) *array = {};
    for (auto* array : {&plan_.gather_ptr, &plan_.f_ptr, &plan_.f_entry}) *array = {};
    for (const FrontSolveStage& stage : plan_.stages) {
        launches_ += !stage.f.empty();
        for (const FrontSolveGroup& group : stage.groups) {
            launches_ += !group.updates.empty() + !group.above.empty() + 2 * static_cast<Index>(group.steps.size());
            for (const FrontSolveStep& step : group.steps) launches_ += !step.later.empty() + !step.earlier.empty();
        }
    }
}

template <Scalar S>
void GpuFrontSolve<S>::run(Gpu& gpu, const S* b, S* x, Index rhs)
{
    constexpr Index most = solve_together<V>;
    const auto*     from = reinterpret_cast<const V*>(b);
    auto*           to = reinterpret_cast<V*>(x);
    for (Index done = 0; done < rhs && enter_.n > 0; done += most) {
        const Index  count = std::min(most, rhs - done);
        const bool   several = count > 1;
        const Offset at = Offset{done} * enter_.n;
        launch_enter(gpu, enter_, from + at, view_.y, count, several);
        for (const FrontSolveStage& stage : plan_.stages) launch_stage(gpu, view_, stage, transposed_, several);
        launch_leave(gpu, leave_, view_.y, to + at, count, several);
    }
}

#define ILUX_INSTANTIATE(S) template class GpuFrontSolve<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

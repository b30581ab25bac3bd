#include "ilux/direct/solve/gpu_lu_solve.hpp"

#include <utility>

#include "ilux/direct/solve/lu_forward_system.hpp"

namespace ilux {

GpuLuSolve::GpuLuSolve(Gpu& gpu, const LuPattern& pattern, std::span<const ValueSlot> slot_of, Transpose transpose,
                       GpuSpTrsvEngine engine, LuPrecision precision)
{
    const RenewedSystem system = lu_forward_system(pattern, slot_of, transpose);
    if (precision == LuPrecision::in_single) kept_.emplace<Kept<float>>();
    std::visit(
        [&]<class T>(Kept<T>& kept) {
            kept.plan = GpuSpTrsvPlan<T>(gpu, system, engine);
            kept.one = kept.plan.workspace(gpu);
        },
        kept_);
}

void GpuLuSolve::make_room(Gpu& gpu, Index rhs)
{
    if (rhs <= room_) return;
    gpu.make_current();
    std::visit([&](auto& kept) { kept.several = kept.plan.workspace(gpu, rhs); }, kept_);
    room_ = rhs;
}

std::size_t GpuLuSolve::room_bytes() const
{
    return std::visit([](const auto& kept) { return kept.one.bytes(); }, kept_);
}

void GpuLuSolve::run(Gpu& gpu, const double* b, double* x, Index rhs)
{
    const auto solve = [&](auto& kept) {
        const std::size_t count = static_cast<std::size_t>(kept.plan.length()) * static_cast<std::size_t>(rhs);
        kept.plan.solve(gpu, {b, count}, {x, count}, rhs == 1 || room_ == 1 ? kept.one : kept.several);
    };
    std::visit(solve, kept_);
}

std::size_t GpuLuSolve::bytes() const
{
    return std::visit([](const auto& kept) { return kept.plan.bytes() + kept.one.bytes() + kept.several.bytes(); },
                      kept_);
}

}  // namespace ilux

#include "ilux/direct/gpu_lu_solve.hpp"

#include <limits>
#include <numeric>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/direct/lu_dots.hpp"

namespace ilux {
namespace {

using Slot = DotProgram::Slot;

GpuDots make_dots(Gpu& gpu, const LuPattern& pattern, std::span<const Slot> slot_of, Transpose transpose)
{
    std::vector<Slot> in_place;
    if (slot_of.empty()) {
        const auto entries = static_cast<std::size_t>(pattern.nnz() + pattern.nnz_F());
        require(entries <= std::numeric_limits<Slot>::max(),
                [] { return "too many factor entries for positions of 32 bits"; });
        in_place.resize(entries);
        std::iota(in_place.begin(), in_place.end(), Slot{0});
        slot_of = in_place;
    }
    const SolveDots solve = solve_dots(pattern, slot_of, transpose);
    return GpuDots(gpu, solve.dots, solve.out_index, solve.out_scale);
}

}  // namespace

GpuLuSolve::GpuLuSolve(Gpu& gpu, const LuPattern& pattern, std::span<const Slot> slot_of, Transpose transpose)
    : dots_(make_dots(gpu, pattern, slot_of, transpose)), slots_(dots_.workspace(gpu))
{}

void GpuLuSolve::run(Gpu& gpu, const double* val, const double* b, double* x) { dots_.run(gpu, b, val, slots_, x); }

}  // namespace ilux

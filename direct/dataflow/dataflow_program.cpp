#include "ilux/direct/dataflow/dataflow_program.hpp"

#include <algorithm>
#include <array>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/factor/elimination_step.hpp"

namespace ilux {
namespace {

/// input − Σ a b over the rows of operands first_row … last_row − 1 and the lanes first_lane … first_lane + part − 1.
template <Scalar S>
S add_lanes(const DataflowProgram& program, std::size_t first_row, std::size_t last_row, std::size_t first_lane,
            std::size_t part, S input, const S* a, const S* v)
{
    std::array<S, 32> sum{input};
    for (std::size_t lane = 0; lane < part; ++lane)
        for (std::size_t row = first_row; row < last_row; ++row) {
            const auto [i, j] = program.operand[32 * row + first_lane + lane];
            sum[lane] = minus_product(sum[lane], a[i], v[j]);
        }
    for (std::size_t half = part / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane) sum[lane] += sum[lane + half];
    return sum[0];
}

}  // namespace

void require_positions(Offset rows, Offset slots)
{
    require(rows < Offset{1} << 32 && slots < Offset{1} << 31,
            [] { return "too many entries or products for positions of 32 bits; take another method"; });
}

std::size_t DataflowProgram::bytes() const
{
    return task.size() * sizeof(Task) + operand.size() * sizeof(Operand) + slot_of.size() * sizeof(Slot) +
           slots() * (sizeof(Late) + sizeof(std::int32_t) + sizeof(double) + sizeof(Slot));
}

template <Scalar S>
void run_serial(const DataflowProgram& program, std::span<const NotDeduced<S>> input, const NotDeduced<S>* a,
                std::span<NotDeduced<S>> v)
{
    if (!program.a_given) a = v.data();
    std::fill_n(v.begin(), DataflowProgram::first_slot, S(0));
    v[DataflowProgram::minus_one_slot] = -1;
    const auto scaled_input = [&](std::size_t slot) {
        return program.source[slot] < 0 ? S(0) : S(0) + program.scale[slot] * input[program.source[slot]];
    };
    for (const DataflowProgram::Task& task : program.task) {
        const std::size_t part = std::size_t{1} << task.log2_part, group = std::size_t{1} << task.log2_group;
        const std::size_t row = task.first, middle = row + task.steps, end = middle + task.divisor_steps;
        for (std::size_t r = 0; r < task.entries; ++r) {
            const std::size_t slot = task.slot + r, divisor = program.divisor[slot], leader = r * part % group / part;
            S                 x = add_lanes<S>(program, row, middle, r * part, part, scaled_input(slot), a, v.data());
            for (const auto [i, j] : program.late[slot]) x = minus_product(x, a[i], v[j]);
            if (task.divide == DataflowProgram::by_slot) x = DividedBy<S>(a[divisor])(x);
            if (task.divide == DataflowProgram::by_twin) {
                S d = add_lanes<S>(program, middle, end, r * part, part, scaled_input(divisor), a, v.data());
                for (const auto [i, j] : program.late[divisor]) d = minus_product(d, a[i], v[j]);
                x = DividedBy<S>(d)(x);
            }
            if (leader > 0) x = DividedBy<S>(v[slot - leader])(x);
            v[slot] = x;
        }
    }
}

#define ILUX_INSTANTIATE(S) \
    template void run_serial<S>(const DataflowProgram&, std::span<const S>, const S*, std::span<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

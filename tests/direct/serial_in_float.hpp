#pragma once
// What programs whose slots are float must make, computed the slow and obvious way.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "ilux/direct/dataflow/dataflow_program.hpp"

namespace ilux::test {

/// run_serial where every slot is rounded to float when it is known, and read from there; divisors too.
class FloatSlots {
public:
    FloatSlots(const DataflowProgram& program, std::span<const double> input)
        : program_(program), input_(input), v_(program.slots(), 0), known_(program.slots(), false)
    {
        v_[DataflowProgram::minus_one_slot] = -1;
        std::fill_n(known_.begin(), DataflowProgram::first_slot, true);
        task_of_.resize(program.slots());
        for (const auto& task : program.task)
            for (std::size_t r = 0; r < task.entries; ++r) task_of_[task.slot + r] = &task;
        for (const auto& task : program.task)
            for (std::size_t r = 0; r < task.entries; ++r) compute(task.slot + r);
    }
    const std::vector<float>& slots() const { return v_; }

private:
    /// A divisor may belong to a later task.
    void compute(std::size_t slot)
    {
        if (known_[slot]) return;
        const auto&       task = *task_of_[slot];
        const std::size_t part = std::size_t{1} << task.log2_part, group = std::size_t{1} << task.log2_group;
        const std::size_t r = slot - task.slot, leader = r * part % group / part;
        double            x = program_.source[slot] < 0 ? 0 : 0 + program_.scale[slot] * input_[program_.source[slot]];
        x = subtract_lanes(task, r * part, part, x);
        for (const auto [a, b] : program_.late[slot]) x = std::fma(-double{v_[a]}, double{v_[b]}, x);
        const std::size_t divisor = leader > 0 ? slot - leader : task.divide ? program_.divisor[slot] : 0;
        if (divisor > 0) {
            compute(divisor);
            x /= double{v_[divisor]};
        }
        v_[slot] = static_cast<float>(x);
        known_[slot] = true;
    }
    double subtract_lanes(const DataflowProgram::Task& task, std::size_t first_lane, std::size_t part, double x) const
    {
        std::array<double, 32> sum{x};
        for (std::size_t lane = 0; lane < part; ++lane)
            for (std::size_t row = task.first; row < std::size_t{task.first} + task.steps; ++row) {
                const auto [a, b] = program_.operand[32 * row + first_lane + lane];
                sum[lane] = std::fma(-double{v_[a]}, double{v_[b]}, sum[lane]);
            }
        for (std::size_t half = part / 2; half > 0; half /= 2)
            for (std::size_t lane = 0; lane < half; ++lane) sum[lane] += sum[lane + half];
        return sum[0];
    }

    const DataflowProgram&                    program_;
    std::span<const double>                   input_;
    std::vector<float>                        v_;
    std::vector<bool>                         known_;
    std::vector<const DataflowProgram::Task*> task_of_;
};

}  // namespace ilux::test

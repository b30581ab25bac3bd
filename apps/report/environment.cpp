#include "ilux/apps/report/environment.hpp"

#include <fmt/core.h>

#include "ilux/apps/program/machine.hpp"
#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/units.hpp"

namespace ilux::app {

Rows environment_rows()
{
    const std::string commit = build_commit();
    Rows              rows{{"ilux", commit.empty() ? ILUX_VERSION : fmt::format("{}, commit {}", ILUX_VERSION, commit)},
              {"compiler", compiler_name()},
              {"build", fmt::format("{}, flags:{}", ILUX_BUILD_TYPE, std::string_view(" " ILUX_BUILD_FLAGS))},
              {"processor", fmt::format("{}, {} threads (OMP_NUM_THREADS, or all)", cpu_name(), Cpu().threads())},
              {"memory", fmt::format("{}, {} available", bytes_text(double(memory_bytes())),
                                                  bytes_text(double(memory_available())))},
              {"CUDA build", built_with_cuda() ? "yes" : "no; -DILUX_CUDA=ON with nvcc on PATH makes one"}};
    const int         gpus = gpu_count();
    if (gpus == 0) rows.push_back({"GPU", "none found"});
    for (int k = 0; k < gpus; ++k) {
        const GpuMemory memory = gpu_memory(k);
        rows.push_back(
            {fmt::format("GPU {}", k), fmt::format("{}, {}, {} free", gpu_name(k), bytes_text(double(memory.total)),
                                                   bytes_text(double(memory.free)))});
    }
    return rows;
}

}  // namespace ilux::app

// What measures a GPU, in a build without CUDA: no Gpu can be made there.

#include <nlohmann/json.hpp>

#include "ilux/apps/bench/lu/bench_lu_gpu.hpp"
#include "ilux/apps/bench/lu/measure_device.hpp"
#include "ilux/base/gpu/absent.hpp"

namespace ilux {

using detail::absent;

DeviceParameters measure_device(Gpu&) { absent(); }

namespace app {

LuBenchGpu::LuBenchGpu(const LuSystem<>& system, const LuBench& bench) : system_(system), bench_(bench) {}
nlohmann::ordered_json LuBenchGpu::measure(RefactorMethod) { absent(); }
nlohmann::ordered_json LuBenchGpu::measure_numeric(RefactorMethod, const LeftTuning&) { absent(); }
nlohmann::ordered_json LuBenchGpu::ablation() { absent(); }

}  // namespace app
}  // namespace ilux

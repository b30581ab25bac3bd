// bench_lu_gpu.hpp in a build without CUDA: no Gpu can be made there.

#include <nlohmann/json.hpp>

#include "ilux/base/gpu/absent.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/lab/suites/bench_lu_gpu.hpp"

namespace ilux::app {

using detail::absent;

// clang-format off
template <Scalar S> LuBenchGpu<S>::LuBenchGpu(const LuSystem<S>& system, const LuBench& bench) : system_(system), bench_(bench) {}
template <Scalar S> nlohmann::ordered_json LuBenchGpu<S>::measure(RefactorMethod) { absent(); }
template <Scalar S> nlohmann::ordered_json LuBenchGpu<S>::measure_numeric(RefactorMethod) { absent(); }
template <Scalar S> nlohmann::ordered_json LuBenchGpu<S>::measure_left(const LeftTuning&) { absent(); }
template <Scalar S> nlohmann::ordered_json LuBenchGpu<S>::measure_cudss() { absent(); }
template <Scalar S> nlohmann::ordered_json LuBenchGpu<S>::measure_supernodes() { absent(); }
template <Scalar S> nlohmann::ordered_json LuBenchGpu<S>::ablation() { absent(); }
// clang-format on

#define ILUX_INSTANTIATE(S)                                                         \
    template LuBenchGpu<S>::LuBenchGpu(const LuSystem<S>&, const LuBench&);         \
    template nlohmann::ordered_json LuBenchGpu<S>::measure(RefactorMethod);         \
    template nlohmann::ordered_json LuBenchGpu<S>::measure_numeric(RefactorMethod); \
    template nlohmann::ordered_json LuBenchGpu<S>::measure_left(const LeftTuning&); \
    template nlohmann::ordered_json LuBenchGpu<S>::measure_cudss();                 \
    template nlohmann::ordered_json LuBenchGpu<S>::measure_supernodes();            \
    template nlohmann::ordered_json LuBenchGpu<S>::ablation();
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

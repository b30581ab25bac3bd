#include "ilux/apps/machine.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <fstream>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu.hpp"

namespace ilux::app {
namespace {

/// The text after "key :" on the first such line of a file of /proc.
std::string proc_value(const char* file, std::string_view key)
{
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(key)) continue;
        const auto colon = line.find(':');
        const auto begin = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
        return begin == std::string::npos ? "" : line.substr(begin);
    }
    return "";
}

constexpr bool built_with_cuda =
#if defined(ILUX_WITH_CUDA)
    true;
#else
    false;
#endif

}  // namespace

std::string cpu_name()
{
    const std::string name = proc_value("/proc/cpuinfo", "model name");
    return name.empty() ? "CPU" : name;
}

std::uint64_t memory_bytes()
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

std::uint64_t memory_available()
{
    const std::string kilobytes = proc_value("/proc/meminfo", "MemAvailable");
    return kilobytes.empty() ? 0 : std::strtoull(kilobytes.c_str(), nullptr, 10) * 1024;
}

std::string blas_name()
{
    // Not a symbol of every BLAS, so it is looked up rather than linked.
    if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_get_config")) return reinterpret_cast<const char* (*)()>(symbol)();
    return "not OpenBLAS; results are the same, the dense last level may be slower";
}

std::string compiler_name()
{
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

Device choose_device(DeviceChoice choice, int threads, std::vector<std::string>& decisions)
{
    if (choice == DeviceChoice::gpu) {
        if (!built_with_cuda)
            throw DeviceError(
                "device gpu: this build has no CUDA code; use --device cpu, or build with -DILUX_CUDA=ON");
        if (gpu_count() == 0)
            throw DeviceError("device gpu: no CUDA device was found; use --device cpu, or see ilux doctor");
        throw DeviceError(fmt::format(
            "device gpu: {} was found, but `ilux solve` of this version runs on the CPU only; use --device cpu",
            gpu_name(0)));
    }
    if (choice == DeviceChoice::automatic)
        decisions.emplace_back(gpu_count() > 0 ? "device cpu: the solvers of this version run on the CPU only"
                                               : "device cpu: no GPU was found");
    return {.kind = "cpu", .name = cpu_name(), .threads = Cpu(threads).threads()};
}

}  // namespace ilux::app

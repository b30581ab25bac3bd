#include "ilux/engine/machine/host.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string_view>

namespace ilux {
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

bool built_with_cuda()
{
#if defined(ILUX_WITH_CUDA)
    return true;
#else
    return false;
#endif
}

}  // namespace ilux

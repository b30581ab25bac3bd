#include "ilux/apps/run/probes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "ilux/base/error.hpp"

namespace ilux::app {

std::vector<Index> parse_probes(std::string_view text)
{
    std::vector<Index> unknowns;
    for (std::string_view rest = text;;) {
        const auto             end = rest.find(',');
        const std::string_view part = rest.substr(0, end);
        Index                  k = 0;
        const auto             read = std::from_chars(part.data(), part.data() + part.size(), k);
        if (read.ec != std::errc() || read.ptr != part.data() + part.size() || k < 1)
            throw InvalidOption(fmt::format(
                "--probe {}: '{}' is no number of an unknown; expected NODE or NODE,NODE,..., counted from 1", text,
                part));
        if (std::ranges::count(unknowns, k) > 0)
            throw InvalidOption(fmt::format("--probe {}: {} stands twice", text, k));
        unknowns.push_back(k);
        if (end == std::string_view::npos) return unknowns;
        rest.remove_prefix(end + 1);
    }
}

Probes::Probes(std::vector<Index> unknowns, Index n) : unknowns_(std::move(unknowns))
{
    for (const Index k : unknowns_)
        if (k > n) throw InvalidOption(fmt::format("--probe {}: there are {} unknowns, counted from 1", k, n));
}

CurvePoint Probes::at(double frequency, std::span<const std::complex<double>> x)
{
    CurvePoint point{.frequency = frequency};
    if (x.empty()) return point;
    if (unknowns_.empty()) {
        const auto largest =
            std::ranges::max_element(x, {}, [](const std::complex<double>& value) { return std::abs(value); });
        unknowns_.push_back(static_cast<Index>(largest - x.begin()) + 1);
        decision_ = fmt::format("--probe {}: none was given, and this unknown is the largest at {:g} Hz", unknowns_[0],
                                frequency);
    }
    for (const Index k : unknowns_) point.probed.push_back({k, x[static_cast<std::size_t>(k) - 1]});
    return point;
}

}  // namespace ilux::app

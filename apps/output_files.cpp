#include "ilux/apps/output_files.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "ilux/base/error.hpp"
#include "ilux/base/text_file.hpp"

namespace ilux::app {
namespace {

bool same_file(const std::string& a, const std::string& b)
{
    std::error_code unknown;
    return std::filesystem::weakly_canonical(a, unknown) == std::filesystem::weakly_canonical(b, unknown) && !unknown;
}

}  // namespace

void require_outputs(const std::vector<std::string>& inputs, std::span<const OutputFile> outputs)
{
    std::vector<std::string> taken = inputs;
    for (const auto& [option, file] : outputs) {
        if (file.empty()) continue;
        if (file == "-") throw InvalidOption(fmt::format("standard output carries the report: give {} a file", option));
        for (const std::string& other : taken)
            if (same_file(file, other))
                throw InvalidOption(fmt::format("{} would be overwritten by {}", other, option));
        taken.push_back(file);
    }
    for (const OutputFile& output : outputs)
        if (!output.file.empty()) AtomicFile probe(output.file);
}

}  // namespace ilux::app

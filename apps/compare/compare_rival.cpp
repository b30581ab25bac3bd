#include "ilux/apps/compare/compare_rival.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ilux/apps/input/system_file.hpp"
#include "ilux/apps/program/child.hpp"
#include "ilux/base/error.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* where = "ILUX_COMPARE_CUSP";

bool can_run(const std::string& file)
{
    std::error_code unknown;
    return std::filesystem::is_regular_file(file, unknown) && access(file.c_str(), X_OK) == 0;
}

std::string new_folder()
{
    std::error_code why;
    std::string     name = (std::filesystem::temp_directory_path(why) / "ilux-compare-XXXXXX").string();
    require(!why, [&] { return fmt::format("there is no folder for temporary files: {}", why.message()); });
    require(mkdtemp(name.data()) != nullptr,
            [&] { return fmt::format("{}: cannot be made: {}", name, std::strerror(errno)); });
    return name;
}

}  // namespace

std::string find_compare_cusp()
{
    if (const char* given = std::getenv(where); given != nullptr && *given != '\0') {
        require(can_run(given), [&] { return fmt::format("{}={}: there is no such program", where, given); });
        return given;
    }
    std::error_code unknown;
    const auto      here = std::filesystem::read_symlink(this_program, unknown);
    const auto      beside = here.parent_path() / "ilux_compare_cusp";
    return !unknown && can_run(beside.string()) ? beside.string() : "";
}

RivalSystem::RivalSystem(std::string program, const Problem<>& problem)
    : program_(std::move(program)), folder_(new_folder()), problem_(problem)
{
    try {
        const CsrView<double>& A = problem.A;
        write_system(folder_ + "/system", A.row_ptr(), A.col(), A.val(), problem.b);
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
        throw;
    }
}

RivalSystem::~RivalSystem()
{
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void RivalSystem::run(Json& row, const Strategy& strategy, const SolveOptions& options, Index repeats) const
{
    const std::string              x = folder_ + "/x";
    const std::vector<std::string> arguments{folder_ + "/system",
                                             x,
                                             strategy.precond,
                                             fmt::format("{}", options.krylov.rtol),
                                             fmt::format("{}", options.krylov.max_steps),
                                             fmt::format("{}", options.krylov.restart),
                                             fmt::format("{}", repeats)};
    std::error_code                ignored;
    std::filesystem::remove(x, ignored);  // of another preconditioner
    run_for(row, program_, arguments, options.time_limit);
    if (!std::filesystem::exists(x, ignored)) {
        if (row["outcome"] != name(Outcome::converged)) return;
        row["outcome"] = "failed";
        row["detail"] = "it called itself converged, but left no x";
        return;
    }
    const std::string broken = failure_of(
        [&] { judge<double>(row, problem_.A, problem_.b, read_doubles(x, problem_.n()), options.krylov.rtol); });
    if (broken.empty()) return;
    row["outcome"] = "failed";
    row["detail"] = broken;
}

}  // namespace ilux::app

#include "ilux/apps/program/output_files.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "ilux/apps/program/interrupt.hpp"
#include "ilux/base/error.hpp"

namespace ilux::app {
namespace {

namespace fs = std::filesystem;

std::string solution_name(Index k) { return fmt::format("x_{:03}.mtx", k); }

bool is_solution_name(const std::string& name)
{
    Index k = -1;
    if (name.size() > 2) std::from_chars(name.data() + 2, name.data() + name.size(), k);
    return k >= 0 && name == solution_name(k);
}

/// Which file it is, under whatever name.
using FileId = std::pair<dev_t, ino_t>;
std::optional<FileId> id_of(const FileTarget& target)
{
    struct stat about {};
    if ((target.descriptor >= 0 ? fstat(target.descriptor, &about) : stat(target.path.c_str(), &about)) != 0) return {};
    return FileId{about.st_dev, about.st_ino};
}

/// Files that are there, by what they are.
using Inputs = std::map<FileId, std::string>;

void add_input(const std::string& path, Inputs& inputs)
{
    struct stat about {};
    if (stat(path.c_str(), &about) == 0) inputs.emplace(FileId{about.st_dev, about.st_ino}, path);
}

/// Those named, and what folders among them hold: only what may be an input there.
Inputs input_files(const std::vector<std::string>& named)
{
    Inputs inputs;
    for (const std::string& path : named) {
        add_input(path, inputs);
        std::error_code no_folder;
        for (const auto& entry : fs::directory_iterator(path, no_folder)) {
            const fs::path extension = entry.path().extension();
            if (extension != ".html" && extension != ".svg" && !is_solution_name(entry.path().filename().string()))
                add_input(entry.path().string(), inputs);
        }
    }
    return inputs;
}

bool same_path(const std::string& a, const std::string& b)
{
    std::error_code unknown;
    return fs::weakly_canonical(a, unknown) == fs::weakly_canonical(b, unknown) && !unknown;
}

/// Whether the target is what descriptor `standard` is open on. /dev/null and its like may be many things at once.
bool is_open_as(int standard, const FileTarget& target)
{
    struct stat ours {};
    if (fstat(standard, &ours) != 0 || (S_ISCHR(ours.st_mode) && isatty(standard) == 0)) return false;
    return id_of(target) == FileId{ours.st_dev, ours.st_ino};
}

/// Why a file may not be this output, or "".
std::string misuse_of(const NamedOutput& output, const FileTarget& target, const Inputs& inputs)
{
    if (output.kind != OutputKind::data && (target.name == "-" || is_open_as(STDOUT_FILENO, target)))
        return fmt::format("standard output carries the report: give {} a file", output.option);
    if (is_open_as(STDERR_FILENO, target))
        return fmt::format("standard error carries the messages: give {} a file", output.option);
    if (is_open_as(STDIN_FILENO, target))
        return fmt::format("{}, which is standard input, would be overwritten by {}", target.name, output.option);
    const auto id = id_of(target);
    const auto input = id ? inputs.find(*id) : inputs.end();
    return input == inputs.end() ? "" : fmt::format("{} would be overwritten by {}", input->second, output.option);
}

void keep_first(std::string& trouble, std::string text)
{
    if (trouble.empty()) trouble = std::move(text);
}

/// Removes the former file, if it is one of ours to replace.
void claim_file(const NamedOutput& output, const Inputs& inputs, std::vector<FileTarget>& claimed, Claims& all)
{
    try {
        FileTarget target(output.name);
        if (std::string why = misuse_of(output, target, inputs); !why.empty())
            return keep_first(all.misuse, std::move(why));
        target.stop = signal_token();
        remove_former(target);
        if (output.kind != OutputKind::solutions) require_writable(target);
        claimed.push_back(std::move(target));
    } catch (const InvalidInput& error) {
        keep_first(all.unwritable, error.what());
    }
}

void claim_solutions(const NamedOutput& output, const Inputs& inputs, std::vector<FileTarget>& claimed, Claims& all)
{
    std::vector<std::string> names;
    std::error_code          failed;
    for (const auto& entry : fs::directory_iterator(output.name, failed))
        if (is_solution_name(entry.path().filename().string()) && !fs::is_directory(entry.path(), failed))
            names.push_back(entry.path().string());
    for (const std::string& name : names) claim_file({output.option, name, output.kind}, inputs, claimed, all);
}

/// Whether one output would replace what the other writes.
bool collide(const NamedOutput& a, const NamedOutput& b)
{
    if (a.kind != OutputKind::solutions && b.kind != OutputKind::solutions) return same_path(a.name, b.name);
    if (a.kind == b.kind) return false;
    const auto& [file, folder] =
        a.kind == OutputKind::solutions ? std::pair(b.name, a.name) : std::pair(a.name, b.name);
    return is_solution_name(fs::path(file).filename().string()) &&
           same_path((fs::path(file).parent_path() / ".").string(), folder + "/.");
}

}  // namespace

Claims claim(std::span<const NamedOutput> outputs, const std::vector<std::string>& named_inputs)
{
    Claims       all;
    const Inputs inputs = input_files(named_inputs);
    for (const NamedOutput& output : outputs) {
        std::vector<FileTarget> claimed;
        if (output.kind == OutputKind::solutions) claim_solutions(output, inputs, claimed, all);
        else claim_file(output, inputs, claimed, all);
        all.of.push_back(std::move(claimed));
    }
    for (std::size_t k = 1; k < outputs.size(); ++k)
        for (const NamedOutput& other : outputs.first(k))
            if (collide(other, outputs[k]))
                keep_first(all.misuse, fmt::format("{} would be overwritten by {}", other.name, outputs[k].option));
    return all;
}

void make_folder(const Output& folder)
{
    std::error_code failed;
    fs::create_directories(folder.name, failed);
    if (failed) throw InvalidInput(fmt::format("{}: {}", folder.name, failed.message()));
    require_writable(solution_file(folder, 0));
}

FileTarget solution_file(const Output& folder, Index k)
{
    const std::string path = (fs::path(folder.name) / solution_name(k)).string();
    const auto        former = std::ranges::find(folder.claimed, path, &FileTarget::name);
    return former == folder.claimed.end() ? FileTarget(path) : *former;
}

FileTarget waiting_at_most(double seconds, FileTarget target)
{
    if (seconds > 0)
        target.stop = target.stop.within(
            seconds, fmt::format("{}: the time limit of {:g} s was reached before anything read it; --time-limit takes "
                                 "another, 0 is none",
                                 target.name, seconds));
    return target;
}

void write_file(const FileTarget& file, const std::string& text)
{
    AtomicFile out(file);
    out.write(text);
    out.commit();
}

}  // namespace ilux::app

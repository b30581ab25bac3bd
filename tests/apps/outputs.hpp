#pragma once
// What the files that a command writes may be when it has ended: complete and of that run, or not there.

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "ilux/tests/apps/cli.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {

inline constexpr const char* former_run = "of a former run";

/// A former run's file of this name.
inline std::string former(const TempFolder& folder, const std::string& name) { return folder.write(name, former_run); }

/// Whether a run of this version wrote all of it: each kind of file has an end that tells.
inline bool is_complete(const std::string& path)
{
    const std::string text = read_bytes(path);
    if (path.ends_with(".html")) return text.starts_with("<!DOCTYPE html>") && text.ends_with("</body>\n</html>\n");
    if (path.ends_with(".svg")) return text.starts_with("<svg") && text.ends_with("</svg>\n");
    if (path.ends_with(".csv"))
        return text.starts_with("step,relative_residual,exact,seconds\n") && text.ends_with('\n');
    try {
        return !read_vector(path).empty();  // counts its lines
    } catch (const InvalidInput&) {
        return false;
    }
}

/// Holds of every exit. @return whether the file is there
inline bool holds_the_rule(const std::string& path)
{
    if (!std::filesystem::exists(path)) return false;
    EXPECT_TRUE(is_complete(path)) << path << ":\n" << read_bytes(path).substr(0, 300);
    return true;
}

/// What lets the k-th call of one kind fail (tests/support/fault_shim.cpp).
struct Fault {
    std::string call;
    int         at = 1;
    std::string error;  ///< a number, or "throw"

    /// To stand before the program. @param folder  whose files are watched  @param hit  a file made when it happens
    std::string environment(const std::filesystem::path& folder, const std::string& hit) const
    {
        return fmt::format(
            "LD_PRELOAD='" ILUX_FAULT_SHIM
            "' ILUX_FAULT_CALL={} ILUX_FAULT_AT={} ILUX_FAULT_ERROR={} ILUX_FAULT_UNDER='{}' ILUX_FAULT_HIT='{}' ",
            call, at, error, std::filesystem::canonical(folder).string(), hit);
    }
};

}  // namespace ilux

#define ILUX_SKIP_WITHOUT_FAULTS()                                                         \
    if (::ilux::test::sanitized || !std::filesystem::exists(ILUX_FAULT_SHIM)) GTEST_SKIP() \
    << "no library can be loaded before this program: it is built with a sanitizer, or not where it was built"

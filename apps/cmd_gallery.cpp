// ilux gallery: the model problems, listed or written.

#include <fmt/core.h>

#include <utility>
#include <variant>

#include "ilux/apps/program/console.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/gallery/gallery.hpp"

namespace ilux::app {
namespace {

void list()
{
    for (const gallery::Problem& problem : gallery::problems()) {
        std::string text = fmt::format("{}  {}\n", problem.name, problem.summary);
        for (const gallery::Parameter& parameter : problem.parameters)
            text += fmt::format("    {:<22}{}\n", parameter.name + "=" + parameter.default_text, parameter.help);
        write_out(text);
    }
    write_out(
        "\nSolve one with `ilux solve gallery:NAME:key=value,...`; write one with `ilux gallery NAME:key=value,... --out F.mtx`.\n");
}

void describe_one(const std::string& spec)
{
    const gallery::Problem& problem = gallery::find_problem(spec.substr(0, spec.find(':')));
    const auto [rows, nnz] =
        std::visit([](const auto& A) { return std::pair(A.rows(), A.nnz()); }, gallery::build_any(spec));
    std::string text =
        fmt::format("{}  {}\n    {}\n    {}: n {}, nnz {}{}\n", problem.name, problem.summary, problem.properties,
                    printable(spec), rows, nnz, problem.traits.complex ? ", complex" : "");
    for (const gallery::Parameter& parameter : problem.parameters)
        text += fmt::format("    {:<22}{}\n", parameter.name + "=" + parameter.default_text, parameter.help);
    write_out(text);
}

}  // namespace

int gallery_command(Arguments arguments)
{
    std::string spec;
    Output      out;
    auto app = parser("gallery", "Lists the model problems, describes one, or writes one as a Matrix Market file.");
    app->add_option("NAME", spec, "NAME or NAME:key=value,... (gallery: in front is allowed)")->type_name("problem");
    app->add_output("--out", out, "write the matrix; - for standard output, .gz is compressed", "FILE.mtx",
                    OutputKind::data);
    if (!parse(*app, arguments)) return success;

    if (spec.starts_with("gallery:")) spec = spec.substr(8);
    if (spec.empty() && out) throw InvalidOption("gallery --out: the NAME of a problem is missing");
    if (spec.empty()) return list(), success;
    if (!out) return describe_one(spec), success;

    const gallery::Problem& problem = gallery::find_problem(spec.substr(0, spec.find(':')));
    const std::string comment = fmt::format("gallery:{}, written by ilux {}\n{}", spec, ILUX_VERSION, problem.summary);
    std::visit([&](const auto& A) { write_matrix(out.file(), A, {.comment = comment}); }, gallery::build_any(spec));
    return success;
}

}  // namespace ilux::app

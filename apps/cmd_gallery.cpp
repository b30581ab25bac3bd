// ilux gallery: the model problems, listed or written.

#include <fmt/core.h>

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
    const auto              A = gallery::build(spec);
    std::string             text = fmt::format("{}  {}\n    {}\n    {}: n {}, nnz {}\n", problem.name, problem.summary,
                                               problem.properties, printable(spec), A.rows(), A.nnz());
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
    app->add_option("NAME", spec, "NAME or NAME:key=value,... (gallery: in front is allowed)");
    app->add_output("--out", out, "write the matrix; - for standard output, .gz is compressed", "FILE.mtx",
                    OutputKind::data);
    if (!parse(*app, arguments)) return success;

    if (spec.starts_with("gallery:")) spec = spec.substr(8);
    if (spec.empty() && out) throw InvalidOption("gallery --out: the NAME of a problem is missing");
    if (spec.empty()) return list(), success;
    if (!out) return describe_one(spec), success;

    const gallery::Problem& problem = gallery::find_problem(spec.substr(0, spec.find(':')));
    const std::string comment = fmt::format("gallery:{}, written by ilux {}\n{}", spec, ILUX_VERSION, problem.summary);
    write_matrix(out.file(), gallery::build(spec), {.comment = comment});
    return success;
}

}  // namespace ilux::app

#include "ilux/gallery/gallery.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ilux/base/instances.hpp"
#include "ilux/gallery/assemble.hpp"
#include "ilux/gallery/table.hpp"

namespace ilux::gallery {
namespace {

std::vector<Problem> all_problems()
{
    std::vector<Problem> all;
    for (auto part :
         {pde_problems, system_problems, circuit_problems, wave_problems, special_problems, stand_in_problems})
        for (auto& problem : part()) all.push_back(std::move(problem));
    return all;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> split_assignments(std::string_view assignments)
{
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    if (assignments.empty()) return pairs;
    for (bool more = true; more;) {
        const auto comma = assignments.find(',');
        const auto part = assignments.substr(0, comma);
        const auto equals = part.find('=');
        if (equals == 0 || equals == std::string_view::npos)
            throw InvalidOption(fmt::format("expected key=value, got '{}'", part));
        const auto name = part.substr(0, equals);
        if (std::ranges::find(pairs, name, &std::pair<std::string_view, std::string_view>::first) != pairs.end())
            throw InvalidOption(fmt::format("'{}' is given twice", name));
        pairs.emplace_back(name, part.substr(equals + 1));
        more = comma != std::string_view::npos;
        if (more) assignments.remove_prefix(comma + 1);
    }
    return pairs;
}

std::string properties_text(const Traits& traits, std::string_view notes)
{
    std::string text;
    const auto  say = [&](bool holds, std::string_view words) {
        if (holds) text += (text.empty() ? "" : ", ") + std::string(words);
    };
    say(traits.symmetric, traits.complex             ? "complex symmetric (A = A^T), not Hermitian"
                          : traits.positive_definite ? "symmetric positive definite"
                                                     : "symmetric");
    say(traits.pattern_symmetric && !traits.symmetric, "pattern symmetric, values not");
    say(!traits.pattern_symmetric && !traits.symmetric && !traits.lower_triangular, "unsymmetric");
    say(traits.m_matrix, "M-matrix");
    say(traits.dominant, "diagonally dominant by rows");
    say(traits.lower_triangular, "lower triangular");
    say(traits.zero_diagonal, "zero diagonals");
    say(traits.structurally_singular, "structurally singular");
    say(traits.singular && !traits.structurally_singular, "singular");
    return text + (text.empty() || notes.empty() ? "" : "; ") + std::string(notes);
}

std::span<const Problem> problems()
{
    static const std::vector<Problem> all = all_problems();
    return all;
}

const Problem& find_problem(std::string_view name)
{
    const auto found = std::ranges::find(problems(), name, &Problem::name);
    if (found != problems().end()) return *found;
    std::vector<std::string> names;
    for (const auto& problem : problems()) names.push_back(problem.name);
    const auto nearest = nearest_name(name, names);
    throw InvalidOption(nearest.empty()
                            ? fmt::format("there is no gallery problem '{}'; `ilux gallery` lists them", name)
                            : fmt::format("there is no gallery problem '{}'; did you mean '{}'?", name, nearest));
}

AnyMatrix build_any(std::string_view spec)
{
    const auto     colon = spec.find(':');
    const Problem& problem = find_problem(spec.substr(0, colon));
    try {
        if (colon == std::string_view::npos) return problem.build("");
        if (colon + 1 == spec.size()) throw InvalidOption("expected key=value after the colon");
        return problem.build(spec.substr(colon + 1));
    } catch (const InvalidOption& error) {
        throw InvalidOption(fmt::format("gallery:{}: {}", spec, error.what()));
    }
}

CsrMatrix<double> build(std::string_view spec)
{
    if (find_problem(spec.substr(0, spec.find(':'))).traits.complex)
        throw InvalidOption(fmt::format("gallery:{}: its values are complex; only real ones are taken here", spec));
    return std::get<CsrMatrix<double>>(build_any(spec));
}

template <Scalar S>
std::vector<S> random_vector(Index n, std::int64_t seed)
{
    require(n >= 0, [&] { return fmt::format("a vector cannot have {} values", n); });
    constexpr std::int64_t another = 0x5DEECE66D;  // so that Im is not Re of a neighbouring seed
    Random                 random(seed), imaginary(seed ^ another);
    std::vector<S>         x(n);
    for (S& value : x) {
        if constexpr (is_complex<S>) value = {random.between(-1, 1), imaginary.between(-1, 1)};
        else value = random.between(-1, 1);
    }
    return x;
}

#define ILUX_INSTANTIATE(S) template std::vector<S> random_vector(Index, std::int64_t);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::gallery

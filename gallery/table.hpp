#pragma once
// How a source file of this folder enters its problems into the table of gallery.hpp.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ilux/base/fields.hpp"
#include "ilux/gallery/gallery.hpp"

namespace ilux::gallery {

/// "a=1,b=2" as pairs. @throws InvalidOption for a part without '=', or a name given twice
std::vector<std::pair<std::string_view, std::string_view>> split_assignments(std::string_view assignments);

/// "symmetric positive definite, M-matrix; " before `notes`.
std::string properties_text(const Traits& traits, std::string_view notes);

template <OptionsStruct O, Scalar S, CsrMatrix<S> (*make)(const O&)>
AnyMatrix build_from_text(std::string_view assignments)
{
    O options;
    for (auto [name, text] : split_assignments(assignments)) set_field(options, name, text);
    return make(options);
}

/// A row of the table: parameters, their defaults and their help all come from O's fields().
template <OptionsStruct O, Scalar S, CsrMatrix<S> (*make)(const O&)>
Problem entry_of(std::string name, std::string summary, Traits traits, std::string_view notes)
{
    traits.complex = is_complex<S>;
    Problem problem{.name = std::move(name),
                    .summary = std::move(summary),
                    .properties = properties_text(traits, notes),
                    .traits = traits,
                    .stand_in = false,
                    .parameters = {},
                    .build = build_from_text<O, S, make>};
    O       defaults;
    for_each_field(defaults, [&](const std::string& path, auto& field, Range, std::string_view help) {
        problem.parameters.push_back({path, field_text(field), std::string(help)});
    });
    return problem;
}

template <OptionsStruct O, CsrMatrix<double> (*make)(const O&)>
Problem entry(std::string name, std::string summary, const Traits& traits, std::string_view notes)
{
    return entry_of<O, double, make>(std::move(name), std::move(summary), traits, notes);
}

/// One whose values are complex, which its traits need not say.
template <OptionsStruct O, CsrMatrix<std::complex<double>> (*make)(const O&)>
Problem complex_entry(std::string name, std::string summary, const Traits& traits, std::string_view notes)
{
    return entry_of<O, std::complex<double>, make>(std::move(name), std::move(summary), traits, notes);
}

std::vector<Problem> pde_problems();
std::vector<Problem> system_problems();
std::vector<Problem> circuit_problems();
std::vector<Problem> wave_problems();
std::vector<Problem> special_problems();
std::vector<Problem> stand_in_problems();

}  // namespace ilux::gallery

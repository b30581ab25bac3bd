#pragma once
// Sections that pages on a single solve and on a series have in common.

#include "ilux/apps/draw/structure.hpp"
#include "ilux/apps/report/html_page.hpp"
#include "ilux/engine/report/attempt.hpp"

namespace ilux::app {

struct Phase {
    std::string name;
    double      seconds = 0;
    bool        part = false;  ///< of the phase before that is no part
};
/// A bar for each phase.
HtmlSection time_section(const std::vector<Phase>& phases, double total);

/// What the words and letters above mean that only this field knows, for who meets them here first.
std::string words_of(const Plan& plan);
/// What became of systems of a series: factor, refactor and so on, as far as they happened.
std::string words_of(const std::vector<std::string>& actions);

/// Levels of the multilevel ILU: accepted and postponed rows, and fill. @param nnz_A  of the matrix
std::string level_table(const MlIluReport& report, Offset nnz_A);
/// How large the levels of an LU are, and its hub columns, or that there are none.
std::string lu_level_table(const Structure& structure);

/// Rows by depth, each profile a curve. @param structure  null: there are no factors
/// @param why_none  said where there is no profile
HtmlSection depth_section(const Structure* structure, std::string_view why_none);
/// A as given, and what the factors made of it.
HtmlSection pattern_section(Index n, Offset nnz, const SparsityPicture& of_A, const Structure* structure);

HtmlSection decisions_section(const std::vector<std::string>& decisions);
/// Those that are not at their defaults first, then all.
HtmlSection options_section(const SolveOptions& options, const SolveOptions& defaults);
/// Version, commit, compiler, processor, memory, GPU: of the machine this is called on.
HtmlSection environment_section();

}  // namespace ilux::app

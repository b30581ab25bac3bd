#include "ilux/lab/rivals/setup_rivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ilux/base/error.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::app {

std::span<const Rival> setup_rivals()
{
    static constexpr std::array<Rival, 9> all{{
        {"eigen-ilut", about_eigen_gmres, why_no_eigen, solve_by_eigen_gmres},
        {"eigen-ilut-bicgstab", about_eigen_bicgstab, why_no_eigen, solve_by_eigen_bicgstab},
        {"amgcl", about_amgcl_spai0, why_no_amgcl, solve_by_amgcl_spai0},
        {"amgcl-ilu0", about_amgcl_ilu0, why_no_amgcl, solve_by_amgcl_ilu0},
        {"amgcl-cuda", about_amgcl_cuda, why_no_amgcl_cuda, solve_by_amgcl_cuda, true},
        {"amgx", about_amgx_fgmres, why_no_amgx, solve_by_amgx_fgmres, true},
        {"amgx-cg", about_amgx_pcg, why_no_amgx, solve_by_amgx_pcg, true},
        {"hypre", about_hypre_fgmres, why_no_hypre, solve_by_hypre_fgmres, true},
        {"hypre-cg", about_hypre_pcg, why_no_hypre, solve_by_hypre_pcg, true},
    }};
    return all;
}

const Rival& find_rival(std::string_view name)
{
    const auto found = std::ranges::find(setup_rivals(), name, &Rival::name);
    if (found != setup_rivals().end()) {
        if (const std::string why = found->why_not(); !why.empty())
            throw InvalidOption(fmt::format("--rival {}: {}", name, why));
        return *found;
    }
    std::vector<std::string> known;
    for (const Rival& rival : setup_rivals()) known.emplace_back(rival.name);
    const std::string nearest = nearest_name(name, known);
    throw InvalidOption(fmt::format("--rival: there is no rival '{}'; {}", name,
                                    nearest.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                                    : fmt::format("did you mean '{}'?", nearest)));
}

}  // namespace ilux::app

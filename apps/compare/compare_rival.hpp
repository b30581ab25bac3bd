#pragma once
// CUSP's GMRES, a program of its own.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ilux/apps/compare/compare.hpp"

namespace ilux::app {

/// Where ilux_compare_cusp is: as $ILUX_COMPARE_CUSP says, else beside this program; "" where it is not.
/// @throws InvalidInput when $ILUX_COMPARE_CUSP names nothing that can be run
std::string find_compare_cusp();

/// How to get it, for whoever has not.
inline constexpr const char* how_to_get_cusp =
    "ilux_compare_cusp is not beside this program. To build it: git clone https://github.com/cusplibrary/cusplibrary, for CUDA "
    "13 change the one line that docs/design/compare.md names, cmake -D ILUX_CUDA=ON -D CUSP_ROOT=FOLDER, build "
    "ilux_compare_cusp; or say where it is by ILUX_COMPARE_CUSP=FILE";

/// A system for that program, in a folder of its own that goes with this object.
class RivalSystem {
public:
    /// @param program  as find_compare_cusp gives it  @throws InvalidInput when files cannot be written
    RivalSystem(std::string program, const Problem<>& problem);
    ~RivalSystem();
    RivalSystem(const RivalSystem&) = delete;
    RivalSystem& operator=(const RivalSystem&) = delete;

    /// Runs it with strategy.precond, fills the row and judges its x. @throws InvalidInput when no process can be
    /// started
    void run(nlohmann::ordered_json& row, const Strategy& strategy, const SolveOptions& options, Index repeats) const;

private:
    std::string      program_, folder_;
    const Problem<>& problem_;
};

}  // namespace ilux::app

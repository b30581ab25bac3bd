// refactor_right.hpp in a build without CUDA: there is no Gpu to refactor on.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/published/refactor_right.hpp"

namespace ilux {

using detail::absent;

struct RightRefactor::State {};

RightRefactor::RightRefactor(Gpu&, std::shared_ptr<const GpuLuPattern>, const RightTuning&) { absent(); }
RightRefactor::~RightRefactor() = default;
RightRefactor::RightRefactor(RightRefactor&&) noexcept = default;
RightRefactor& RightRefactor::operator=(RightRefactor&&) noexcept = default;
void                          RightRefactor::run(Gpu&, DeviceSpan<double>) { absent(); }
const LuLevels&               RightRefactor::levels() const { absent(); }
RightModes                    RightRefactor::modes() const { absent(); }
std::size_t                   RightRefactor::bytes() const { absent(); }

}  // namespace ilux

// refactor_union.hpp in a build without CUDA: there is no Gpu to refactor on.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/published/refactor_union.hpp"

namespace ilux {

using detail::absent;

struct UnionRefactor::State {};

UnionRefactor::UnionRefactor(Gpu&, std::shared_ptr<const GpuLuPattern>, const UnionTuning&) { absent(); }
UnionRefactor::~UnionRefactor() = default;
UnionRefactor::UnionRefactor(UnionRefactor&&) noexcept = default;
UnionRefactor& UnionRefactor::operator=(UnionRefactor&&) noexcept = default;

void                  UnionRefactor::run(Gpu&, DeviceSpan<double>) { absent(); }
const GpuMemberUnion& UnionRefactor::members() const { absent(); }
const UnionPlan&      UnionRefactor::plan() const { absent(); }
double                UnionRefactor::build_seconds() const { absent(); }
std::size_t           UnionRefactor::bytes() const { absent(); }

}  // namespace ilux

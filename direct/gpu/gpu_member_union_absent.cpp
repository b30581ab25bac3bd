// gpu_member_union.hpp in a build without CUDA: there is no Gpu to make positions on.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/gpu/gpu_member_union.hpp"

namespace ilux {

using detail::absent;

GpuMemberUnion::GpuMemberUnion(Gpu&, const GpuLuPattern&, std::size_t, std::optional<UnionIndex>) { absent(); }
MemberUnion GpuMemberUnion::download(Gpu&) const { absent(); }

}  // namespace ilux

// gpu_member_union.hpp in a build without CUDA: there is no Gpu to make positions on.

#include "ilux/base/error.hpp"
#include "ilux/direct/gpu_member_union.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent() { throw DeviceError("this ilux was built without CUDA"); }

}  // namespace

GpuMemberUnion::GpuMemberUnion(Gpu&, const GpuLuPattern&, std::size_t, std::optional<UnionIndex>) { absent(); }
MemberUnion GpuMemberUnion::download(Gpu&) const { absent(); }

}  // namespace ilux

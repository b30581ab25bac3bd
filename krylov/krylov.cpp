#include "ilux/krylov/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

template <Backend B, Scalar S>
auto make_parts(Method method, Index n, const KrylovOptions& opt)
{
    require(n >= 0, [&] { return fmt::format("a workspace of order {}", n); });
    decltype(KrylovWorkspace<B, S>::parts) parts(std::in_place_index<4>, 0, opt);
    switch (method) {
        case Method::gmres:
            parts.template emplace<0>(n, opt);
            break;
        case Method::fgmres:
            parts.template emplace<1>(n, opt);
            break;
        case Method::bicg:
            parts.template emplace<2>(n, opt);
            break;
        case Method::bicgstab:
            parts.template emplace<3>(n, opt);
            break;
        case Method::cg:
            parts.template emplace<4>(n, opt);
            break;
        case Method::minres:
            parts.template emplace<5>(n, opt);
            break;
        case Method::sqmr:
            parts.template emplace<6>(n, opt);
            break;
        case Method::cocg:
            parts.template emplace<7>(n, opt);
            break;
    }
    return parts;
}

std::size_t vectors(Method method, Index m)
{
    switch (method) {
        case Method::gmres:
            return m + std::size_t{3};
        case Method::fgmres:
            return 2 * m + std::size_t{3};
        case Method::bicg:
        case Method::minres:
        case Method::sqmr:
            return 8;
        case Method::bicgstab:
            return 7;
        case Method::cg:
        case Method::cocg:
            return 5;
    }
    return 0;
}

}  // namespace

template <Scalar S>
std::size_t workspace_bytes(Method method, Index n, const KrylovOptions& opt)
{
    return vectors(method, std::min(opt.restart, n)) * static_cast<std::size_t>(n) * sizeof(S);
}

template <Backend B, Scalar S>
KrylovWorkspace<B, S>::KrylovWorkspace(Method method, Index n, const KrylovOptions& opt)
    : parts(make_parts<B, S>(method, n, opt)), bytes_(workspace_bytes<S>(method, n, opt))
{}

template <Backend B, Scalar S>
IterationReport solve(B& be, Method method, const LinearOperator<B, S>& A, Preconditioner<B, S>& M,
                      ConstSpan<B, NotDeduced<S>> b, Span<B, NotDeduced<S>> x, KrylovWorkspace<B, S>& ws,
                      const KrylovOptions& opt, const ProgressListener& on_progress, const StopToken& stop)
{
    require(method == ws.method(),
            [&] { return fmt::format("a workspace made for {} cannot serve {}", name(ws.method()), name(method)); });
    switch (method) {
        case Method::gmres:
            return gmres(be, A, M, b, x, std::get<0>(ws.parts), opt, on_progress, stop);
        case Method::fgmres:
            return fgmres(be, A, M, b, x, std::get<1>(ws.parts), opt, on_progress, stop);
        case Method::bicg:
            return bicg(be, A, M, b, x, std::get<2>(ws.parts), opt, on_progress, stop);
        case Method::bicgstab:
            return bicgstab(be, A, M, b, x, std::get<3>(ws.parts), opt, on_progress, stop);
        case Method::cg:
            return cg(be, A, M, b, x, std::get<4>(ws.parts), opt, on_progress, stop);
        case Method::minres:
            return minres(be, A, M, b, x, std::get<5>(ws.parts), opt, on_progress, stop);
        case Method::sqmr:
            return sqmr(be, A, M, b, x, std::get<6>(ws.parts), opt, on_progress, stop);
        case Method::cocg:
            return cocg(be, A, M, b, x, std::get<7>(ws.parts), opt, on_progress, stop);
    }
    throw InvalidOption("no such Krylov method");
}

#define ILUX_INSTANTIATE(S) template std::size_t workspace_bytes<S>(Method, Index, const KrylovOptions&);
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

#define ILUX_INSTANTIATE(B, S)                                                                                      \
    template class KrylovWorkspace<B, S>;                                                                           \
    template IterationReport solve<B, S>(B&, Method, const LinearOperator<B, S>&, Preconditioner<B, S>&,            \
                                         ConstSpan<B, S>, Span<B, S>, KrylovWorkspace<B, S>&, const KrylovOptions&, \
                                         const ProgressListener&, const StopToken&);
ILUX_ALL_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

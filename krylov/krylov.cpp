#include "ilux/krylov/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/gpu/gpu.hpp"

namespace ilux {
namespace {

template <Backend B>
auto make_parts(Method method, Index n, const KrylovOptions& opt)
{
    require(n >= 0, [&] { return fmt::format("a workspace of order {}", n); });
    decltype(KrylovWorkspace<B>::parts) parts(std::in_place_index<4>, 0, opt);
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
            return 8;
        case Method::bicgstab:
            return 7;
        case Method::cg:
            return 5;
    }
    return 0;
}

}  // namespace

std::size_t workspace_bytes(Method method, Index n, const KrylovOptions& opt)
{
    return vectors(method, std::min(opt.restart, n)) * static_cast<std::size_t>(n) * sizeof(double);
}

template <Backend B>
KrylovWorkspace<B>::KrylovWorkspace(Method method, Index n, const KrylovOptions& opt)
    : parts(make_parts<B>(method, n, opt)), bytes_(workspace_bytes(method, n, opt))
{}

template <Backend B>
IterationReport solve(B& be, Method method, const LinearOperator<B>& A, Preconditioner<B>& M, ConstSpan<B> b, Span<B> x,
                      KrylovWorkspace<B>& ws, const KrylovOptions& opt, const ProgressListener& on_progress,
                      const StopToken& stop)
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
    }
    throw InvalidOption("no such Krylov method");
}

template class KrylovWorkspace<Cpu>;
template IterationReport solve<Cpu>(Cpu&, Method, const LinearOperator<Cpu>&, Preconditioner<Cpu>&, ConstSpan<Cpu>,
                                    Span<Cpu>, KrylovWorkspace<Cpu>&, const KrylovOptions&, const ProgressListener&,
                                    const StopToken&);
template class KrylovWorkspace<Gpu>;
template IterationReport solve<Gpu>(Gpu&, Method, const LinearOperator<Gpu>&, Preconditioner<Gpu>&, ConstSpan<Gpu>,
                                    Span<Gpu>, KrylovWorkspace<Gpu>&, const KrylovOptions&, const ProgressListener&,
                                    const StopToken&);

}  // namespace ilux

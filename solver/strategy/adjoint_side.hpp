#pragma once
// An iteration on Aᴴ x = b by the M of A.

#include <memory>
#include <optional>
#include <span>

#include "ilux/base/spmv.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/solver/machine/gpu_system.hpp"
#include "ilux/solver/strategy/standard.hpp"

namespace ilux {

/// M as the host applies it: made here, or one of the factors.
template <Scalar S>
class HostPreconditioner {
public:
    /// @param factors  of a matrix of order n; must outlive this
    HostPreconditioner(const PrecondFactors<S>& factors, Index n);
    Preconditioner<Cpu, S>& operator*() { return *M_; }

private:
    std::unique_ptr<Preconditioner<Cpu, S>> made_, projected_;
    Preconditioner<Cpu, S>*                 M_;
};

/// Aᴴ x = b on the host or on a GPU, in double, with M⁻ᴴ.
template <Scalar S>
class AdjointSide {
public:
    /// On the host. @param adjoint  Aᴴ  @param factors  of A; all must outlive this, here and below
    AdjointSide(Cpu& cpu, const CsrView<S>& adjoint, const PrecondFactors<S>& factors, Method method,
                const KrylovOptions& krylov);
    /// On a GPU. @throws OutOfMemory, DeviceError as GpuSystem
    AdjointSide(Cpu& cpu, Gpu& gpu, const CsrView<S>& adjoint, const PrecondFactors<S>& factors, Method method,
                const KrylovOptions& krylov, GpuSystemOptions options);
    AdjointSide(AdjointSide&&) = delete;  // M is looked at

    /// As ilux::solve.
    IterationReport solve(std::span<const S> b, std::span<S> x, const KrylovOptions& krylov,
                          const ProgressListener& on_progress, const StopToken& stop);
    /// For finish_iteration; all must outlive the calls.
    IterationCalls<S> calls(const StopToken& stop);
    /// Of a GPU, or null.
    GpuSystem<S>* system() { return system_.get(); }
    /// The witness of Aᴴ, made by the first call.
    Witness<S>* witness(Cpu& cpu)
    {
        if (!witness_) witness_.emplace(cpu, adjoint_, null_space_);
        return &*witness_;
    }

private:
    struct OnHost {
        OnHost(Cpu& be, const CsrView<S>& adjoint, const PrecondFactors<S>& factors, Method method,
               const KrylovOptions& krylov);

        Cpu&                          cpu;
        MatrixOperator<S>             op;
        HostPreconditioner<S>         of_A;
        AdjointPreconditioner<Cpu, S> M;
        KrylovWorkspace<Cpu, S>       workspace;
    };
    const CsrView<S>&             adjoint_;
    const NullSpace<S>*           null_space_;  // or null
    std::optional<Witness<S>>     witness_;
    std::optional<OnHost>         host_;
    std::unique_ptr<GpuSystem<S>> system_;
};

}  // namespace ilux

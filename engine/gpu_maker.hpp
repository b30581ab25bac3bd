#pragma once
// M of an iteration as a GPU applies it, made from its factors.

#include <memory>

#include "ilux/engine/krylov_system.hpp"
#include "ilux/engine/machine/gpu_report.hpp"
#include "ilux/engine/machine/options.hpp"
#include "ilux/engine/machine/precond_factors.hpp"

namespace ilux {

/// How values of M are stored there.
struct GpuStorage {
    Precision       precision;
    GpuSpTrsvEngine engine;
    Bytes           memory_limit;
};

/// Makes M, and adds to the report what it takes. Refers to all that it is given.
template <Scalar S = double>
class GpuMaker {
public:
    GpuMaker(Cpu& cpu, Gpu& gpu, GpuStorage storage, bool adjoinable, GpuReport& report)
        : cpu_(cpu), gpu_(gpu), storage_(storage), adjoinable_(adjoinable), report_(report)
    {}

    /// M applied to vectors in double, whatever its values are stored as.
    std::unique_ptr<Preconditioner<Gpu, S>> in_double(const PrecondFactors<S>& factors, Index n);
    /// M of R A C in single precision, where it is made for that. @return whether it is
    bool put_in_single(MixedSystem<Gpu, S>& mixed, const PrecondFactors<S>& factors, Index n);

private:
    template <class T, class Factors>
    std::unique_ptr<Preconditioner<Gpu, S>> made_of(const Factors& factors);
    void                                    report_rounds(const GpuRounds<S>& rounds);

    Cpu&       cpu_;
    Gpu&       gpu_;
    GpuStorage storage_;
    bool       adjoinable_;
    GpuReport& report_;
};

}  // namespace ilux

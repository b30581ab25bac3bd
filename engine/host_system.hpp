#pragma once
// An iteration on the host.

#include <memory>
#include <optional>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/engine/krylov_place.hpp"
#include "ilux/engine/krylov_system.hpp"

namespace ilux {

/// A x = b, or with the factors of A Aᴴ x = b.
template <Scalar S = double>
class HostSystem final : public KrylovPlace<S> {
public:
    /// @param adjoint  the system is with Aᴴ  @param cpu  must outlive this
    HostSystem(Cpu& cpu, Method method, const KrylovOptions& krylov, KrylovPrecision precision, bool adjoint = false)
        : cpu_(cpu), method_(method), krylov_(krylov), mixed_(precision == KrylovPrecision::mixed), adjoint_(adjoint)
    {}

    Method method() const { return method_; }
    bool   is_mixed() const { return mixed_; }
    /// Bytes of M in single precision.
    std::size_t single_bytes() const { return single_bytes_; }

    void renew(const CsrView<S>& A) override;
    /// @throws InvalidInput where a number of M is out of the range of float, and that is needed
    void put(const PrecondFactors<S>& factors) override;
    void drop_factors() override;
    void note(Attempt& tried) const override;
    void iterate(SystemVectors<S>& given, const Iterate<S>& how, Attempt& tried) override;
    void judge(SystemVectors<S>& given, const Iterate<S>& how, Attempt& tried) override;
    void fetch(Attempt&) override {}  // x is tried.x
    void apply(SystemVectors<S>& given) override;

private:
    void                                    put_in_single(const PrecondFactors<S>& factors);
    std::unique_ptr<Preconditioner<Cpu, S>> two_level(const PrecondFactors<S>& factors);

    Cpu&                                                 cpu_;
    Method                                               method_;
    KrylovOptions                                        krylov_;
    bool                                                 mixed_, adjoint_;
    const CsrView<S>*                                    A_ = nullptr;
    std::optional<MatrixOperator<S>>                     op_;
    std::vector<std::unique_ptr<Preconditioner<Cpu, S>>> made_;         // M; the last refers to those before
    Preconditioner<Cpu, S>*                              M_ = nullptr;  // one of those, or a factor
    std::optional<KrylovSystem<Cpu, S>>                  system_;       // refers to op_
    std::size_t                                          single_bytes_ = 0, matrix_bytes_ = 0;  // in single precision
};

}  // namespace ilux

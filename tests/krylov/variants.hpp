#pragma once
// A test of every method, with the options that change its path, on the host and on a device.

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "ilux/tests/krylov/runs.hpp"

namespace ilux::test::krylov {

class Variants : public testing::TestWithParam<std::tuple<Where, Variant>> {
protected:
    void SetUp() override
    {
        if (where() == Where::gpu) ILUX_SKIP_WITHOUT_GPU();
    }
    Where          where() const { return std::get<0>(GetParam()); }
    const Variant& variant() const { return std::get<1>(GetParam()); }
    Method         method() const { return variant().method; }
    /// The variant's options, with others.
    KrylovOptions options(double rtol, Index max_steps = 1000) const
    {
        KrylovOptions opt = variant().opt;
        opt.rtol = rtol;
        opt.max_steps = max_steps;
        return opt;
    }
    bool is_gmres() const { return method() == Method::gmres || method() == Method::fgmres; }

    Solution run(const CsrMatrix<>& A, Preconditioner<Cpu>& M, const Vector& b, Vector x0, const KrylovOptions& opt,
                 const StopToken& stop = {}) const
    {
        return where() == Where::gpu ? run_on_gpu(method(), A, M, b, std::move(x0), opt, stop)
                                     : test::krylov::run(method(), A, M, b, std::move(x0), opt, 1, stop);
    }
    Solution run(const CsrMatrix<>& A, const Vector& b, const KrylovOptions& opt, const StopToken& stop = {}) const
    {
        Identity<Cpu> I(A.rows());
        return run(A, I, b, Vector(A.rows()), opt, stop);
    }
};
inline const auto name_of = [](const auto& info) { return std::string(std::get<1>(info.param).name); };

}  // namespace ilux::test::krylov

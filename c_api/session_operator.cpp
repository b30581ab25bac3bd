// Operators and preconditioners that are calls of the caller's.

#include <fmt/core.h>

#include "ilux/base/instances.hpp"
#include "ilux/c_api/session.hpp"

namespace ilux::c_api {
namespace {

/// @throws InvalidInput where the caller's call says that it failed
void called(ilux_apply call, void* user, int op, const void* from, void* to, const char* name)
{
    if (const int status = call(user, op, from, to); status != 0)
        throw InvalidInput(fmt::format("{} returned {}", name, status));
}

/// @throws InvalidInput where the preconditioner of another solver does not suit
void require_preconditioner(const ilux_solver* other, std::int64_t n, bool is_complex)
{
    require(other != nullptr, [] { return "the solver of the preconditioner is NULL"; });
    require(other->order() == n, [&] {
        return fmt::format("the preconditioner's solver has analysed a matrix of order {}, and A is of {}",
                           other->order(), n);
    });
    require(other->is_complex() == is_complex,
            [] { return "one of A and the preconditioner is real, the other complex"; });
}

template <class S>
class CallerOperator final : public LinearOperator<Cpu, S> {
public:
    CallerOperator(Index n, ilux_apply call, void* user) : n_(n), call_(call), user_(user) {}
    Index size() const override { return n_; }
    void  apply(Cpu&, std::span<const S> x, std::span<S> y) const override
    {
        called(call_, user_, ILUX_PLAIN, x.data(), y.data(), "the operator");
    }
    void apply_adjoint(Cpu&, std::span<const S> x, std::span<S> y) const override
    {
        called(call_, user_, ILUX_ADJOINT, x.data(), y.data(), "the operator");
    }

private:
    Index      n_;
    ilux_apply call_;
    void*      user_;
};

template <class S>
class CallerPreconditioner final : public Preconditioner<Cpu, S> {
public:
    CallerPreconditioner(Index n, ilux_apply call, void* user) : n_(n), call_(call), user_(user) {}
    Index size() const override { return n_; }
    void  apply(Cpu&, std::span<const S> r, std::span<S> z) override
    {
        called(call_, user_, ILUX_PLAIN, r.data(), z.data(), "the preconditioner");
    }
    void apply_adjoint(Cpu&, std::span<const S> r, std::span<S> z) override
    {
        called(call_, user_, ILUX_ADJOINT, r.data(), z.data(), "the preconditioner");
    }

private:
    Index      n_;
    ilux_apply call_;
    void*      user_;
};

}  // namespace

template <class S>
void Session<S>::solve_operator(std::int64_t n, ilux_apply A, void* user_A, ilux_apply M, void* user_M, const void* b,
                                void* x)
{
    require(n >= 0 && n < std::numeric_limits<Index>::max(), [&] { return fmt::format("n is {}", n); });
    require(A != nullptr, [] { return "the operator is NULL"; });
    require_no_null_space("ilux_solve_operator");
    require((b && x) || n == 0, [] { return "an array is NULL"; });
    if (M == ilux_apply_preconditioner)
        require_preconditioner(static_cast<const ilux_solver*>(user_M), n, is_complex());
    const auto              order = static_cast<Index>(n);
    const auto              size = static_cast<std::size_t>(n);
    CallerOperator<S>       op(order, A, user_A);
    CallerPreconditioner<S> own(order, M, user_M);
    OperatorSolver<S>       solver(options);
    solver.listen(listener());
    solver.heed(stop());
    reports.push_back(without_x(solver.solve(op, M ? &own : nullptr, std::span(static_cast<const S*>(b), size),
                                             std::span(static_cast<S*>(x), size))));
}

#define ILUX_INSTANTIATE(S) \
    template void Session<S>::solve_operator(std::int64_t, ilux_apply, void*, ilux_apply, void*, const void*, void*);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::c_api

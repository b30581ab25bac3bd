// Operators and preconditioners that are calls of the caller's.

#include <fmt/core.h>

#include "ilux/base/gpu/device_pointer.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/c_api/session.hpp"

namespace ilux::c_api {
namespace {

/// @throws InvalidInput where the caller's call says that it failed
void called(ilux_apply call, void* user, int op, const void* from, void* to, const char* name)
{
    const int status = call(user, op, from, to);
    if (status == 0) return;
    std::string why = fmt::format("{} returned {}", name, status);
    if (call == ilux_apply_preconditioner) why += fmt::format(": {}", static_cast<ilux_solver*>(user)->message.text());
    throw InvalidInput(why);
}

/// @throws InvalidInput where another solver does not suit, whose factors are asked for
void require_suits(const ilux_solver* other, const ilux_solver& self, std::int64_t n, bool on_device)
{
    require(other != nullptr, [] { return "the solver of the preconditioner is NULL"; });
    require(other->order() >= 0, [] { return "the preconditioner's solver has no matrix: ilux_analyse comes first"; });
    require(other->on_device() == on_device, [&] {
        return fmt::format("the operator's vectors are of {}, and the preconditioner's of {}",
                           on_device ? "a GPU" : "the host", on_device ? "the host" : "a GPU");
    });
    require(!on_device || self.shares_stream(*other),
            [] { return "the solver of the preconditioner works on another GPU or stream"; });
    require(other->order() == n, [&] {
        return fmt::format("the preconditioner's solver has analysed a matrix of order {}, and A is of {}",
                           other->order(), n);
    });
    require(other->is_complex() == self.is_complex(),
            [] { return "one of A and the preconditioner is real, the other complex"; });
}

template <class B, class S>
class CallerOperator final : public LinearOperator<B, S> {
public:
    CallerOperator(Index n, ilux_apply call, void* user) : n_(n), call_(call), user_(user) {}
    Index size() const override { return n_; }
    void  apply(B&, ConstSpan<B, S> x, Span<B, S> y) const override
    {
        called(call_, user_, ILUX_PLAIN, x.data(), y.data(), "the operator");
    }
    void apply_adjoint(B&, ConstSpan<B, S> x, Span<B, S> y) const override
    {
        called(call_, user_, ILUX_ADJOINT, x.data(), y.data(), "the operator");
    }

private:
    Index      n_;
    ilux_apply call_;
    void*      user_;
};

template <class B, class S>
class CallerPreconditioner final : public Preconditioner<B, S> {
public:
    CallerPreconditioner(Index n, ilux_apply call, void* user) : n_(n), call_(call), user_(user) {}
    Index size() const override { return n_; }
    void  apply(B&, ConstSpan<B, S> r, Span<B, S> z) override
    {
        called(call_, user_, ILUX_PLAIN, r.data(), z.data(), "the preconditioner");
    }
    void apply_adjoint(B&, ConstSpan<B, S> r, Span<B, S> z) override
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
    const bool on_device = options.device == DeviceChoice::gpu;
    if (on_device) require_device(options.device);
    for (const auto& [call, user] : {std::pair{A, user_A}, std::pair{M, user_M}})
        if (call == ilux_apply_preconditioner)
            require_suits(static_cast<const ilux_solver*>(user), *this, n, on_device);
    for (const void* array : {b, static_cast<const void*>(x)})
        require(!on_device || n == 0 || is_for_kernels(array),
                [] { return "an array is of the host, and device=gpu"; });
    const auto order = static_cast<Index>(n);
    const auto size = static_cast<std::size_t>(n);
    const auto solve_by = [&]<class B>(B& be, Array<const S> given_b, Array<S> given_x) {
        CallerOperator<B, S>       op(order, A, user_A);
        CallerPreconditioner<B, S> own(order, M, user_M);
        OperatorSolver<B, S>       solver(be, options);
        solver.listen(listener());
        solver.stop_by(stop());
        reports.push_back(solver.solve(op, M ? &own : nullptr, given_b, given_x));
    };
    const auto* const from = static_cast<const S*>(b);
    auto* const       to = static_cast<S*>(x);
    if (on_device) {
        solve_by(gpu(), Array<const S>(gpu(), {from, size}), Array<S>(gpu(), {to, size}));
    } else {
        Cpu cpu = options.threads > 0 ? Cpu(options.threads) : Cpu();
        solve_by(cpu, std::span(from, size), std::span(to, size));
    }
}

#define ILUX_INSTANTIATE(S) \
    template void Session<S>::solve_operator(std::int64_t, ilux_apply, void*, ilux_apply, void*, const void*, void*);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::c_api

// Ours by supernodes, measured as the rivals are: with an analysis of its own, not refined.

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/direct/supernodal/front_refactor.hpp"
#include "ilux/direct/supernodal/front_scales.hpp"
#include "ilux/lab/rivals/lu_rival.hpp"

namespace ilux::app {
namespace {

template <Scalar S>
class Supernodes : public LuRival<S> {
public:
    Supernodes(const CsrView<S>& A, int threads)
        : be_(threads), A_(A), values_(A.val().begin(), A.val().end()), x_(A.rows()), ws_(A.rows())
    {}

    void analyse() override
    {
        F_.symbolic = ilux::analyse<S>(view(static_cast<const CsrView<S>&>(A_)), {}, {}, be_);
        F_.fronts = make_front_plan(be_, *F_.symbolic);
        refactor_.emplace(F_.fronts);
    }
    void factor() override
    {
        F_.pattern = front_pattern<S>(be_, *F_.symbolic, *F_.fronts, F_.symbolic->options, values_);
        refactor();
    }
    void set_values(std::span<const S> values) override { values_.assign(values.begin(), values.end()); }
    void refactor() override
    {
        refactor_->run(be_, values_, F_);
        require(F_.monitor.bad_column < 0, [] { return "supernodes: there is a column without a pivot"; });
    }
    std::span<const S> solve(std::span<S> b) override
    {
        lu_solve<S>(be_, F_, b, x_, ws_);
        return x_;
    }
    nlohmann::ordered_json facts() const override
    {
        return {{"version", ILUX_VERSION},
                {"threads", be_.threads()},
                {"nnz_LU", F_.fronts->numbers()},
                {"flops", 2 * F_.fronts->multiply_adds},
                {"supernodes", F_.fronts->fronts()},
                {"ordering", field_text(F_.symbolic->report.ordering)},
                {"bytes", F_.bytes() + F_.pattern->bytes() + F_.fronts->bytes() + refactor_->bytes()},
                {"perturbed_pivots", F_.monitor.replaced},
                {"refine_steps", 0}};
    }

private:
    Cpu                             be_;
    CsrMatrix<S>                    A_;
    std::vector<S>                  values_, x_;
    LuWorkspace<S>                  ws_;
    LuFactors<S>                    F_;
    std::optional<FrontRefactor<S>> refactor_;
};

}  // namespace

std::string why_no_supernodes() { return ""; }

template <Scalar S>
LuRivalPointer<S> make_supernodes(const CsrView<S>& A, int threads)
{
    return std::make_unique<Supernodes<S>>(A, threads);
}

#define ILUX_INSTANTIATE(S) template LuRivalPointer<S> make_supernodes(const CsrView<S>&, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

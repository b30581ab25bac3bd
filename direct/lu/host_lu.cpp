#include "ilux/direct/lu/host_lu.hpp"

#include <fmt/format.h>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/direct/supernodal/front_plan.hpp"

namespace ilux {

template <Scalar S>
std::unique_ptr<HostLu<S>> HostLu<S>::by_fronts(const Cpu& be, LuFactors<S> fresh, const SystemValues<S>& values,
                                                const StopToken& stop)
{
    auto              made = std::make_unique<HostLu>(be, std::move(fresh));
    FrontRefactor<S>& refactor = made->by_fronts_.emplace(made->fronts());
    const double      need = refactor.schedule().run_bytes(refactor.threads(be), sizeof(S));
    const auto        limit = made->host_.symbolic->options.memory_limit.value;
    if (limit > 0 && need > static_cast<double>(limit))
        throw OutOfMemory(fmt::format("supernodes would take about {}, and memory_limit is {}", bytes_text(need),
                                      bytes_text(static_cast<double>(limit))));
    made->refactor(values, stop);
    return made;
}

template <Scalar S>
std::size_t HostLu<S>::bytes() const
{
    return LuFactored<S>::bytes() + (by_entries_ ? by_entries_->bytes() : 0) + (by_fronts_ ? by_fronts_->bytes() : 0);
}

template <Scalar S>
void HostLu<S>::prepare()
{
    if (this->fronts() && !by_fronts_) by_fronts_.emplace(this->fronts());
    if (!this->fronts() && !by_entries_) by_entries_.emplace(be_, this->shared_pattern());
}

template <Scalar S>
void HostLu<S>::refactor(const SystemValues<S>& values, const StopToken& stop)
{
    prepare();
    if (by_fronts_) by_fronts_->run(be_, values.host(), this->host_, stop);
    else by_entries_->run(be_, values.host(), this->host_);
}

template <Scalar S>
RefineReport HostLu<S>::solve(const LuHost<S>& host, const SystemValues<S>& values, std::span<const S> b,
                              std::span<S> x, Transpose transpose, double)
{
    return lu_solve_refined<S>(host.be, this->host_, matrix_of(*this->host_.symbolic, values), b, x, host.ws,
                               transpose);
}

#define ILUX_INSTANTIATE(S) template class HostLu<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

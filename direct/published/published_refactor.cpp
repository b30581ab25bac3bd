#include "ilux/direct/published/published_refactor.hpp"

#include <string>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/published/refactor_left.hpp"
#include "ilux/direct/published/refactor_right.hpp"
#include "ilux/direct/published/refactor_union.hpp"

namespace ilux {
namespace {

using Pattern = std::shared_ptr<const GpuLuPattern>;

template <Scalar S>
std::unique_ptr<PublishedRefactor<S>> left(Gpu& gpu, Pattern pattern, const LuOptions&)
{
    return std::make_unique<LeftRefactor<S>>(gpu, std::move(pattern));
}

template <Scalar S, RightMethod method>
std::unique_ptr<PublishedRefactor<S>> right(Gpu& gpu, Pattern pattern, const LuOptions& options)
{
    const RightTuning tuning{.method = method, .dependencies = options.dependencies};
    return std::make_unique<RightRefactor<S>>(gpu, std::move(pattern), tuning);
}

template <Scalar S>
std::unique_ptr<PublishedRefactor<S>> islu(Gpu& gpu, Pattern pattern, const LuOptions& options)
{
    UnionTuning tuning{.memory_limit = options.memory_limit.value};
    if (options.index == UnionChoice::lookup) tuning.forced = UnionIndex::lookup;
    return std::make_unique<UnionRefactor<S>>(gpu, std::move(pattern), tuning);
}

template <Scalar S>
struct Published {
    RefactorMethod method;
    std::unique_ptr<PublishedRefactor<S>> (*make)(Gpu& gpu, Pattern pattern, const LuOptions& options);
};
template <Scalar S>
constexpr Published<S> registry[] = {
    {RefactorMethod::left, left<S>},
    {RefactorMethod::glu1, right<S, RightMethod::glu1>},
    {RefactorMethod::glu3, right<S, RightMethod::glu3>},
    {RefactorMethod::islu, islu<S>},
};

}  // namespace

template <Scalar S>
std::unique_ptr<PublishedRefactor<S>> make_published(Gpu& gpu, Pattern pattern, RefactorMethod method,
                                                     const LuOptions& options)
{
    for (const Published<S>& one : registry<S>)
        if (one.method == method) return one.make(gpu, std::move(pattern), options);
    throw InvalidOption("refactor " + std::string(name(method)) + ": not a method of a GPU");
}

#define ILUX_INSTANTIATE(S) \
    template std::unique_ptr<PublishedRefactor<S>> make_published(Gpu&, Pattern, RefactorMethod, const LuOptions&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

// One strategy of ours on one system that is named, in a process of its own.

#include <nlohmann/json.hpp>

#include "ilux/apps/compare/compare.hpp"
#include "ilux/solver/compare/measure_strategy.hpp"

namespace ilux::app {

void measure_named(const Strategy& strategy, const std::string& path, const SolveOptions& given, Index repeats,
                   const TakeJson& take)
{
    const std::string failure = failure_of([&] {
        SolveOptions     options = given;
        const AnyProblem problem = load_first_system(path, options.rhs);
        const auto       measure_one = [&]<Scalar S>(const Problem<S>& one) {
            if (const auto why = why_no_complex(strategy); is_complex<S> && !why.empty()) throw InvalidInput(why);
            load_near_null(options, one.n());
            measure_strategy<S>(strategy, {.A = one.A, .b = one.b, .options = options, .repeats = repeats}, take);
        };
        std::visit(measure_one, problem);
    });
    if (!failure.empty()) take({{"error", failure}});
}

}  // namespace ilux::app

// What is told of a matrix, and of strategies on a system, as texts.

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ilux/base/instances.hpp"
#include "ilux/c_api/calls.hpp"
#include "ilux/solver/compare/compare.hpp"
#include "ilux/solver/info/info_json.hpp"

using namespace ilux;

namespace ilux::c_api {

template <class S>
nlohmann::ordered_json Session<S>::info(const ilux_csr& A, bool levels)
{
    const CallerCsr<S> matrix(A, gpu_of_caller());
    return to_json(examine<S>(matrix.view(), levels, stop()));
}

template <class S>
nlohmann::ordered_json Session<S>::compare(const ilux_csr& A, const void* b, std::span<const std::string> strategies,
                                           std::int64_t repeats)
{
    require(repeats >= 1 && repeats <= std::numeric_limits<Index>::max(),
            [&] { return "repeats is " + std::to_string(repeats) + ", less than 1 or too many"; });
    require_no_null_space("ilux_compare");
    const CallerCsr<S> matrix(A, gpu_of_caller());
    std::vector<S>     room;
    const auto         n = static_cast<std::size_t>(matrix.view().rows());
    return ilux::compare<S>({.A = matrix.view(),
                             .b = on_host<S>(b, n, matrix.on_device(), gpu_of_caller(), room),
                             .options = options,
                             .repeats = static_cast<Index>(repeats),
                             .stop = stop()},
                            strategies);
}

#define ILUX_INSTANTIATE(S)                                                                                         \
    template nlohmann::ordered_json Session<S>::info(const ilux_csr&, bool);                                        \
    template nlohmann::ordered_json Session<S>::compare(const ilux_csr&, const void*, std::span<const std::string>, \
                                                        std::int64_t);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::c_api

namespace {

std::vector<std::string> words_of(std::string_view text)
{
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        words.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

/// Keeps the text of what `make` tells of A in the solver.
template <class Make>
int told(ilux_solver* solver, const ilux_csr* A, const char** json, Make&& make) noexcept
{
    if (json) *json = nullptr;
    return c_api::run(solver, [&](ilux_solver& s) {
        require(A && json, [] { return "an argument is NULL"; });
        nlohmann::ordered_json tree{{"version", ilux_version()}};
        tree.update(make(s));
        s.text = c_api::dumped(tree);
        *json = s.text.c_str();
        return ILUX_OK;
    });
}

}  // namespace

int ilux_info(ilux_solver* solver, const ilux_csr* A, int levels, const char** json)
{
    return told(solver, A, json, [&](ilux_solver& s) { return s.info(*A, levels != 0); });
}

int ilux_compare(ilux_solver* solver, const ilux_csr* A, const void* b, const char* strategies, int64_t repeats,
                 const char** json)
{
    return told(solver, A, json, [&](ilux_solver& s) {
        const auto names = words_of(strategies ? strategies : "direct,iterative");
        return nlohmann::ordered_json{{"rtol", s.options.krylov.rtol}, {"rows", s.compare(*A, b, names, repeats)}};
    });
}

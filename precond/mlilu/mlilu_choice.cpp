#include "ilux/precond/mlilu/mlilu_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/base/error.hpp"

namespace ilux {
namespace {

constexpr double dominant_share = 0.95;  // of the rows, and of even ones
constexpr double even_share = 0.8;       // so many: then what is dropped is compensated
constexpr double compensated_drop = 5;   // times τ_S may go where it is not lost (docs/design/precond_rounds.md)
constexpr Index  largest_tail = 1000;
constexpr double tail_share = 0.25;              // of the entries of A
constexpr double growth_of_saddle_point = 0.17;  // of γ (docs/design/precond_rounds.md)

/// The x for which M is exact, where there is one vector.
std::string flattered_by(const std::vector<double>* near_null, Index n)
{
    const bool given = near_null != nullptr;
    if (given && near_null->size() != static_cast<std::size_t>(n)) return "";
    const bool constant = !given || std::ranges::all_of(*near_null, [&](double t) { return t == near_null->front(); });
    return constant ? "; M is exact for a constant x, so b = A·1 flatters it" : "; M is exact for x = near_null";
}

/// What rounds lack of what these options ask for, or "": reason enough for Crout's sweep, where that is left to us.
std::string lacking_in_rounds(const MlIluOptions& options)
{
    const MlIluOptions defaults;
    if (options.off_diagonal == OffDiagonal::save) return "off_diagonal=save";
    if (options.ordering != defaults.ordering) return fmt::format("ordering={}", field_text(options.ordering));
    if (options.estimator != defaults.estimator) return fmt::format("estimator={}", field_text(options.estimator));
    return "";
}

// Coarse matrices, which are lumped, have few pivots a round, and Crout's sweep after the rounds would not lump.
constexpr double least_share_of_lumped = 0.003;
// Beside a coarse space rounds are many and small: the sets of four sweeps, and an ever larger τ_S, take half of them
// for 5 to 50 % more steps.
constexpr int    sweeps_beside_coarse = 4;
constexpr double drop_growth_beside_coarse = 1.3;
constexpr double least_norm = 1e-150;  // its square is a normal number

/// max |t| of column c, of every count-th value.
double largest_of(std::span<const double> t, std::size_t c, std::size_t count)
{
    double largest = 0;
    for (std::size_t i = c; i < t.size(); i += count) largest = std::max(largest, std::abs(t[i]));
    return largest;
}

/// Column c times a power of two: norms of rows neither overflow nor underflow.
void scale_to_one(std::span<double> t, std::size_t c, std::size_t count)
{
    const double largest = largest_of(t, c, count);
    if (largest == 0) return;
    const int exponent = std::ilogb(largest);
    for (std::size_t i = c; i < t.size(); i += count) t[i] = std::scalbn(t[i], -exponent);
}

}  // namespace

bool may_wait(const MlIluOptions& options, Mirror mirror)
{
    return options.matching == MatchingChoice::wait && options.setup == MlIluSetup::rounds && !options.definite &&
           !options.absolute && mirror != Mirror::none;
}

MatchingDecision decide_matching(const MlIluOptions& options, bool positive, Index small, Index n, const char* word)
{
    if (options.definite || options.absolute) return {};
    if (options.matching != MatchingChoice::automatic) return {options.matching == MatchingChoice::on, ""};
    if (positive) return {false, fmt::format("matching=auto: off, {} with a positive diagonal", word)};
    return {small > 0, fmt::format("matching=auto: {}, {} of {} diagonal entries are small against their row or column",
                                   small > 0 ? "on" : "off", small, n)};
}

RoundsChoice choose_rounds(const MlIluOptions& options, const LevelFacts& level)
{
    RoundsChoice choice;
    const double share = static_cast<double>(level.dominant) / level.n,
                 even = static_cast<double>(level.even) / level.n;
    const bool        dominant = share >= dominant_share && even >= even_share && !level.moved;
    const bool        dense = nearly_dense(level.n, level.nnz);
    const std::string lacking = lacking_in_rounds(options);
    choice.compensation = options.compensation;
    if (choice.compensation == Compensation::automatic)
        choice.compensation = dominant ? Compensation::on : Compensation::off;
    if (choice.compensation == Compensation::lumped && !level.positive) choice.compensation = Compensation::off;
    choice.rounds = options.setup == MlIluSetup::rounds || (options.setup == MlIluSetup::automatic &&
                                                            (dominant || level.on_device) && lacking.empty() && !dense);
    const auto rows =
        fmt::format("{:.4g} % of the rows are diagonally dominant{}", 100 * share,
                    level.moved         ? ", after a matching that moved rows"
                    : even < even_share ? fmt::format(", but coefficients jump in {:.3g} %", 100 * (1 - even))
                                        : "");
    if (options.setup == MlIluSetup::automatic)
        choice.decisions.push_back(fmt::format("setup=auto: {}, {}{}{}", choice.rounds ? "rounds" : "crout",
                                               choice.rounds && !dominant ? "on a GPU for any matrix; " : "", rows,
                                               !dominant && !level.on_device ? ""
                                               : !lacking.empty()            ? fmt::format(", but {}", lacking)
                                               : dense                       ? ", but the matrix is nearly dense"
                                                                             : ""));
    if (choice.rounds && options.compensation == Compensation::automatic)
        choice.decisions.push_back(
            fmt::format("compensation=auto: {}, {}{}", field_text(choice.compensation), rows,
                        choice.compensation == Compensation::on ? flattered_by(options.near_null.get(), level.n) : ""));
    if (choice.rounds && options.compensation != choice.compensation && options.compensation == Compensation::lumped)
        choice.decisions.emplace_back(
            "compensation=lumped has no effect: A is not symmetric (complex: Hermitian) with a positive diagonal");
    if (choice.rounds && options.matching == MatchingChoice::wait && !level.saddle_point)
        choice.decisions.emplace_back(
            "matching=wait has no effect: A is not symmetric with zeros on its diagonal, or setup=rounds was not asked for");
    for (auto& ignored : without_effect(options, choice.rounds, choice.compensation, level.nnz))
        choice.decisions.push_back(std::move(ignored));
    return choice;
}

std::vector<std::string> without_effect(const MlIluOptions& options, bool rounds, Compensation compensation, Offset nnz)
{
    const MlIluOptions       defaults;
    std::vector<std::string> said;
    const auto               ignored = [&](const char* name, const auto& value, const std::string& why) {
        said.push_back(fmt::format("{}={} has no effect {}", name, field_text(value), why));
    };
    const std::string of_crout = "on rounds: it is of Crout's sweep", of_rounds = "on Crout's sweep: it is of rounds";
    const bool        compensates = rounds && compensation == Compensation::on;
    if (options.matching == MatchingChoice::wait && !rounds) ignored("matching", options.matching, of_rounds);
    const bool cuts = rounds && compensation != Compensation::off && options.tau_S() > 0;
    if (options.near_null && !compensates)
        said.emplace_back("near_null has no effect: it is for rounds with compensation");
    if (options.weak_coupling != defaults.weak_coupling && !cuts)
        ignored("weak_coupling", options.weak_coupling, "unless rounds compensate what they drop");
    if (!rounds && options.compensation != defaults.compensation)
        ignored("compensation", options.compensation, of_rounds);
    if (!rounds) return said;
    if (options.ordering != defaults.ordering) ignored("ordering", options.ordering, of_crout);
    if (options.estimator != defaults.estimator) ignored("estimator", options.estimator, of_crout);
    if (options.off_diagonal == OffDiagonal::save)
        ignored("off_diagonal", options.off_diagonal, "on rounds: they keep L_G and U_F");
    if (options.drop_tol != defaults.drop_tol && options.schur_drop_tol.given)
        ignored("drop_tol", options.drop_tol, "on rounds: they drop by schur_drop_tol, which is given");
    if (const Index tail = rounds_tail(options, nnz);
        options.dense_order != defaults.dense_order && options.dense_order < tail)
        ignored("dense_order", options.dense_order, fmt::format("on rounds: they end in up to {} dense rows", tail));
    return said;
}

std::string why_not_again(const RoundsChoice& choice, Compensation before)
{
    if (!choice.rounds) return "rounds are not chosen any more";
    if (choice.compensation != before) return fmt::format("compensation is {} now", field_text(choice.compensation));
    return "";
}

bool device_rounds_are_likely(Offset n, Offset nnz, const MlIluOptions& options)
{
    if (options.setup != MlIluSetup::automatic) return options.setup == MlIluSetup::rounds;
    return lacking_in_rounds(options).empty() && !options.absolute && !nearly_dense(n, nnz);
}

template <Scalar T>
bool rounds_are_likely(Cpu& be, const CsrView<T>& A, const MlIluOptions& options)
{
    if (options.setup != MlIluSetup::automatic || !device_rounds_are_likely(A.rows(), A.nnz(), options))
        return options.setup == MlIluSetup::rounds;
    if (!options.near_null) return dominant_rows<T>(be, A) >= dominant_share * A.rows();
    const std::vector<double> t = test_vectors(options, A.rows());
    return dominant_rows<T>(be, A, TestVectors(t, A.rows())) >= dominant_share * A.rows();
}

std::vector<double> given_near_null(const MlIluOptions& options, Index n)
{
    const auto rows = static_cast<std::size_t>(n);
    if (!options.near_null) return std::vector<double>(rows, 1.);
    std::vector<double> t = *options.near_null;
    require(t.size() >= rows && (n == 0 ? t.empty() : t.size() % rows == 0),
            [&] { return fmt::format("near_null has {} values; {} unknowns need {} a vector", t.size(), n, n); });
    if (n == 0) return t;
    const std::size_t count = t.size() / rows;
    require(count <= most_test_vectors,
            [&] { return fmt::format("near_null has {} vectors; {} is the limit", count, most_test_vectors); });
    const auto bad = std::ranges::find_if_not(t, [](double value) { return std::isfinite(value); }) - t.begin();
    require(bad == std::ssize(t), [&] {
        return fmt::format("near_null: a value of unknown {} (counted from 1) is Inf or NaN",
                           bad / static_cast<std::ptrdiff_t>(count) + 1);
    });
    require(std::ranges::any_of(t, [](double value) { return value != 0; }),
            [] { return std::string("near_null: all values are 0"); });
    for (std::size_t c = 0; count > 1 && c < count; ++c) scale_to_one(t, c, count);
    return t;
}

std::vector<double> test_vectors(const MlIluOptions& options, Index n)
{
    std::vector<double> t = given_near_null(options, n);
    const std::size_t   count = n > 0 ? t.size() / static_cast<std::size_t>(n) : 1;
    const double        least = count > 1 ? least_norm : 0;
    for (std::size_t i = 0; i < t.size(); i += count)
        if (std::ranges::all_of(std::span(t).subspan(i, count), [&](double value) { return std::abs(value) <= least; }))
            t[i] = count > 1 ? 1 : largest_of(t, 0, 1);
    return t;
}

RoundsOptions rounds_options(const MlIluOptions& options, Compensation compensation, const LevelMatrix& level)
{
    const double tau_S = options.tau_S();
    const bool   compensates = compensation == Compensation::on, lumps = compensation == Compensation::lumped;
    const bool   rough = options.beside_coarse && !compensates;
    return {.bounds = {.inverse = options.inverse_bound,
                       .growth = (level.saddle_point ? growth_of_saddle_point : 1) * options.growth_bound,
                       .pivot_floor = pivot_noise * level.largest,
                       .positive = options.definite,
                       .weak_coupling = (compensates || lumps) && tau_S > 0 ? options.weak_coupling : 0,
                       .most_sweeps = rough ? sweeps_beside_coarse : 0},
            .dropping = {.drop_tol = compensates ? compensated_drop * tau_S : tau_S,
                         .compensate = compensates,
                         .lump = lumps,
                         .mirror = level.mirror},
            .least_share = lumps ? least_share_of_lumped : RoundsOptions{}.least_share,
            .most_rounds = std::max(DepthBound::none, options.depth_bound.rows),
            .drop_growth = rough ? drop_growth_beside_coarse : 1};
}

Index rounds_tail(const MlIluOptions& options, Offset nnz)
{
    const auto share = static_cast<Index>(std::sqrt(tail_share * static_cast<double>(nnz)));
    return std::max(options.dense_order, std::min(largest_tail, share));
}

#define ILUX_INSTANTIATE(T) template bool rounds_are_likely(Cpu&, const CsrView<T>&, const MlIluOptions&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

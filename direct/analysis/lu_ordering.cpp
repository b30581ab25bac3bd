#include "ilux/direct/analysis/lu_ordering.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/fields.hpp"
#include "ilux/direct/analysis/contraction.hpp"
#include "ilux/reorder/nested_dissection.hpp"
#include "ilux/reorder/symmetric_graph.hpp"

namespace ilux {
namespace {

// Flops for each entry of C from which on an ordering is tried. AMD takes about 0.1 µs an entry, COLAMD up to 0.5,
// nested dissection 3 on one thread, a refactorization 0.5 ns a flop; what a sequence of ten gains must pay for it.
constexpr double flops_for_second_amd = 40;
constexpr double flops_for_contraction = 10;
constexpr double flops_for_colamd = 50;
constexpr double flops_for_natural = 100;
constexpr double flops_for_dissection = 1000;
// Seconds on a GPU, an H200: of a product, and of a level in a refactorization (1.0 µs) and twice in a solve (0.35).
constexpr double gpu_product = 2.5e-11, gpu_level = 1.7e-6;
constexpr Index  few_levels = 64;          // whose waits are not worth an ordering
constexpr double nearly_symmetric = 0.95;  // share of mirrored entries from which on |C| + |Cᵀ| serves as well as C
constexpr double unsymmetric = 0.7;
constexpr double least_contracted = 0.01;
constexpr double most_envelope = 4;  // entries over those of the best order, where the natural one is tried

Ordering ordering_of(LuOrdering ordering)
{
    switch (ordering) {
        case LuOrdering::colamd:
            return Ordering::colamd;
        case LuOrdering::metis:
            return Ordering::metis;
        case LuOrdering::none:
            return Ordering::none;
        case LuOrdering::automatic:
        case LuOrdering::amd:
        case LuOrdering::dissection:  // not by fill_reducing_order
            break;
    }
    return Ordering::amd;
}

/// The transpose of C(perm, perm), which AMD cannot tell from C(perm, perm).
struct Renumbered {
    std::vector<Offset> row_ptr;
    std::vector<Index>  col;

    Renumbered(const PatternView& C, std::span<const Index> perm)
        : row_ptr(static_cast<std::size_t>(C.n) + 1, 0), col(C.nnz())
    {
        std::vector<Index> inv(C.n);
        for (Index k = 0; k < C.n; ++k) inv[perm[k]] = k;
        for (const Index j : C.col) ++row_ptr[inv[j] + 1];
        std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
        std::vector<Offset> next(row_ptr.begin(), row_ptr.end() - 1);
        for (Index k = 0; k < C.n; ++k)
            for (Offset p = C.row_ptr[perm[k]]; p < C.row_ptr[perm[k] + 1]; ++p) col[next[inv[C.col[p]]]++] = k;
    }
    PatternView pattern() const { return {static_cast<Index>(row_ptr.size()) - 1, row_ptr, col}; }
};

std::vector<Index> composed(std::span<const Index> first, std::span<const Index> second)
{
    std::vector<Index> perm(second.size());
    std::ranges::transform(second, perm.begin(), [&](Index k) { return first[k]; });
    return perm;
}

/// Whether nested dissection is likely to leave less fill than AMD: of circuits no large one passes, since they have
/// hubs, or many vertices in chains and at their ends.
bool may_be_a_mesh(const PatternView& C)
{
    constexpr Index  large = 20'000;
    constexpr Offset joined = 4;           // entries of a row: three neighbours and the diagonal
    constexpr double times_the_mean = 12;  // the longest row of finite elements of a higher order
    if (C.n < large) return false;
    Index  well_joined = 0;
    Offset most = 0;
    for (Index i = 0; i < C.n; ++i) {
        const Offset entries = C.row_ptr[i + 1] - C.row_ptr[i];
        well_joined += entries >= joined;
        most = std::max(most, entries);
    }
    const double mean = double(C.nnz()) / C.n;
    return well_joined >= 0.95 * C.n && double(most) <= std::max(std::sqrt(double(C.n)), times_the_mean * mean);
}

/// Whether the compressed graph of such a pattern looks like a mesh, too: no hubs, and nearly all classes with three
/// neighbours.
bool is_a_mesh(const CompressedGraph& c)
{
    constexpr Index neighbours = 3;
    Index           well_joined = 0;
    for (Index k = 0; k < c.classes(); ++k) well_joined += c.graph.degree(k) >= neighbours;
    return c.hub.empty() && well_joined >= 0.95 * c.classes();
}

/// Entries of L + U in the order as it is, if the rows of L and the columns of U fill between their first entries and
/// the diagonal.
double envelope(const PatternView& C)
{
    double             sum = C.n;
    std::vector<Index> top(C.n);
    std::iota(top.begin(), top.end(), Index{0});
    for (Index i = 0; i < C.n; ++i)
        for (Offset p = C.row_ptr[i]; p < C.row_ptr[i + 1]; ++p) {
            const Index j = C.col[p];
            if (p == C.row_ptr[i] && j < i) sum += i - j;  // columns ascend
            if (j > i) top[j] = std::min(top[j], i);
        }
    for (Index j = 0; j < C.n; ++j) sum += j - top[j];
    return sum;
}

class Choice {
public:
    Choice(const PatternView& C, LuOrderFor order_for, std::vector<std::string>& decisions, const StopToken& stop,
           const Cpu& be)
        : C_(C), counted_(C), for_gpu_(order_for == LuOrderFor::gpu), decisions_(decisions), stop_(stop), be_(be)
    {}

    /// Counts an ordering and keeps it where it is the best so far. @return whether it is
    bool offer(std::vector<Index> perm, LuOrdering ordering, const std::string& what)
    {
        const CostLimit limit = limit_of(best_.perm.empty());
        const auto      cost = symmetric_ ? symmetric_symbolic_cost(counted_, perm, limit, stop_, be_)
                                          : symbolic_cost(counted_, perm, limit, stop_);
        return take(std::move(perm), ordering, what, cost, limit);
    }
    /// Counts an order of the classes of C, and keeps it where it is the best so far. @return whether it is
    bool offer(const CompressedGraph& c, std::span<const Index> order, LuOrdering ordering, const std::string& what)
    {
        symmetric_ = symmetric_ || c.symmetry == 1;
        const CostLimit limit = limit_of(best_.perm.empty());
        auto            cost = std::optional(cost_of_classes(be_, c, order, for_gpu_, stop_));
        if (!c.hub.empty() || (!symmetric_ && cost->nnz <= many)) return offer(c.expanded(order), ordering, what);
        if (cost->nnz > limit.nnz || cost->multiply_adds > limit.multiply_adds) cost.reset();
        return take(c.expanded(order), ordering, what, cost, limit);
    }

    /// What AMD said of the first ordering: it stands where its count is given up.
    void set_counts(const AmdCounts& amd)
    {
        symmetric_ = amd.symmetry == 1;
        bound_ = SymbolicCost{.nnz = 2 * amd.nnz_L + C_.n, .multiply_adds = amd.multiply_adds};
    }

    /// By the libraries. @param counts  filled by AMD alone; may be null
    std::vector<Index> order(const PatternView& C, Ordering ordering, AmdCounts* counts = nullptr) const
    {
        return fill_reducing_order(C, ordering, counts, stop_);
    }
    CompressedGraph    compressed() const { return compressed_graph(be_, C_); }
    std::vector<Index> dissected(const CompressedGraph& c) const { return dissected_classes(be_, c, stop_); }
    std::vector<Index> dissected(const PatternView& C) const { return nested_dissection(be_, C, stop_); }

    double   flops_an_entry() const { return best_.cost.flops(C_.n) / static_cast<double>(C_.nnz()); }
    LuOrder& best() { return best_; }
    /// Whether a GPU would wait most of its time.
    bool waits() const
    {
        return for_gpu_ && best_.cost.levels >= few_levels &&
               best_.cost.levels * gpu_level > best_.cost.multiply_adds * gpu_product;
    }

private:
    static double gpu_seconds(const SymbolicCost& cost)
    {
        return cost.multiply_adds * gpu_product + cost.levels * gpu_level;
    }
    /// @param cost  nothing: beyond the limit
    bool take(std::vector<Index> perm, LuOrdering ordering, const std::string& what,
              const std::optional<SymbolicCost>& cost, const CostLimit& limit)
    {
        const bool first = best_.perm.empty();
        if (!first && (!cost || (for_gpu_ && gpu_seconds(*cost) >= gpu_seconds(best_.cost)))) {
            decisions_.push_back(
                cost ? fmt::format("{}: {} levels; not taken, as a GPU would be slower", what, cost->levels)
                     : fmt::format("{}: more flops, or more than {:.3g} entries; not taken", what, limit.nnz));
            return false;
        }
        best_ = {.perm = std::move(perm), .ordering = ordering, .cost = cost ? *cost : *bound_};
        if (!cost) count_symmetrised();
        decisions_.push_back(fmt::format("{}: {}{:.9g} entries in L + U, {:.3g} flops{}", what, cost ? "" : "at most ",
                                         best_.cost.nnz, best_.cost.flops(C_.n),
                                         for_gpu_ && cost ? fmt::format(", {} levels", cost->levels) : ""));
        return true;
    }
    /// Beyond these an order is not taken, so its count may end there. On a GPU time decides, and memory may be three
    /// times as much.
    CostLimit limit_of(bool first) const
    {
        constexpr double more_entries = 1.5, more_on_gpu = 3;
        CostLimit        limit{.levels = for_gpu_};
        if (first && bound_ && !symmetric_) limit.nnz = most_counted(*bound_);
        if (first) return limit;
        limit.nnz = (for_gpu_ ? more_on_gpu : more_entries) * best_.cost.nnz;
        limit.multiply_adds = for_gpu_ ? gpu_seconds(best_.cost) / gpu_product : best_.cost.multiply_adds;
        return limit;
    }
    /// From now on |C| + |Cᵀ| is counted: where an order has a bound for its count, others are compared with it by
    /// theirs.
    void count_symmetrised()
    {
        sum_ = detail::symmetrised_graph(C_);
        counted_ = {C_.n, sum_->start, sum_->neighbour};
        symmetric_ = true;
        if (for_gpu_) best_.cost = *symmetric_symbolic_cost(counted_, best_.perm, {.levels = true}, stop_, be_);
    }
    /// The count of a pattern that is not symmetric goes entry by entry, and ends here: where there are not far fewer
    /// entries than for |C| + |Cᵀ|, fronts take the numbers, and to them the bound is the count.
    static double most_counted(const SymbolicCost& bound)
    {
        constexpr double far_fewer = 6;
        return std::max(many, bound.nnz / far_fewer);
    }

    static constexpr double many = 4e6;  // entries; fewer are counted as they are

    PatternView                  C_, counted_;  // counted_: C, or |C| + |Cᵀ|
    std::optional<detail::Graph> sum_;
    bool                         for_gpu_;
    std::vector<std::string>&    decisions_;
    const StopToken&             stop_;
    Cpu                          be_;
    LuOrder                      best_;
    bool                         symmetric_ = false;
    std::optional<SymbolicCost>  bound_;
};

/// @param gains  how many times fewer flops another order may have
/// @param dissects  nested dissection is yet to be made
void require_worth(const AnalysisLimit& limit, SymbolicCost best, double gains, bool dissects)
{
    const SymbolicCost found = best;
    best.multiply_adds /= gains;
    best.nnz /= std::sqrt(gains);
    if (limit.worth && !limit.worth(best, dissects)) throw NotWorthIt{.cost = found};
}

/// @param symmetry  share of the entries off the diagonal that are mirrored
/// @param dissected  nested dissection was tried
void try_others(const PatternView& C, double symmetry, bool dissected, Choice& choice)
{
    std::optional<Contraction> rest;
    const auto                 after_contraction = [&](std::span<const Index> order) {
        auto perm = rest->eliminated;
        for (const Index v : order) perm.push_back(rest->vertex[v]);
        return perm;
    };
    const bool dissects = choice.flops_an_entry() >= flops_for_dissection;
    if (symmetry < nearly_symmetric && choice.flops_an_entry() >= flops_for_contraction) {
        rest = contract(C);
        const std::size_t free = rest->eliminated.size();
        const bool        better = free > least_contracted * C.n &&
                            choice.offer(after_contraction(choice.order(rest->pattern(), Ordering::amd)),
                                         LuOrdering::amd, fmt::format("amd after {} pivots without fill", free));
        if (!better) rest.reset();
    } else if (symmetry >= nearly_symmetric && choice.flops_an_entry() >= flops_for_second_amd && !dissects) {
        const Renumbered again(C, choice.best().perm);
        choice.offer(composed(choice.best().perm, choice.order(again.pattern(), Ordering::amd)), LuOrdering::amd,
                     "amd of that order");
    }
    if (symmetry < unsymmetric && choice.flops_an_entry() >= flops_for_colamd)
        choice.offer(choice.order(C, Ordering::colamd), LuOrdering::colamd, "colamd");
    if (!dissected && (choice.flops_an_entry() >= flops_for_dissection || choice.waits()))
        choice.offer(rest ? after_contraction(choice.dissected(rest->pattern())) : choice.dissected(C),
                     LuOrdering::dissection, "nested dissection");
    if (choice.flops_an_entry() >= flops_for_natural && envelope(C) <= most_envelope * choice.best().cost.nnz)
        choice.offer(choice.order(C, Ordering::none), LuOrdering::none, "natural");
}

}  // namespace

LuOrder choose_order(const PatternView& C, LuOrdering wanted, LuOrderFor order_for, std::vector<std::string>& decisions,
                     const StopToken& stop, const Cpu& be, const AnalysisLimit& limit)
{
    constexpr double gains = 5;  // by other orders than AMD
    Choice           choice(C, order_for, decisions, stop, be);
    if (C.n == 0) {
        if (wanted != LuOrdering::automatic) choice.best().ordering = wanted;
        return std::move(choice.best());
    }
    if (wanted == LuOrdering::dissection) {
        const CompressedGraph c = choice.compressed();
        choice.offer(c, choice.dissected(c), wanted, field_text(wanted));
        return std::move(choice.best());
    }
    if (wanted != LuOrdering::automatic && wanted != LuOrdering::amd) {
        choice.offer(choice.order(C, ordering_of(wanted)), wanted, field_text(wanted));
        return std::move(choice.best());
    }
    bool mesh = wanted == LuOrdering::automatic && may_be_a_mesh(C);
    if (mesh) {
        const CompressedGraph c = choice.compressed();
        mesh = is_a_mesh(c);
        if (mesh) choice.offer(c, choice.dissected(c), LuOrdering::dissection, "nested dissection of a mesh");
    }
    if (mesh) {
        if (choice.flops_an_entry() >= flops_for_dissection) {
            require_worth(limit, choice.best().cost, 1, false);
            return std::move(choice.best());
        }
    }
    AmdCounts amd;
    auto      perm = choice.order(C, Ordering::amd, &amd);
    choice.set_counts(amd);
    choice.offer(std::move(perm), LuOrdering::amd, "amd");
    if (wanted == LuOrdering::automatic) {
        require_worth(limit, choice.best().cost, gains, !mesh && choice.flops_an_entry() >= flops_for_dissection);
        try_others(C, amd.symmetry, mesh, choice);
    }
    return std::move(choice.best());
}

}  // namespace ilux

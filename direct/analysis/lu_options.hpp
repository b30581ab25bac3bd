#pragma once
// What a caller may choose about a direct solution.

#include "ilux/base/fields.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// Fill-reducing orderings; automatic: of fewest flops among those worth their time. dissection: ours, on all threads;
/// metis is the same method by that library, on one.
enum class LuOrdering { automatic, amd, colamd, metis, none, dissection };
/// Whose time an automatic ordering saves, and automatic supernodes. host: the fewest flops; gpu: also few columns that
/// wait for one another, which is where its time goes while there is little fill. automatic: the host's, unless a
/// LinearSolver is to refactor many systems on a GPU.
enum class LuOrderFor { automatic, host, gpu };
/// Whether large entries are permuted to the diagonal first; automatic: where it is needed.
enum class LuMatching { automatic, on, off };
/// Scaling of the rows, or by a matching of rows and columns, before pivots are chosen; by powers of two.
enum class LuScaling { rows, matching, none };
/// Rule for the levels of right-looking methods: true dependencies only, or a superset that is found faster.
enum class Dependencies { exact, relaxed };
/// How numbers are computed for given pivots. cpu: on host threads; the others on a GPU, automatic by dot products.
enum class RefactorMethod { automatic, cpu, left, glu1, glu3, islu };
/// One of those that a GPU alone has, and that work by entries.
constexpr bool is_of_gpu(RefactorMethod method)
{
    return method != RefactorMethod::automatic && method != RefactorMethod::cpu;
}
/// One whose last bits vary, as it adds in no fixed order.
constexpr bool varies_bits(RefactorMethod method)
{
    return method == RefactorMethod::glu1 || method == RefactorMethod::glu3;
}
/// Whether numbers are stored and computed by dense fronts of columns with alike rows; automatic: where the analysis
/// predicts so many flops an entry that this is faster.
enum class LuSupernodes { automatic, on, off };
/// Positions of updates stored (joined), or looked up in each refactorization.
enum class UnionChoice { joined, lookup };

constexpr auto names(LuOrdering) { return words("auto", "amd", "colamd", "metis", "none", "dissection"); }
constexpr auto names(LuOrderFor) { return words("auto", "host", "gpu"); }
constexpr auto names(LuMatching) { return words("auto", "on", "off"); }
constexpr auto names(LuScaling) { return words("rows", "matching", "none"); }
constexpr auto names(LuSupernodes) { return words("auto", "on", "off"); }
constexpr auto names(Dependencies) { return words("exact", "relaxed"); }

constexpr auto names(RefactorMethod) { return words("auto", "cpu", "left", "glu1", "glu3", "islu"); }
constexpr auto names(UnionChoice) { return words("union", "lookup"); }

/// Options of a direct solution; fields() has their ranges and meanings.
struct LuOptions {
    LuOrdering     ordering = LuOrdering::automatic;
    LuOrderFor     order_for = LuOrderFor::automatic;
    LuMatching     matching = LuMatching::automatic;
    LuScaling      scaling = LuScaling::rows;
    bool           blocks = true;
    double         pivot_tol = 1e-3;
    double         growth_limit = 6.7e7;
    Index          refine_steps = 5;
    double         refine_target = 0;
    LuSupernodes   supernodes = LuSupernodes::automatic;
    RefactorMethod refactor = RefactorMethod::automatic;
    Dependencies   dependencies = Dependencies::exact;
    UnionChoice    index = UnionChoice::joined;
    bool           deterministic = false;
    Bytes          memory_limit = {};
};

template <class Visit>
void fields(LuOptions& o, Visit&& visit)
{
    visit("ordering", o.ordering, anything(), "auto: the one of fewest flops among those worth their time");
    visit(
        "order_for", o.order_for, anything(),
        "whose time ordering=auto saves; gpu: few columns that wait for one another; auto: host, unless a GPU refactors many systems");
    visit("matching", o.matching, anything(), "permute large entries to the diagonal first; auto: where it is needed");
    visit("scaling", o.scaling, anything(), "rows: by powers of two to a largest entry of about 1");
    visit("blocks", o.blocks, anything(), "factor only the diagonal blocks of the block triangular form");
    visit("pivot_tol", o.pivot_tol, within(0, 1),
          "keep the diagonal as pivot where it is at least this part of the largest");
    visit("growth_limit", o.growth_limit, at_least(1), "repivot when a column of U outgrows its column of A by more");
    visit("refine_steps", o.refine_steps, at_least(0), "steps of iterative refinement at most");
    visit("refine_target", o.refine_target, at_least(0),
          "content with this componentwise backward error; refinement stops there, at 2 epsilon in any case");
    visit("supernodes", o.supernodes, anything(),
          "numbers by dense fronts, pivots chosen within each; auto: where L + U fill so much that it is faster");
    visit("refactor", o.refactor, anything(),
          "auto: the fastest; cpu: on host threads; on a GPU one of four published methods");
    visit("dependencies", o.dependencies, anything(), "rule for the levels of glu1 and glu3");
    visit("index", o.index, anything(), "islu: positions of updates stored as far as memory_limit goes, or looked up");
    visit("deterministic", o.deterministic, anything(), "refuse glu1 and glu3, whose last bits vary");
}

}  // namespace ilux

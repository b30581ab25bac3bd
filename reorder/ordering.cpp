#include "ilux/reorder/ordering.hpp"

#include <amd.h>
#include <colamd.h>
#include <fmt/core.h>
#include <metis.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <type_traits>

#include "ilux/base/detached.hpp"
#include "ilux/base/error.hpp"
#include "ilux/reorder/keep_sigterm.hpp"
#include "ilux/reorder/symmetric_graph.hpp"

namespace ilux {
namespace {

using detail::Columns;
using detail::columns_of;
using detail::Graph;
using detail::symmetrised_graph;

std::vector<Index> natural_order(Index n)
{
    std::vector<Index> perm(n);
    std::iota(perm.begin(), perm.end(), Index{0});
    return perm;
}

template <class To, class From>
std::vector<To> converted(std::span<From> x)
{
    return std::vector<To>(x.begin(), x.end());
}

[[noreturn]] void throw_out_of_memory(const char* library, const PatternView& A)
{
    throw OutOfMemory(fmt::format("{} had no memory to order a matrix with n = {}, nnz = {}", library, A.n, A.nnz()));
}

/// AMD forms |A| + |Aᵀ| itself, so that rows may be given for columns.
template <class Int>
std::vector<Index> amd(const PatternView& A, AmdCounts& counts)
{
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    control[AMD_DENSE] = 10;      // rows with more than 10 √n entries go last
    control[AMD_AGGRESSIVE] = 1;  // absorb elements that another one covers
    const auto       col_ptr = converted<Int>(A.row_ptr);
    std::vector<Int> perm(A.n);
    Int              status;
    if constexpr (std::is_same_v<Int, Index>)
        status = amd_order(A.n, col_ptr.data(), A.col.data(), perm.data(), control, info);
    else status = amd_l_order(A.n, col_ptr.data(), converted<Int>(A.col).data(), perm.data(), control, info);
    if (status == AMD_OUT_OF_MEMORY) throw_out_of_memory("AMD", A);
    ILUX_ASSERT(status == AMD_OK);
    counts = {info[AMD_LNZ], info[AMD_NMULTSUBS_LU], info[AMD_SYMMETRY]};
    if constexpr (std::is_same_v<Int, Index>) return perm;
    else return converted<Index>(std::span(perm));
}

template <class Int>
std::vector<Index> colamd(const PatternView& A)
{
    const Columns  columns = columns_of(A);
    const Int      n = A.n, nnz = static_cast<Int>(A.nnz());
    constexpr bool narrow = std::is_same_v<Int, Index>;
    std::size_t    length;
    if constexpr (narrow) length = colamd_recommended(nnz, n, n);
    else length = colamd_l_recommended(nnz, n, n);
    if (length == 0) throw_out_of_memory("COLAMD", A);
    std::vector<Int> work(length), perm = converted<Int>(std::span(columns.col_ptr));
    std::ranges::copy(columns.row, work.begin());
    double knobs[COLAMD_KNOBS];
    Int    stats[COLAMD_STATS];
    bool   ok;
    if constexpr (narrow) {
        colamd_set_defaults(knobs);
        ok = ::colamd(n, n, static_cast<Int>(length), work.data(), perm.data(), knobs, stats);
    } else {
        colamd_l_set_defaults(knobs);
        ok = ::colamd_l(n, n, static_cast<Int>(length), work.data(), perm.data(), knobs, stats);
    }
    if (!ok) throw_out_of_memory("COLAMD", A);
    perm.resize(n);
    return converted<Index>(std::span(perm));
}

/// 32-bit indices are faster; both libraries need a few times nnz + n positions.
bool fits_narrow(const PatternView& A) { return 3 * A.nnz() + 30 * Offset{A.n} < std::numeric_limits<Index>::max(); }

/// METIS draws from rand(), whose lock a child of fork() would find taken for ever. So one thread at a time is in
/// METIS, and fork() waits until it has left; a handler of a signal that forks in that thread must not.
constinit std::timed_mutex rand_in_use;
thread_local bool          in_metis = false;

void before_fork()
{
    if (!in_metis) rand_in_use.lock();
}
void after_fork()
{
    if (!in_metis) rand_in_use.unlock();
}
[[maybe_unused]] const int forks_wait = pthread_atfork(before_fork, after_fork, after_fork);

/// The thread that is in METIS, while this stands.
class InMetis {
public:
    /// Waits for its turn. Not entered where the caller was abandoned meanwhile.
    explicit InMetis(const Abandoned& abandoned) : lock_(rand_in_use, std::defer_lock)
    {
        while (!lock_.try_lock_for(std::chrono::milliseconds(10)))
            if (abandoned) return;
        in_metis = true;
    }
    ~InMetis() { in_metis = false; }
    InMetis(const InMetis&) = delete;
    InMetis& operator=(const InMetis&) = delete;
    bool     entered() const { return lock_.owns_lock(); }

private:
    std::unique_lock<std::timed_mutex> lock_;
};

/// METIS gets neither isolated vertices, which it mishandles when all are, nor (nearly) dense ones, which hide all
/// structure: those go first and last. Abandoned while another thread is in METIS, it returns nothing.
std::vector<Index> metis(const Graph& g, const Abandoned& abandoned)
{
    const double       dense = detail::hub_degree(g.n);
    std::vector<Index> perm, last, inner, local(g.n, -1);
    const auto         is_dense = [&](Index i) { return g.degree(i) > dense; };
    for (Index i = 0; i < g.n; ++i) {
        if (is_dense(i)) last.push_back(i);
        else if (std::ranges::all_of(g.of(i), is_dense)) perm.push_back(i);
        else inner.push_back(i);
    }
    for (Index k = 0; k < static_cast<Index>(inner.size()); ++k) local[inner[k]] = k;
    std::vector<idx_t> start{0}, neighbour, new_to_old(inner.size()), old_to_new(inner.size());
    for (const Index i : inner) {
        for (const Index j : g.of(i))
            if (local[j] >= 0) neighbour.push_back(local[j]);
        start.push_back(static_cast<idx_t>(neighbour.size()));
    }
    if (!inner.empty()) {
        const InMetis here(abandoned);
        if (!here.entered()) return {};
        std::array<idx_t, METIS_NOPTIONS> options;
        METIS_SetDefaultOptions(options.data());
        options[METIS_OPTION_SEED] = 1;
        options[METIS_OPTION_NUMBERING] = 0;
        idx_t                     size = static_cast<idx_t>(inner.size());
        const detail::KeepSigterm keep;
        const int                 status = METIS_NodeND(&size, start.data(), neighbour.data(), nullptr, options.data(),
                                                        new_to_old.data(), old_to_new.data());
        if (status != METIS_OK)
            throw OutOfMemory(fmt::format("METIS failed with status {} on a graph of {} vertices and {} edges", status,
                                          size, neighbour.size() / 2));
    }
    for (const idx_t k : new_to_old) perm.push_back(inner[k]);
    std::ranges::stable_sort(last, {}, [&](Index i) { return g.degree(i); });
    perm.insert(perm.end(), last.begin(), last.end());
    return perm;
}

void require_narrow_enough(const Graph& g)
{
    constexpr auto most = std::numeric_limits<idx_t>::max();
    require(g.neighbour.size() <= static_cast<std::size_t>(most), [&] {
        return fmt::format(
            "the graph of |A| + |A'| has {} adjacencies, this METIS counts to {}; use another ordering, e.g. amd",
            g.neighbour.size(), most);
    });
}

/// Breadth-first levels of one component. Marks are left in `level` and removed by forget().
class LevelStructure {
public:
    explicit LevelStructure(const Graph& g) : g_(g), level_(g.n, -1) {}

    /// Visits the component of `root`; returns the number of its last level.
    Index build(Index root)
    {
        order_.assign(1, root);
        level_[root] = 0;
        for (std::size_t head = 0; head < order_.size(); ++head) {
            for (const Index j : g_.of(order_[head])) {
                if (level_[j] >= 0) continue;
                level_[j] = level_[order_[head]] + 1;
                order_.push_back(j);
            }
        }
        return level_[order_.back()];
    }

    /// The vertex of the last level with the fewest neighbours.
    Index far_vertex() const
    {
        Index best = order_.back();
        for (auto it = order_.rbegin(); it != order_.rend() && level_[*it] == level_[order_.back()]; ++it)
            if (g_.degree(*it) <= g_.degree(best)) best = *it;
        return best;
    }

    void forget()
    {
        for (const Index i : order_) level_[i] = -1;
    }

private:
    const Graph&       g_;
    std::vector<Index> level_;  // n
    std::vector<Index> order_;
};

/// A vertex from which the component is about as deep as it can be [george_liu_79].
Index pseudo_peripheral(LevelStructure& levels, Index root)
{
    constexpr int most_rounds = 20;  // a handful suffices; growth by one level a round could take n rounds
    Index         depth = -1, deeper = levels.build(root);
    for (int round = 0; round < most_rounds && deeper > depth; ++round) {
        depth = deeper;
        root = levels.far_vertex();
        levels.forget();
        deeper = levels.build(root);
    }
    levels.forget();
    return root;
}

/// Reverse Cuthill-McKee: breadth first from a pseudo-peripheral root, neighbours by degree, ties by index; reversed.
std::vector<Index> rcm(const Graph& g)
{
    std::vector<Index> perm;
    perm.reserve(g.n);
    std::vector<char> numbered(g.n, 0);
    LevelStructure    levels(g);
    const auto        number = [&](Index i) {
        numbered[i] = 1;
        perm.push_back(i);
    };
    for (Index first = 0; first < g.n; ++first) {
        if (numbered[first]) continue;
        std::size_t head = perm.size();
        number(pseudo_peripheral(levels, first));
        for (; head < perm.size(); ++head) {
            const std::size_t begin = perm.size();
            for (const Index j : g.of(perm[head]))
                if (!numbered[j]) number(j);
            std::stable_sort(perm.begin() + begin, perm.end(),
                             [&](Index a, Index b) { return g.degree(a) < g.degree(b); });
        }
    }
    std::ranges::reverse(perm);
    return perm;
}

struct Ordered {
    std::vector<Index> perm;
    AmdCounts          counts;
};

Ordered order(const PatternView& A, Ordering ordering, const Abandoned& abandoned)
{
    Ordered done;
    switch (ordering) {
        case Ordering::amd:
            done.perm = fits_narrow(A) ? amd<Index>(A, done.counts) : amd<SuiteSparse_long>(A, done.counts);
            break;
        case Ordering::colamd:
            done.perm = fits_narrow(A) ? colamd<Index>(A) : colamd<SuiteSparse_long>(A);
            break;
        case Ordering::rcm:
            done.perm = rcm(symmetrised_graph(A));
            break;
        case Ordering::metis: {
            const Graph g = symmetrised_graph(A);
            require_narrow_enough(g);
            done.perm = metis(g, abandoned);
            break;
        }
        case Ordering::none:
            done.perm = natural_order(A.n);
    }
    return done;
}

/// Runs order() by a thread that the caller need not wait for: it has a copy of the pattern.
Ordered order_detached(const PatternView& A, Ordering ordering, const StopToken& stop)
{
    std::vector<Offset> row_ptr(A.row_ptr.begin(), A.row_ptr.end());
    std::vector<Index>  col(A.col.begin(), A.col.end());
    auto work = [n = A.n, row_ptr = std::move(row_ptr), col = std::move(col), ordering](const Abandoned& abandoned) {
        return order({n, row_ptr, col}, ordering, abandoned);
    };
    return run_detached(std::move(work), stop);
}

}  // namespace

PatternView square_pattern(Index rows, Index cols, std::span<const Offset> row_ptr, std::span<const Index> col)
{
    require(rows == cols,
            [&] { return fmt::format("a {} x {} matrix cannot be ordered: it must be square", rows, cols); });
    return {rows, row_ptr, col};
}

std::vector<Index> fill_reducing_order(const PatternView& A, Ordering ordering, AmdCounts* counts,
                                       const StopToken& stop)
{
    constexpr Offset long_work = 20'000;  // rows and entries; a thread costs more than the work below
    if (counts != nullptr) *counts = {};
    if (A.nnz() == 0 || ordering == Ordering::none) return natural_order(A.n);  // AMD takes missing arrays for an error
    const bool detached = stop.possible() && A.n + A.nnz() >= long_work;
    Ordered    done = detached ? order_detached(A, ordering, stop) : order(A, ordering, false);
    if (counts != nullptr) *counts = done.counts;
    return std::move(done.perm);
}

}  // namespace ilux

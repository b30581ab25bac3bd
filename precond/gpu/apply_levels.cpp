#include "ilux/precond/gpu/apply_levels.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

template <Scalar S>
struct Row {
    std::span<const Index> col;
    std::span<const S>     val;
    std::size_t            size() const { return col.size(); }
};

/// Row i; empty in a matrix without rows, which is how builders leave a block that does not exist.
template <Scalar S>
Row<S> row(const CsrMatrix<S>& A, Index i)
{
    if (i >= A.rows()) return {};
    const auto begin = static_cast<std::size_t>(A.row_ptr()[i]);
    const auto count = static_cast<std::size_t>(A.row_ptr()[i + 1]) - begin;
    return {A.col().subspan(begin, count), A.val().subspan(begin, count)};
}

/// A row to be filled with exactly as many entries as it was said to have.
template <class T>
class RowWriter {
public:
    using S = working_of<T>;

    RowWriter(Index* col, T* val, Offset count) : col_(col), val_(val), count_(count) {}

    void put_first(Index j, S value) { put(front_++, j, value); }
    void put_last(Index j, S value) { put(--count_, j, value); }

    /// Entries (shift + j, factor · value) behind those put first.
    void copy(Row<S> from, Index shift)
    {
        for (std::size_t s = 0; s < from.size(); ++s) put_first(shift + from.col[s], from.val[s]);
    }
    /// Entries (shift + j, factor · value) in front of those put last.
    void copy_last(Row<S> from, Index shift, double factor)
    {
        for (std::size_t s = from.size(); s-- > 0;) put_last(shift + from.col[s], factor * from.val[s]);
    }
    /// Entries (last − j, value): the row of a matrix whose columns are numbered backwards from `last`.
    void copy_reversed(Row<S> from, Index last)
    {
        for (std::size_t s = from.size(); s-- > 0;) put_first(last - from.col[s], from.val[s]);
    }

private:
    void put(Offset at, Index j, S value)
    {
        col_[at] = j;
        val_[at] = static_cast<T>(value);
    }

    Index* col_;
    T*     val_;
    Offset front_ = 0, count_;
};

/// n×n of rows of length(i) entries that write(i, RowWriter, thread) puts, by threads. Neither may throw.
template <class T, class Length, class Write>
CsrMatrix<T> by_rows(Cpu& be, Index n, Length&& length, Write&& write)
{
    std::vector<Offset> row_ptr(n + std::size_t{1}, 0);
#pragma omp                   parallel for schedule(static) num_threads(be.team(n > 4096))
    for (Index i = 0; i < n; ++i) row_ptr[i + 1] = static_cast<Offset>(length(i));
    std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
    std::vector<Index> col;
    std::vector<T>     val;
    col.reserve(row_ptr.back());
    val.reserve(row_ptr.back());
#pragma omp parallel sections num_threads(be.team(n > 4096))
    {
#pragma omp section
        col.resize(row_ptr.back());  // most of the time of small rows: the first touch of their memory
#pragma omp section
        val.resize(row_ptr.back());
    }
    Offset too_large = 0;
#pragma omp parallel for schedule(dynamic, 256) num_threads(be.team(n > 4096)) \
    reduction(+ : too_large)
    for (Index i = 0; i < n; ++i) {
        const Offset begin = row_ptr[i], count = row_ptr[i + 1] - begin;
        write(i, RowWriter<T>(col.data() + begin, val.data() + begin, count), omp_get_thread_num());
        for (Offset p = begin; p < begin + count; ++p) too_large += is_finite(val[p]) ? 0 : 1;
    }
    require_storable(too_large, sizeof(real_of<T>));
    return CsrMatrix<T>::from_sorted(n, n, std::move(row_ptr), std::move(col), std::move(val));
}

/// The rows of a run of levels: those accepted on each level from offset[level] on, the rest from offset.back() on.
struct RunRows {
    template <Scalar S>
    RunRows(std::span<const ApplyLevel<S>> run, Index rest) : offset{0}
    {
        for (const auto& level : run) offset.push_back(offset.back() + level.nB);
        n = offset.back() + rest;
    }
    /// Its level in the run, run.size() for the rest.
    std::size_t level_of(Index i) const
    {
        return static_cast<std::size_t>(std::upper_bound(offset.begin(), offset.end(), i) - offset.begin()) - 1;
    }

    std::vector<Index> offset;
    Index              n;
};

struct Source {
    Index  index;
    double scale;
};

template <Scalar S>
struct Entry {
    Index index;
    S     value;
};

/// Follows row i of a run up through the levels that postponed it: calls visit(level, part of the row, factor), the
/// deepest level first. Where level l reads c = p_l[·] of the level above, its row is scaled by row_scale_l[c], and so
/// are the entries of L_G that were subtracted on the way. @return where in the run's input its right-hand side stands
template <Scalar S, class Visit>
Source climb(std::span<const ApplyLevel<S>> run, const RunRows& rows, Index i, Visit&& visit)
{
    std::size_t l = rows.level_of(i);
    Index       c = i - rows.offset[l];
    double      scale = 1;
    if (l < run.size()) {
        visit(l, row(*run[l].L, c), 1.);
        c = run[l].p[c];
        scale = run[l].row_scale[c];
    }
    while (l-- > 0) {
        visit(l, row(*run[l].lower, c), scale);
        c = run[l].p[run[l].nB + c];
        scale *= run[l].row_scale[c];
    }
    return {c, scale};
}

/// For every component j of level l's output, l = 0, ..., run.size() (the rest): the row of the run whose unknown it
/// is, and its factor. z_l[q[i]] = col_scale[q[i]] · (i < nB ? own unknown i : z_{l+1}[i − nB]).
template <Scalar S>
std::vector<std::vector<Source>> outputs(std::span<const ApplyLevel<S>> run, const RunRows& rows)
{
    std::vector<std::vector<Source>> output(run.size() + 1);
    for (Index c = rows.offset.back(); c < rows.n; ++c) output.back().push_back({c, 1});
    for (std::size_t l = run.size(); l-- > 0;) {
        const ApplyLevel<S>& level = run[l];
        output[l].resize(level.n);
        for (Index i = 0; i < level.n; ++i) {
            const Index  j = level.q[i];
            const Source source = i < level.nB ? Source{rows.offset[l] + i, 1} : output[l + 1][i - level.nB];
            output[l][j] = {source.index, source.scale * level.col_scale[j]};
        }
    }
    return output;
}

/// Frame of the rows from `first` on that hand their values over to what follows, written from `base` on.
template <Scalar S>
void hand_over(SolveFrame<S>& frame, ApplyEntry entry, Index first, Index base)
{
    for (Index i = 0; i < static_cast<Index>(entry.perm.size()); ++i) {
        const Index c = entry.perm[i];
        frame.out_index[first + c] = base + i;
        frame.out_scale[first + c] = entry.scale[c];
    }
}

std::vector<Index> iota(Index n)
{
    std::vector<Index> index(n);
    std::iota(index.begin(), index.end(), Index{0});
    return index;
}

}  // namespace

void require_storable(Offset too_large, std::size_t value_bytes)
{
    require(too_large == 0, [&] {
        return std::to_string(too_large) + " values of the preconditioner are too large for " +
               (value_bytes < sizeof(double) ? "single precision; choose precision=double" : "double precision");
    });
}

template <Scalar S>
ApplyLevel<S>::ApplyLevel(const MlIluLevel<S>& level, bool adjoint)
    : n(level.n),
      nB(level.nB),
      p(adjoint ? level.q : level.p),
      q(adjoint ? level.p : level.q),
      row_scale(adjoint ? level.col_scale : level.row_scale),
      col_scale(adjoint ? level.row_scale : level.col_scale),
      d_inv(level.d_inv),
      L(&level.L_B),
      U(&level.U_B),
      lower(&level.lower),
      upper(&level.upper)
{
    const bool half = level.half != Mirror::none;
    if (!adjoint && !half) return;
    const auto made = std::make_shared<Made>();
    if (half) {
        made->L = lower_factor(level);
        made->lower = lower_block(level);
        L = &made->L;
        lower = &made->lower;
    }
    if (adjoint) {
        *made = {ilux::adjoint(*U), ilux::adjoint(*L), ilux::adjoint(*upper), ilux::adjoint(*lower), level.d_inv};
        for (S& d : made->d_inv) d = conj(d);
        L = &made->L;
        U = &made->U;
        lower = &made->lower;
        upper = &made->upper;
        d_inv = made->d_inv;
    }
    made_ = made;
}

template <class T>
ForwardSystem<T> keep_forward(Cpu& be, std::span<const ApplyLevel<working_of<T>>> run, Index rest, ApplyEntry entry)
{
    const RunRows    rows(run, rest);
    ForwardSystem<T> system;
    auto&            frame = system.frame;
    frame.in_index.resize(rows.n);
    frame.in_scale.resize(rows.n);
    frame.out_scale.assign(rows.n, 1);
    const auto length = [&](Index i) {
        std::size_t sum = 0;
        climb(run, rows, i, [&](std::size_t, auto part, double) { sum += part.size(); });
        return sum;
    };
    system.L = by_rows<T>(be, rows.n, length, [&](Index i, RowWriter<T> write, int) {
        const auto [index, scale] = climb(run, rows, i, [&](std::size_t l, auto part, double factor) {
            write.copy_last(part, rows.offset[l], factor);
        });
        frame.in_index[i] = index;
        frame.in_scale[i] = scale;
    });
    for (std::size_t l = 0; l < run.size(); ++l) std::ranges::copy(run[l].d_inv, &frame.out_scale[0] + rows.offset[l]);
    if (!entry.perm.empty()) {
        frame.out_index = iota(rows.n);
        hand_over(frame, entry, rows.offset.back(), rows.offset.back());
    }
    return system;
}

template <class T>
ForwardSystem<T> keep_backward(Cpu& be, std::span<const ApplyLevel<working_of<T>>> run, Index rest)
{
    using S = working_of<T>;
    const RunRows                      rows(run, rest);
    const auto                         output = outputs(run, rows);
    const Index                        last = rows.n - 1;
    std::size_t                        longest = 0;
    std::vector<std::vector<Entry<S>>> scratch(be.threads());
    for (const auto& level : run)
        for (Index k = 0; k < level.upper->rows(); ++k) longest = std::max(longest, row(*level.upper, k).size());
    for (auto& entries : scratch) entries.resize(longest);

    const auto length = [&](Index i) {
        const std::size_t l = rows.level_of(last - i);
        if (l == run.size()) return std::size_t{0};
        const Index k = last - i - rows.offset[l];
        return row(*run[l].upper, k).size() + row(*run[l].U, k).size();
    };
    ForwardSystem<T> system;
    system.L = by_rows<T>(be, rows.n, length, [&](Index i, RowWriter<T> write, int thread) {
        const std::size_t l = rows.level_of(last - i);
        if (l == run.size()) return;
        const Index k = last - i - rows.offset[l];
        const auto  upper = row(*run[l].upper, k);
        const auto  mapped = std::span(scratch[thread]).first(upper.size());
        for (std::size_t s = 0; s < upper.size(); ++s) {
            const auto [index, scale] = output[l + 1][upper.col[s]];
            mapped[s] = {last - index, scale * upper.val[s]};
        }
        std::ranges::sort(mapped, {}, &Entry<S>::index);
        for (const auto& [j, value] : mapped) write.put_first(j, value);
        write.copy_reversed(row(*run[l].U, k), last - rows.offset[l]);
    });
    auto& frame = system.frame;
    frame.in_index.resize(rows.n);
    frame.out_index.resize(rows.n);
    frame.out_scale.resize(rows.n);
    for (Index j = 0; j < rows.n; ++j) {
        const auto [index, scale] = output[0][j];
        frame.in_index[j] = last - j;
        frame.out_index[last - index] = j;
        frame.out_scale[last - index] = scale;
    }
    return system;
}

template <class T>
ForwardSystem<T> gather_system(ApplyEntry entry)
{
    const auto       n = static_cast<Index>(entry.perm.size());
    ForwardSystem<T> system;
    system.L = CsrMatrix<T>::from_sorted(n, n, std::vector<Offset>(n + std::size_t{1}, 0), {}, {});
    system.frame.in_index.assign(entry.perm.begin(), entry.perm.end());
    for (Index c : entry.perm) system.frame.in_scale.push_back(entry.scale[c]);
    return system;
}

template <class T>
ForwardSystem<T> save_lower(Cpu& be, const ApplyLevel<working_of<T>>& level)
{
    const Index      nB = level.nB;
    ForwardSystem<T> system;
    system.L = by_rows<T>(
        be, level.n, [&](Index i) { return i < nB ? row(*level.L, i).size() : 0; },
        [&](Index i, RowWriter<T> write, int) {
            if (i < nB) write.copy(row(*level.L, i), 0);
        });
    system.frame.out_scale.assign(level.d_inv.begin(), level.d_inv.end());
    system.frame.out_scale.resize(level.n, 1.);
    return system;
}

template <class T>
ForwardSystem<T> save_upper_G(Cpu& be, const ApplyLevel<working_of<T>>& level, ApplyEntry entry)
{
    const Index      nB = level.nB, nC = level.n - nB;
    const auto       source = [&](Index i) { return i < nB ? row(*level.U, nB - 1 - i) : row(*level.lower, i - nB); };
    ForwardSystem<T> system;
    system.L = by_rows<T>(
        be, level.n, [&](Index i) { return source(i).size(); },
        [&](Index i, RowWriter<T> write, int) { write.copy_reversed(source(i), nB - 1); });
    auto& frame = system.frame;
    frame.in_index = frame.out_index = iota(level.n);
    frame.out_scale.assign(level.n, 1.);
    for (Index i = 0; i < level.n; ++i) {
        if (i < nB) frame.in_index[i] = nB - 1 - i;
        frame.out_index[i] = i < nB ? nC + i : i - nB;
    }
    hand_over(frame, entry, nB, 0);
    return system;
}

template <class T>
ForwardSystem<T> save_F_lower(Cpu& be, const ApplyLevel<working_of<T>>& level)
{
    const Index      nB = level.nB, nC = level.n - nB;
    ForwardSystem<T> system;
    system.L = by_rows<T>(
        be, level.n,
        [&](Index i) { return i < nC ? 0 : row(*level.upper, i - nC).size() + row(*level.L, i - nC).size(); },
        [&](Index i, RowWriter<T> write, int) {
            if (i < nC) return;
            write.copy(row(*level.upper, i - nC), 0);
            write.copy(row(*level.L, i - nC), nC);
        });
    auto& frame = system.frame;
    frame.in_index = iota(level.n);
    std::rotate(frame.in_index.begin(), frame.in_index.begin() + nB, frame.in_index.end());
    frame.out_scale.assign(nC, 1.);
    frame.out_scale.insert(frame.out_scale.end(), level.d_inv.begin(), level.d_inv.end());
    return system;
}

template <class T>
ForwardSystem<T> save_upper(Cpu& be, const ApplyLevel<working_of<T>>& level)
{
    const Index      nB = level.nB;
    ForwardSystem<T> system;
    system.L = by_rows<T>(
        be, level.n, [&](Index i) { return i < nB ? row(*level.U, nB - 1 - i).size() : 0; },
        [&](Index i, RowWriter<T> write, int) {
            if (i < nB) write.copy_reversed(row(*level.U, nB - 1 - i), nB - 1);
        });
    auto& frame = system.frame;
    for (Index i = 0; i < level.n; ++i) {
        const Index j = level.q[i < nB ? nB - 1 - i : i];
        frame.in_index.push_back(i < nB ? level.n - 1 - i : i - nB);
        frame.out_index.push_back(j);
        frame.out_scale.push_back(level.col_scale[j]);
    }
    return system;
}

#define ILUX_INSTANTIATE(T)                                                                                         \
    template ForwardSystem<T> keep_forward<T>(Cpu&, std::span<const ApplyLevel<working_of<T>>>, Index, ApplyEntry); \
    template ForwardSystem<T> keep_backward<T>(Cpu&, std::span<const ApplyLevel<working_of<T>>>, Index);            \
    template ForwardSystem<T> gather_system<T>(ApplyEntry);                                                         \
    template ForwardSystem<T> save_lower<T>(Cpu&, const ApplyLevel<working_of<T>>&);                                \
    template ForwardSystem<T> save_upper_G<T>(Cpu&, const ApplyLevel<working_of<T>>&, ApplyEntry);                  \
    template ForwardSystem<T> save_F_lower<T>(Cpu&, const ApplyLevel<working_of<T>>&);                              \
    template ForwardSystem<T> save_upper<T>(Cpu&, const ApplyLevel<working_of<T>>&);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(S) template struct ApplyLevel<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

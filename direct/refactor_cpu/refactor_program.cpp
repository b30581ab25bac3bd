#include "ilux/direct/refactor_cpu/refactor_program.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace ilux::detail {
namespace {

constexpr Offset positions = std::numeric_limits<std::uint32_t>::max();  // what 32 bits count

/// Inputs with other positions or scales are left to wide columns.
bool fits(const LuPattern& P, Offset e)
{
    return P.in_source[e] < positions && unpack_scale(pack_scale(P.in_scale[e])) == P.in_scale[e];
}

bool has_duplicates(const LuPattern& P)
{
    std::vector<Index> last(P.n, -1);  // column that had an input in this row
    for (Index k = 0; k < P.n; ++k)
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e)
            if (std::exchange(last[P.in_row[e]], k) == k) return true;
    return false;
}

LowerBlocks lower_blocks(const LuPattern& P)
{
    LowerBlocks B;
    B.column.resize(P.n);
    for (Index i = 0; i < P.n; ++i) {
        auto& column = B.column[i] = {P.diag[i] + 1, std::ssize(B.block), 0, 1};
        for (Offset p = column.start; p < P.col_ptr[i + 1]; ++p) {
            const auto block = static_cast<std::uint32_t>(P.row[p] / 8);
            if (column.blocks == 0 || B.block.back() != block) {
                B.block.push_back(block);
                B.mask.push_back(0);
                ++column.blocks;
            }
            B.mask.back() |= static_cast<std::uint8_t>(1u << (P.row[p] % 8));
        }
    }

    const auto row = P.row.begin();
    for (Index i = P.n - 2; i >= 0; --i) {
        const Offset next = P.diag[i] + 2, after = P.diag[i + 1] + 1;
        const auto   panel = B.column[i + 1].panel;
        const bool   same = P.lower_count(i) == P.lower_count(i + 1) + 1 && row[next - 1] == i + 1 &&
                          std::equal(row + next, row + P.col_ptr[i + 1], row + after);
        if (same && panel < 255) B.column[i].panel = static_cast<std::uint8_t>(panel + 1);
    }
    return B;
}

}  // namespace

struct RefactorProgram::Builder {
    RefactorProgram&           out;
    const LuPattern&           P;
    const RefactorTuning&      tuning;
    bool                       vectors;
    std::vector<Index>         place, level, window_of;  // n: in the column at hand; inside its window; −1: in none
    std::vector<std::uint64_t> key;

    Builder(RefactorProgram& program, const LuPattern& pattern, const RefactorTuning& t, bool with_vectors)
        : out(program), P(pattern), tuning(t), vectors(with_vectors && pattern.nnz() < positions)
    {
        place.resize(vectors ? P.n : 0);
        level.resize(P.n);
        window_of.assign(P.n, -1);
    }

    /// Inputs that the program cannot hold: several for one entry, or such as do not fit.
    bool odd_inputs(Index k, Offset first)
    {
        std::uint32_t seen = 0;
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) {
            const Offset p =
                std::find(P.row.begin() + first, P.row.begin() + P.col_ptr[k + 1], P.in_row[e]) - P.row.begin();
            const auto bit = std::uint32_t{1} << (p - first);
            if (seen & bit || !fits(P, e)) return true;
            seen |= bit;
        }
        return false;
    }

    Shape shape(Index k)
    {
        const Offset entries = P.col_ptr[k + 1] - P.col_ptr[k];
        if (!vectors || entries > tuning.wide || P.in_ptr[k] == P.in_split[k] || odd_inputs(k, P.col_ptr[k]))
            return Shape::wide;
        const bool few = P.lower_count(k) <= 4;
        if (entries > 8) return static_cast<Shape>(static_cast<int>(Shape::one) + static_cast<int>((entries - 1) / 8));
        if (P.upper_count(k) == 0) return few ? Shape::no_updates_5 : Shape::no_updates;
        return few ? Shape::one_5 : Shape::one;
    }

    void add_window(std::span<const Index> columns)
    {
        const auto number = static_cast<Index>(out.window.size());
        Window     w{.input = std::ssize(out.source),
                     .inputs_end = 0,
                     .run = std::ssize(out.run),
                     .runs_end = 0,
                     .shorts = std::ssize(out.shorts),
                     .shorts_end = 0,
                     .update = std::ssize(out.update),
                     .wide = std::ssize(out.wide),
                     .first = columns.front()};
        key.clear();
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const Index k = columns[c];
            Index       depth = 0;
            for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p)
                if (window_of[P.row[p]] == number) depth = std::max(depth, level[P.row[p]] + 1);
            level[k] = depth;
            window_of[k] = number;
            const auto updates = static_cast<std::uint64_t>(std::min<Index>(P.upper_count(k), 255));
            key.push_back(static_cast<std::uint64_t>(depth) << 40 | static_cast<std::uint64_t>(shape(k)) << 32 |
                          updates << 24 | c);
        }
        if (vectors) std::sort(key.begin(), key.end());
        for (const std::uint64_t code : key)
            add_column(columns[code & 0xff'ffff], static_cast<Shape>(code >> 32 & 0xff), w);
        w.inputs_end = std::ssize(out.source);
        w.runs_end = std::ssize(out.run);
        w.shorts_end = std::ssize(out.shorts);
        out.most_inputs = std::max(out.most_inputs, w.inputs_end - w.input);
        out.most_shorts = std::max(out.most_shorts, w.shorts_end - w.shorts);
        out.window.push_back(w);
    }

    void add_column(Index k, Shape shape, const Window& w)
    {
        if (std::ssize(out.run) == w.run || out.run.back().shape != shape) out.run.push_back({shape, 0});
        ++out.run.back().count;
        if (shape == Shape::wide) out.wide.push_back(k);
        else add_short(k);
    }

    void add_short(Index k)
    {
        const Offset start = P.col_ptr[k];
        ShortColumn  s{.start = static_cast<std::uint32_t>(start),
                       .in_mask = 0,
                       .column = k,
                       .entries = static_cast<std::uint8_t>(P.col_ptr[k + 1] - start),
                       .diag = static_cast<std::uint8_t>(P.upper_count(k)),
                       .in_diag = 0};
        for (Offset p = start; p < P.col_ptr[k + 1]; ++p) place[P.row[p]] = static_cast<Index>(p - start);

        std::array<Offset, 32> input{};  // by place
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) {
            s.in_mask |= std::uint32_t{1} << place[P.in_row[e]];
            input[place[P.in_row[e]]] = e;
        }
        for (Index c = 0, inputs = 0; c < s.entries; ++c) {
            if (!(s.in_mask >> c & 1)) continue;
            if (c == s.diag) s.in_diag = static_cast<std::uint8_t>(inputs);
            out.source.push_back(static_cast<std::uint32_t>(P.in_source[input[c]]));
            out.scale.push_back(pack_scale(P.in_scale[input[c]]));
            ++inputs;
        }
        for (Offset p = start; p < P.diag[k]; ++p) {
            const Offset  lower = P.diag[P.row[p]] + 1;
            std::uint64_t mask = 0;
            for (Offset q = lower; q < P.col_ptr[P.row[p] + 1]; ++q) mask |= std::uint64_t{1} << place[P.row[q]];
            out.update.push_back(static_cast<std::uint64_t>(lower) << 32 | mask);
        }
        out.shorts.push_back(s);
    }

    /// F(:,k) in the order of its rows, unless an entry has several inputs or none.
    void add_F()
    {
        if (P.nnz_F() == 0 || P.in_ptr.back() >= positions) return;
        std::vector<std::pair<Index, Offset>> entries;
        out.f_source.reserve(P.nnz_F());
        out.f_scale.reserve(P.nnz_F());
        for (Index k = 0; k < P.n; ++k) {
            entries.clear();
            for (Offset e = P.in_split[k]; e < P.in_ptr[k + 1]; ++e) entries.emplace_back(P.in_row[e], e);
            if (!std::is_sorted(entries.begin(), entries.end())) std::sort(entries.begin(), entries.end());
            bool one_each = std::ssize(entries) == P.f_col_ptr[k + 1] - P.f_col_ptr[k];
            for (std::size_t c = 0; one_each && c < entries.size(); ++c) {
                one_each = entries[c].first == P.f_row[P.f_col_ptr[k] + c] && fits(P, entries[c].second);
                out.f_source.push_back(static_cast<std::uint32_t>(P.in_source[entries[c].second]));
                out.f_scale.push_back(pack_scale(P.in_scale[entries[c].second]));
            }
            if (one_each) continue;
            out.f_source = {};
            out.f_scale = {};
            return;
        }
    }
};

RefactorProgram::RefactorProgram(const LuPattern& pattern, std::span<const Index> columns,
                                 std::span<const Index> task_ptr, const RefactorTuning& tuning, bool vectors)
{
    Builder build(*this, pattern, tuning, vectors);
    duplicates = has_duplicates(pattern);
    if (vectors) {
        lower = lower_blocks(pattern);
        shorts.reserve(pattern.n);
        source.reserve(pattern.in_source.size());
        scale.reserve(pattern.in_source.size());
        update.reserve(std::min<std::size_t>(pattern.nnz() / 2, std::size_t{4} * pattern.n));
    }
    task_window.push_back(0);
    for (std::size_t t = 0; t + 1 < task_ptr.size(); ++t) {
        for (Index at = task_ptr[t]; at < task_ptr[t + 1]; at += tuning.window)
            build.add_window(columns.subspan(at, std::min(tuning.window, task_ptr[t + 1] - at)));
        task_window.push_back(std::ssize(window));
    }
    build.add_F();
}

std::size_t RefactorProgram::bytes() const
{
    return bytes_of(task_window, window, run, shorts, wide, source, scale, update, lower.column, lower.block,
                    lower.mask, f_source, f_scale);
}

}  // namespace ilux::detail

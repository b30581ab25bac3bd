#pragma once
// Where every update of a left-looking factorization lands: the member union [islu_24].

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// How the positions of one column's updates are kept, cheapest to use first.
enum class UnionIndex : std::uint8_t {
    plain,   ///< a 16-bit position in the column for every multiply-add; columns of at most 65,535 entries
    wide,    ///< the same in 32 bits
    runs,    ///< where each run of consecutive positions begins: 4 bytes; columns of at most 65,535 entries
    lookup,  ///< bits of the rows of column k, and counts: 8 bytes for every 32 rows from its first to its last
    search,  ///< nothing: binary search
};

/// From entry `begin` of L(:,i) on, up to the next run, positions in column k count on from `position`.
struct alignas(4) UnionRun {
    std::uint16_t begin = 0, position = 0;
    friend bool   operator==(const UnionRun&, const UnionRun&) = default;
};
/// Which of 32 rows are in a column, and how many of its entries lie above them.
struct alignas(8) UnionWord {
    std::uint32_t bits = 0, before = 0;
    friend bool   operator==(const UnionWord&, const UnionWord&) = default;
};

/// What the choice costs, by column: made within `limit` bytes for all, the most used columns the cheapest way.
struct UnionPlan {
    std::vector<UnionIndex> index;      ///< n
    std::size_t             bytes = 0;  ///< of positions, and 8 for each segment of them
    double                  multiply_adds = 0;
};
/// Columns by multiply-adds, most first: each gets the smallest of its encodings; then, while there is room, runs of at
/// least four on average instead; then plain or wide ones. Counts only, in 64 bits. O(nnz + n log n).
/// @param forced  one encoding for all columns that it can hold, whatever the limit; for tests and the ablation.
/// Columns that are
///                too long for plain are wide then, those too long for runs use lookup
/// @param runs    of count_runs; empty: not known, so that none are used, and forced ones are taken to be of one entry
UnionPlan plan_union(const LuPattern& pattern, std::size_t limit, std::optional<UnionIndex> forced = {},
                     std::span<const Offset> runs = {});

/// By column: runs of consecutive positions, over all its updates. O(multiply-adds)
std::vector<Offset> count_runs(const LuPattern& pattern);

/// Where the encodings of a plan stand. A segment belongs to one u_ik: columns kept plain come first, then wide ones,
/// then those in runs, each with its U entries in order. So Vheader of [islu_24] is `first` where all columns are
/// plain.
struct UnionLayout {
    std::vector<Offset> first;             ///< n; first segment of the column; of lookup: its first word
    Offset              segments = 0;      ///< Vlen has one more
    Offset plain = 0, wide = 0, runs = 0;  ///< lengths of the three parts of Vdata, which Vlen counts on through
    Offset words = 0;
};
/// @param runs  of count_runs; empty where the plan has none
UnionLayout layout_union(const LuPattern& pattern, const UnionPlan& plan, std::span<const Offset> runs = {});

/// Target positions of every update, in the compressed form that ISLU reads.
struct MemberUnion {
    UnionPlan                  plan;
    UnionLayout                layout;
    std::vector<Offset>        len;    ///< Vlen: segments + 1
    std::vector<std::uint16_t> plain;  ///< Vdata of plain columns
    std::vector<std::uint32_t> wide;
    std::vector<UnionRun>      runs;
    std::vector<UnionWord>     words;
};
/// The union on the host, by walks along the columns. O(multiply-adds + nnz)
MemberUnion member_union(const LuPattern& pattern, UnionPlan plan);

/// The positions that the encodings say, in the order of union_by_search; −1 where they leave it to a search.
std::vector<Index> decoded(const LuPattern& pattern, const MemberUnion& members);

/// Positions of all updates, by the slow and obvious way: for e in U(:,k), for t in L(:,i): the position of row t in
/// column k. What tests compare every encoding with. O(multiply-adds · log)
std::vector<Index> union_by_search(const LuPattern& pattern);

}  // namespace ilux

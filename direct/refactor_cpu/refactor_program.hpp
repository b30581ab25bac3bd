#pragma once
// What one thread does in which order, written down once: windows of columns, inside each the short ones sorted by
// shape.

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "ilux/direct/refactor_cpu/refactor.hpp"

namespace ilux::detail {

/// A column of at most 32 entries lives in up to four registers of eight; `in_mask` says which entries have an input.
struct ShortColumn {
    std::uint32_t start;  ///< position of its first entry
    std::uint32_t in_mask;
    Index         column;
    std::uint8_t  entries;
    std::uint8_t  diag;     ///< place of u_kk among them
    std::uint8_t  in_diag;  ///< which of its inputs is b_kk; the first where there is none
};

/// Shapes of short columns, in the order in which the kernels stand in a table; then all others.
enum class Shape : std::uint8_t {
    no_updates_5,  ///< U(:,k) empty, at most four entries in L(:,k)
    no_updates,    ///< U(:,k) empty
    one_5,         ///< one register, at most four entries in L(:,k)
    one,           ///< one register
    two,
    three,
    four,
    wide,  ///< from a dense vector
};

struct Run {
    Shape         shape;
    std::uint32_t count;
};

/// Consecutive in every array of the program.
struct Window {
    Offset input = 0, inputs_end = 0;  ///< of its short columns
    Offset run = 0, runs_end = 0;
    Offset shorts = 0, shorts_end = 0;
    Offset update = 0;  ///< first of its short columns' updates
    Offset wide = 0;
    Index  first = 0;  ///< smallest column
};

/// L(:,i) by blocks of eight rows, for vector processors: block b holds rows 8·block[b] … as mask[b] says.
struct LowerBlocks {
    struct Column {
        Offset       start;  ///< of L(:,i) in val
        Offset       first;  ///< block
        Index        blocks;
        std::uint8_t panel;  ///< columns from i on with equal tails: L(:,i) = {i+1} ∪ L(:,i+1); at most 255
    };
    std::vector<Column>        column;  ///< n
    std::vector<std::uint32_t> block;
    std::vector<std::uint8_t>  mask;
};

struct RefactorProgram {
    /// Tasks are lists of columns, ascending. @param vectors  short columns in registers; else all are wide
    RefactorProgram(const LuPattern& pattern, std::span<const Index> columns, std::span<const Index> task_ptr,
                    const RefactorTuning& tuning, bool vectors);

    std::vector<Offset>        task_window;  ///< tasks + 1
    std::vector<Window>        window;
    std::vector<Run>           run;
    std::vector<ShortColumn>   shorts;
    std::vector<Index>         wide;
    std::vector<std::uint32_t> source;  ///< of the inputs of short columns
    std::vector<std::uint16_t> scale;   ///< the leading bits of the double, which hold all of a power of two
    std::vector<std::uint64_t>
                update;  ///< position of the first entry of L(:,i) · 2³² + mask of its places in column k
    LowerBlocks lower;   ///< empty without vectors

    // F, entry by entry; empty where some have several inputs or another scale.
    std::vector<std::uint32_t> f_source;
    std::vector<std::uint16_t> f_scale;

    bool        duplicates = false;                ///< some entry of the diagonal blocks has several inputs
    Offset      most_inputs = 0, most_shorts = 0;  ///< of a window
    std::size_t bytes() const;

private:
    struct Builder;
};

inline std::uint16_t pack_scale(double scale)
{
    return static_cast<std::uint16_t>(std::bit_cast<std::uint64_t>(scale) >> 48);
}
inline double unpack_scale(std::uint16_t bits) { return std::bit_cast<double>(std::uint64_t{bits} << 48); }

/// Bytes that vectors hold.
template <class... T>
std::size_t bytes_of(const std::vector<T>&... arrays)
{
    return (std::size_t{0} + ... + (arrays.capacity() * sizeof(T)));
}

}  // namespace ilux::detail

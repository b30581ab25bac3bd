#pragma once
// Which of the caller's values the entries of a LuPattern start from.

#include <cstdint>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/base/unset_vector.hpp"

namespace ilux {

/// Entries are those of L + U in the pattern's order, then those of F.
struct EntryInputs {
    static constexpr std::int32_t none = -1;

    UnsetVector<std::int32_t> source;  ///< nnz + nnz_F; position of the first input among the caller's values, or none
    UnsetVector<double>       scale;   ///< nnz + nnz_F; of that input; 1 where there is none

    // Further inputs of entries that have several, by columns and there in the order in which they are added.
    std::vector<Offset>       extra_ptr;     ///< n + 1
    std::vector<Offset>       extra_of;      ///< the entry
    std::vector<std::int32_t> extra_source;  ///< position among the caller's values
    std::vector<double>       extra_scale;
};

/// O(n + nnz), the same for any number of threads. @throws InvalidInput when 32 bits cannot count the caller's values
EntryInputs entry_inputs(const LuPattern& pattern, Cpu be = Cpu());

/// The further inputs, entry by entry.
struct RepeatedInputs {
    std::vector<Offset>       entry;   ///< that have further inputs, ascending
    std::vector<Offset>       ptr;     ///< entry.size() + 1
    std::vector<std::int32_t> source;  ///< of each entry, in the order in which they are added
    std::vector<double>       scale;
};
RepeatedInputs repeated_inputs(const EntryInputs& inputs);

}  // namespace ilux

#pragma once
// New values, the same pattern and pivots: left-looking on host threads.

#include <memory>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// How one thread computes. All give the same bits. Complex numbers know no avx512.
enum class Arithmetic {
    automatic,  ///< the last of these that the processor has
    portable,   ///< std::fma, which is a function call where the processor, or the build, has no such instruction
    fma,        ///< x86-64 with FMA and AVX2
    avx512,     ///< x86-64 with AVX-512 F, VL, DQ: short columns in registers, supernodes by panels
};

/// How the work is cut. The defaults were measured (docs/design/direct.md); tests force small pieces.
struct RefactorTuning {
    Arithmetic arithmetic = Arithmetic::automatic;
    Index      window = 512;       ///< columns sorted by dependence and shape at a time
    Index      wide = 32;          ///< columns of more entries are not kept in registers; at most 32
    Index      hub_updates = 256;  ///< hubs, which threads share, are columns of at least so many updates
    double     hub_share = 0.25;   ///< that cost at least this part of all work by the number of threads
    double     task_seconds = 0;  ///< estimated work of a piece that one thread does alone; 0: by the number of threads
    double     least_gain = 1.2;  ///< threads join where the model promises so many times one thread's speed; 0: always
};

/// How the work of one pattern is shared by threads, and the memory they write. Made once; serves one refactorization
/// at a time.
///
/// Column k, in every mode: x ← 0, x ← x + value · scale for the entries of B(:,k) in order; for i ∈ U(:,k) ascending:
/// x_r ← fma(−l_ri, x_i, x_r), of complex numbers minus_product, for r ∈ L(:,i); U(:,k) ← x; L(:,k) ← x / u_kk. So the
/// bits do not depend on the number of threads.
template <class S = double>
class CpuRefactor {
public:
    /// Costs three to ten refactorizations of a circuit, far less than one of a mesh.
    /// @param be  as many threads as this will be used at most
    CpuRefactor(Cpu& be, std::shared_ptr<const LuPattern> pattern, const RefactorTuning& tuning = {});
    ~CpuRefactor();
    CpuRefactor(CpuRefactor&&) noexcept;
    CpuRefactor& operator=(CpuRefactor&&) noexcept;

    /// Fills val, f_val and monitor of `factors`, whose pattern must be the one given. Allocates nothing.
    /// Stops early at a bad pivot; then monitor.bad_column is the first one, all else in the monitor is as for no
    /// columns, and the values must not be used. A column is bad when its pivot is zero, or when U(:,k), L(:,k) or
    /// F(:,k) is not finite; a complex entry of L or U is not where |z| overflows. Where several columns share an
    /// extreme, the monitor names the first.
    /// @param values  in the caller's order, not looked at for NaN: those end in monitor.not_finite
    /// @throws InvalidInput when values or factors do not belong to the pattern
    void run(Cpu& be, std::span<const S> values, LuFactors<S>& factors);

    int         threads() const;  ///< that take part; 1 where more would not be faster
    std::size_t bytes() const;

private:
    struct Plan;
    std::unique_ptr<Plan> plan_;
};

/// Does what run() does, on one thread in the plainest way; tests and every other method compare with it, bit by bit.
/// @param bad  keep: the monitor names the first bad column, and all else in it is of the others
template <class S>
void refactor_serial(std::span<const NotDeduced<S>> values, LuFactors<S>& factors, BadPivots bad = BadPivots::end);

}  // namespace ilux

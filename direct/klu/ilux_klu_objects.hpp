#pragma once
// What stands behind the C interface of ilux_klu.h and ilux_klu_z.h. One template serves int and int64_t, real and
// complex values.

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/direct/klu/ilux_klu.h"
#include "ilux/direct/klu/ilux_klu_marks.hpp"
#include "ilux/direct/klu/ilux_klu_workspaces.hpp"
#include "ilux/direct/lu/lu.hpp"

/// The kinds of calls that the interface has, by their indices and numbers: klu_*, klu_l_*, klu_z_*, klu_zl_*.
#define ILUX_KLU_KINDS(instantiate)                                                                   \
    instantiate(int, double) instantiate(std::int64_t, double) instantiate(int, std::complex<double>) \
        instantiate(std::int64_t, std::complex<double>)

namespace ilux::klu {

template <class Int>
struct Types;
template <>
struct Types<int> {
    using Common = ilux_klu_common;
    using Symbolic = ilux_klu_symbolic;
    using Numeric = ilux_klu_numeric;
};
template <>
struct Types<std::int64_t> {
    using Common = ilux_klu_l_common;
    using Symbolic = ilux_klu_l_symbolic;
    using Numeric = ilux_klu_l_numeric;
};

/// A number that does not fit its type; becomes ILUX_KLU_TOO_LARGE.
struct TooLarge {};

template <class Int>
Int fit(double number)
{
    if (number > static_cast<double>(std::numeric_limits<Int>::max())) throw TooLarge{};
    return static_cast<Int>(number);
}

/// Threads may share a common struct while they solve.
template <class Common>
void set_status(Common* common, int status)
{
    std::atomic_ref(common->status).store(status, std::memory_order_relaxed);
}

/// The edge where exceptions stop: `body` returns the result; anything thrown becomes a status, and `failure`.
template <class Result, class Common, class Body>
Result guarded(Common* common, Result failure, Body&& body) noexcept
{
    if (common == nullptr) return failure;
    set_status(common, ILUX_KLU_OK);
    try {
        return body();
    } catch (const OutOfMemory&) {
        set_status(common, ILUX_KLU_OUT_OF_MEMORY);
    } catch (const std::bad_alloc&) {
        set_status(common, ILUX_KLU_OUT_OF_MEMORY);
    } catch (const TooLarge&) {
        set_status(common, ILUX_KLU_TOO_LARGE);
    } catch (...) {
        set_status(common, ILUX_KLU_INVALID);
    }
    return failure;
}

inline void require_arguments(bool sensible)
{
    require(sensible, [] { return "a pointer is NULL or of another library, or a number makes no sense"; });
}

template <class Int>
struct Analysis : Types<Int>::Symbolic {
    std::shared_ptr<const LuSymbolic> lu;
    MarkedArrays<Int>                 pqr;
    std::vector<double>               block_lnz;
    std::size_t                       counted = 0;  ///< in memusage
};

/// What a numeric object is for whoever does not know its values.
template <class Int>
struct AnyFactorization : Types<Int>::Numeric {
    explicit AnyFactorization(std::shared_ptr<const LuSymbolic> symbolic)
        : Types<Int>::Numeric{}, analysed(std::move(symbolic))
    {}
    virtual ~AnyFactorization() = default;
    AnyFactorization(const AnyFactorization&) = delete;
    AnyFactorization& operator=(const AnyFactorization&) = delete;

    std::shared_ptr<const LuSymbolic> analysed;
    std::shared_ptr<const LuPattern>  pattern;               ///< what the public part describes
    int                               status = ILUX_KLU_OK;  ///< of the last factor or refactor
    bool                              pivots = false;  ///< whether one succeeded: they were chosen for good values
    int                               scale = 0;       ///< common.scale then
    int                               repivots = 0;
    double                            flops = 0;
    MarkedArrays<Int>                 rows;  ///< Pnum and Pinv
    std::vector<Int>                  llen, ulen, offp, offi;
    std::vector<double>               rs;
    std::size_t                       counted = 0;  ///< in memusage
};

template <class Int, Scalar S>
struct Factorization final : AnyFactorization<Int> {
    /// @param options  of now
    Factorization(Cpu be, std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options)
        : AnyFactorization<Int>(std::move(symbolic)), lu(be, this->analysed, options), workspaces(this->analysed->n)
    {}

    /// What the last factor or refactor made; null if it failed, unless for a singular matrix and halt_if_singular 0.
    const LuFactors<S>* factors() const
    {
        if (this->status == ILUX_KLU_OK) return &lu.factors();
        return this->status == ILUX_KLU_SINGULAR && singular.pattern ? &singular : nullptr;
    }

    Lu<S>          lu;
    LuFactors<S>   singular;  ///< of a singular matrix, bad pivots included; else empty
    std::vector<S> udiag;
    Workspaces<S>  workspaces;
};

/// @throws InvalidInput for a NULL, and for an object that this library did not make
template <class Int>
const Analysis<Int>& behind(const typename Types<Int>::Symbolic* symbolic)
{
    require_arguments(symbolic != nullptr && is_ours(*symbolic));
    return static_cast<const Analysis<Int>&>(*symbolic);
}
template <class Int>
AnyFactorization<Int>& behind(typename Types<Int>::Numeric* numeric)
{
    require_arguments(numeric != nullptr && is_ours(*numeric));
    return static_cast<AnyFactorization<Int>&>(*numeric);
}

/// A call that has both gets the numeric from here. O(1), but for a symbolic object that is not the one it was made
/// from: then the patterns are compared.
/// @throws InvalidInput for a NULL, for a numeric of the other kind of values, or where they are of different patterns
template <class Int, Scalar S>
Factorization<Int, S>& behind(const typename Types<Int>::Symbolic* symbolic, typename Types<Int>::Numeric* numeric)
{
    const auto& given = behind<Int>(symbolic).lu;
    auto* const f = dynamic_cast<Factorization<Int, S>*>(&behind<Int>(numeric));
    require(f != nullptr,
            [] { return "the numeric object holds real values where complex ones are meant, or the other way"; });
    if (given == f->analysed) return *f;
    require(given->input_ptr == f->analysed->input_ptr && given->input_idx == f->analysed->input_idx,
            [] { return "the numeric object is of another pattern than the symbolic one"; });
    return *f;
}

/// Marks a refactor that has not succeeded yet: no solution is to be taken for that of the new values.
template <class Int>
void spoil(typename Types<Int>::Numeric* numeric) noexcept
{
    if (numeric != nullptr && is_ours(*numeric)) behind<Int>(numeric).status = ILUX_KLU_INVALID;
}

}  // namespace ilux::klu

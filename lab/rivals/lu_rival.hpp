#pragma once
// Direct solvers of others, and ours by supernodes, on host threads, which `ilux-lab lu` puts beside ours, each with
// its own defaults. None is linked: a library is opened when it is to be measured, where its header was found when this
// was built.

#include <complex>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "ilux/base/matrix/csr.hpp"

namespace ilux::app {

/// What a rival made of one matrix. Every call throws InvalidInput with the rival's own code where it fails.
template <Scalar S>
class LuRival {
public:
    LuRival() = default;
    virtual ~LuRival() = default;
    LuRival(const LuRival&) = delete;
    LuRival& operator=(const LuRival&) = delete;

    virtual void analyse() = 0;
    virtual void factor() = 0;  ///< the first time, after analyse()
    virtual void set_values(
        std::span<const S> values) = 0;         ///< nnz of the same pattern, in A's order, before each refactor()
    virtual void               refactor() = 0;  ///< with all that the rival can keep of what it did before
    virtual std::span<const S> solve(std::span<S> b) = 0;  ///< x, n: in b, which may be overwritten, or in the rival
    /// version, and what the rival tells: nnz_LU, bytes, refine_steps of the last solve, …
    virtual nlohmann::ordered_json facts() const = 0;
};

template <Scalar S>
using LuRivalPointer = std::unique_ptr<LuRival<S>>;

struct LuRivalKind {
    std::string_view name;
    std::string (*why_not)();  ///< why it cannot be measured here, or ""
    LuRivalPointer<double> (*make)(const CsrView<double>& A, int threads);
    LuRivalPointer<std::complex<double>> (*make_complex)(const CsrView<std::complex<double>>& A, int threads);
};

/// In the order in which they have to be opened.
std::span<const LuRivalKind> lu_rivals();
/// Null where there is none of that name.
const LuRivalKind* find_lu_rival(std::string_view name);

/// A copy of A as the rival takes it. @throws InvalidInput where why_not() says so, and where 32 bits cannot count A's
/// entries
template <Scalar S>
LuRivalPointer<S> make_lu_rival(const LuRivalKind& kind, const CsrView<S>& A, int threads);

// Ours by supernodes (direct/supernodal): like a rival it needs no factors by entries.
std::string why_no_supernodes();
template <Scalar S>
LuRivalPointer<S> make_supernodes(const CsrView<S>& A, int threads);

// KLU of SuiteSparse [davis_palamadai_10], LGPL: block form, AMD, scaling of rows, one thread; not refined.
std::string why_no_klu();
template <Scalar S>
LuRivalPointer<S> make_klu(const CsrView<S>& A, int threads);

// PARDISO of oneMKL: nested dissection, scaling and matching from the values that are analysed, pivots within
// supernodes. It refines by itself, two steps, where it had to perturb a pivot.
std::string why_no_pardiso();
template <Scalar S>
LuRivalPointer<S> make_pardiso(const CsrView<S>& A, int threads);

// UMFPACK of SuiteSparse, GPL: multifrontal, its own choice of strategy and ordering, at most two steps of refinement.
// It keeps no pivots: refactor() chooses them anew by the analysis that it has. @param threads  of the BLAS
std::string why_no_umfpack();
template <Scalar S>
LuRivalPointer<S> make_umfpack(const CsrView<S>& A, int threads);

// SuperLU, the sequential one, on one thread: COLAMD, equilibration, partial pivoting; refactor() keeps rows and
// memory. As its expert driver, without refinement.
std::string why_no_superlu();
template <Scalar S>
LuRivalPointer<S> make_superlu(const CsrView<S>& A, int threads);

}  // namespace ilux::app

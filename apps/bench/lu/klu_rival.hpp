#pragma once
// SuiteSparse's KLU [davis_palamadai_10] with its defaults: block form, AMD, scaling of rows. It is LGPL, so it is neither linked nor
// needed: where its header was found when this was built, the shared library is opened when it is to be measured.

#include <memory>
#include <span>
#include <string>

#include "ilux/base/csr.hpp"

namespace ilux::app {

/// Why it cannot be measured here, or "".
std::string why_no_klu();

/// S is double or std::complex<double>.
template <Scalar S = double>
class KluRival {
public:
    /// Analyses and factors. @throws InvalidInput where why_no_klu() says so, for a matrix that KLU calls singular, and where 32
    /// bits cannot count the entries
    explicit KluRival(const CsrView<S>& A);
    ~KluRival();
    KluRival(const KluRival&) = delete;
    KluRival& operator=(const KluRival&) = delete;

    /// Values of a matrix of the same pattern for the next refactor(). @param values  nnz, in A's order
    void   set_values(std::span<const S> values);
    bool   refactor();             ///< false where KLU found a zero pivot
    void   solve(std::span<S> x);  ///< x, n: the right-hand side in, the solution out; not refined
    double nnz() const;            ///< of L + U, the diagonal once, and above the blocks

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ilux::app

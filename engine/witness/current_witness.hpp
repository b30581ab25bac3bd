#pragma once
// The witness of a matrix whose numbers change, made where it is asked for.

#include <optional>

#include "ilux/engine/witness/witness.hpp"

namespace ilux {

/// A witness, and whether it is of the numbers at hand.
template <Scalar S = double>
class CurrentWitness {
public:
    void numbers_changed() { of_these_numbers_ = false; }
    void forget() { witness_.reset(); }

    /// For numbers of the host. @param A, null_space, proof  as Witness has them
    Witness<S>& of(Cpu& be, const CsrView<S>& A, const NullSpace<S>* null_space, Proof proof)
    {
        if (!witness_ || !of_these_numbers_) witness_.emplace(be, A, null_space, proof);
        of_these_numbers_ = true;
        return *witness_;
    }
    /// For numbers of the same pattern on a GPU. @return null: only the host can tell
    Witness<S>* of(Gpu& gpu, const DeviceCsr<S>& A)
    {
        if (!witness_ || !(of_these_numbers_ || witness_->holds_for(gpu, A))) return nullptr;
        of_these_numbers_ = true;
        return &*witness_;
    }
    /// The witness of these numbers; null: nobody asked for it.
    const Witness<S>* at_hand() const { return witness_ && of_these_numbers_ ? &*witness_ : nullptr; }

private:
    std::optional<Witness<S>> witness_;
    bool                      of_these_numbers_ = false;
};

}  // namespace ilux

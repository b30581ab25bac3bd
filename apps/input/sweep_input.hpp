#pragma once
// The systems of a frequency sweep, made one by one: (G + jωC) x = b.

#include <complex>
#include <span>
#include <string>
#include <vector>

#include "ilux/apps/input/sequence_input.hpp"
#include "ilux/solver/ac_matrix.hpp"

namespace ilux::app {

/// A series as SequenceInput gives them, of one system for each frequency.
class SweepInput {
public:
    using Value = std::complex<double>;

    /// @param G, C         Matrix Market files (- for standard input) or gallery:NAME, n×n and real
    /// @param frequencies  in Hz, one at least, neither negative nor infinite
    /// @param rhs          auto (ones), A1 (b = (G + jωC)·1), ones, random:SEED, or a file of one column; the same at
    /// every frequency but
    ///                     for A1
    /// @throws InvalidInput naming the file where G or C is not square, has other sizes than the other, complex values,
    /// NaN or Inf, and
    ///         where G + jωC overflows at some frequency; the rest as load_rhs; InvalidOption also where standard input
    ///         is named twice
    SweepInput(const std::string& G, const std::string& C, std::vector<double> frequencies, const std::string& rhs,
               const ReadLimit& limit = {});

    SequenceFacts      facts() const;
    const std::string& rhs() const { return rhs_; }
    Index              systems() const { return static_cast<Index>(frequencies_.size()); }
    std::string        label(Index k) const;  ///< "1000 Hz", six digits
    double             frequency(Index k) const { return frequencies_[static_cast<std::size_t>(k)]; }

    /// Makes the system of frequency k, counted from 0, the one that A() and b() give. In any order.
    void read(Index k);

    /// n×n, in the same arrays for every frequency. Before the first read that of f = 0.
    const CsrView<Value>&  A() const { return matrix_.A(); }
    std::span<const Value> b() const { return b_; }  ///< n

    std::vector<std::string> remarks() const  ///< on what was read
    {
        return rhs_remark_.empty() ? std::vector<std::string>{} : std::vector{rhs_remark_};
    }
    std::vector<Offset> take_growth() { return {}; }  ///< as SequenceInput has it: the pattern is always the same

private:
    std::string         name_, rhs_, rhs_remark_;
    std::vector<double> frequencies_;
    AcMatrix            matrix_;
    std::vector<Value>  b_;
};

}  // namespace ilux::app

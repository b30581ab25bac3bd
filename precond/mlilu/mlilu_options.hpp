#pragma once
// Options of the multilevel ILU.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/fields.hpp"
#include "ilux/precond/rounds/rounds_plan.hpp"
#include "ilux/reorder/ordering.hpp"

namespace ilux {

/// Whether large entries are permuted to the diagonal first; automatic: where diagonal entries are small; wait: they
/// are not, but in rounds the unknowns of a saddle point that have no diagonal wait until their neighbours give them
/// one.
enum class MatchingChoice { automatic, on, off, wait };
/// Whether L_G and U_F are kept, or G and F in their place, which saves memory and costs a solve with B̃ each time M is
/// applied.
enum class OffDiagonal { automatic, keep, save };
/// Sign rule of the estimates of ‖L⁻¹‖ and ‖U⁻¹‖.
enum class Estimator { greedy, look_ahead };

constexpr auto names(MatchingChoice) { return words("auto", "on", "off", "wait"); }
constexpr auto names(OffDiagonal) { return words("auto", "keep", "save"); }
constexpr auto names(Estimator) { return words("greedy", "look_ahead"); }

/// How a level is factored: one pivot after another (Crout), or in rounds of pivots that do not see one another;
/// automatic: rounds on a GPU, and on the host where nearly all rows are diagonally dominant as they stand.
enum class MlIluSetup { automatic, crout, rounds };
constexpr auto names(MlIluSetup) { return words("auto", "crout", "rounds"); }

/// Longest chain of dependent rows in L_B and U_B; written auto, none or a whole number from 1 on.
struct DepthBound {
    Index                  rows = automatic;  ///< > 0: the bound
    static constexpr Index automatic = -1;    ///< none, unless who applies the factors resolves it: a GPU minds chains
    static constexpr Index none = 0;
    friend bool            operator==(DepthBound, DepthBound) = default;
};
/// @throws InvalidOption naming `path` and the text
void        parse_field(std::string_view path, std::string_view text, DepthBound& field);
std::string field_text(DepthBound field);

/// β of damped.hpp; written auto, off or a number from 0 to 1.
struct Damping {
    double                  beta = automatic;
    static constexpr double automatic = -1;  ///< by the couplings, where A is large and complex symmetric
    friend bool             operator==(Damping, Damping) = default;
};
/// @throws InvalidOption naming `path` and the text
void        parse_field(std::string_view path, std::string_view text, Damping& field);
std::string field_text(Damping field);

/// τ_S as it was asked for; written auto or a number from 0 to 1.
struct SchurDropTol {
    std::optional<double> given = {};  ///< nothing: it follows τ
    SchurDropTol() = default;
    SchurDropTol(double tol) : given(tol) {}
    friend bool operator==(SchurDropTol, SchurDropTol) = default;
};
/// @throws InvalidOption naming `path` and the text
void        parse_field(std::string_view path, std::string_view text, SchurDropTol& field);
std::string field_text(SchurDropTol field);
void        check_field(std::string_view path, SchurDropTol field, Range range);

/// Options of the multilevel ILU; fields() has their ranges and meanings.
struct MlIluOptions {
    double         drop_tol = 1e-2;      ///< τ
    SchurDropTol   schur_drop_tol = {};  ///< τ_S
    MlIluSetup     setup = MlIluSetup::automatic;
    Compensation   compensation = Compensation::automatic;
    double         weak_coupling = 0.2;  ///< θ
    double         inverse_bound = 5;    ///< κ
    double         growth_bound = 2;     ///< γ
    MatchingChoice matching = MatchingChoice::automatic;
    Ordering       ordering = Ordering::amd;
    OffDiagonal    off_diagonal = OffDiagonal::automatic;
    Estimator      estimator = Estimator::greedy;
    bool           scaling = true;
    bool           definite = false;
    bool           absolute = false;
    bool           half = false;
    Damping        damping = {};
    DepthBound     depth_bound = {};
    Index          dense_order = 8;
    Bytes          memory_limit = {};
    /// Near-null-space vectors (A t is small beside t), in the user's unknowns: n × how many, by rows, not all 0;
    /// null: a constant. Rounds with compensation keep what A does to them. No text stands for it. Two of these are
    /// equal where they are one object.
    std::shared_ptr<const std::vector<double>> near_null = {};

    /// M stands beside a coarse space that mends what is dropped, unlike that of a saddle point: sets of pivots are
    /// found in few sweeps, and τ_S grows from round to round. No text stands for it.
    bool beside_coarse = false;

    /// τ_S as it acts.
    double tau_S() const { return schur_drop_tol.given.value_or(drop_tol / 10); }

    friend bool operator==(const MlIluOptions&, const MlIluOptions&) = default;
};

template <class Visit>
void fields(MlIluOptions& o, Visit&& visit)
{
    visit("drop_tol", o.drop_tol, within(0, 1),
          "τ: drop an entry that changes no entry of the inverse factors by more than about τ");
    visit("schur_drop_tol", o.schur_drop_tol, within(0, 1),
          "τ_S: drop entries of the next level's matrix, relative to their row; auto: τ/10; rounds drop by it alone");
    visit(
        "setup", o.setup, anything(),
        "factor a level one pivot after another (crout) or in rounds of pivots that do not see one another, on all threads; "
        "auto: rounds on a GPU, and on a host where 95 % of the rows are dominant, no matching moves rows, coefficients jump in few, A is not nearly dense and "
        "no option asks for what rounds lack: they order nothing, estimate greedily and keep L_G and U_F");
    visit(
        "compensation", o.compensation, anything(),
        "rounds: add what is dropped from a row to its diagonal, as far as the row stays dominant, and drop up to 5 τ_S; lumped: for a "
        "symmetric (complex: Hermitian) A with a positive diagonal, add its magnitude to the diagonals of row and column: M is then positive definite where A is");
    visit(
        "weak_coupling", o.weak_coupling, within(0, 1),
        "θ: rounds with compensation: couplings that add up to so much of a pivot keep no two pivots apart that others join as well");
    visit("inverse_bound", o.inverse_bound, at_least(1),
          "κ: postpone a pivot whose row of L⁻¹ or column of U⁻¹ would exceed it");
    visit("growth_bound", o.growth_bound, at_least(0),
          "γ: postpone a pivot whose update would exceed it, entries being about 1; 0: off");
    visit("matching", o.matching, anything(),
          "permute large entries to the diagonal first; wait: not so, but rounds of a symmetric A leave rows without a "
          "diagonal until their neighbours have given them one");
    visit("ordering", o.ordering, anything(), "fill-reducing ordering of every level");
    visit("off_diagonal", o.off_diagonal, anything(),
          "apply with the factors L_G, U_F (keep) or with the blocks G, F (save)");
    visit("estimator", o.estimator, anything(), "sign rule of the inverse-norm estimates");
    visit("scaling", o.scaling, anything(), "equilibrate the rows and columns of every level by powers of two");
    visit("definite", o.definite, anything(),
          "keep M symmetric positive definite, as CG needs; A symmetric, or Hermitian, with a positive diagonal");
    visit(
        "absolute", o.absolute, anything(),
        "take |D| for D: a positive definite M of an indefinite symmetric or Hermitian A, as MINRES needs; without a matching");
    visit(
        "half", o.half, anything(),
        "symmetric or Hermitian A: store U alone and solve with its image for L; half the bytes, or twice the entries where a "
        "memory limit binds; solves with L run on one thread, and a GPU makes both of it");
    visit(
        "damping", o.damping, anything(),
        "β: make M of A with iβ|a_jj| more on its diagonal, as of waves that decay: far smaller factors, more steps; auto, off or 0 "
        "to 1; auto: by the couplings, where A is complex, symmetric and large");
    visit("depth_bound", o.depth_bound, anything(),
          "postpone a pivot whose chain in L or U would be longer: auto, none or a number; auto: none on a CPU");
    visit("dense_order", o.dense_order, at_least(0),
          "solve a level of at most this order densely, as any that is a third full");
}

}  // namespace ilux

// The host's part of precond/ for complex numbers, its dense level apart; as base.cpp.

#include <complex>

#define ILUX_PRECOND_SCALARS(instantiate) instantiate(std::complex<double>)
#define ILUX_MLILU_SCALARS(instantiate) instantiate(std::complex<double>)

#include "ilux/precond/ilu0.cpp"
#include "ilux/precond/jacobi.cpp"
#include "ilux/precond/crout/crout_ilu.cpp"
#include "ilux/precond/crout/inverse_norms.cpp"
#include "ilux/precond/crout/level_blocks.cpp"
#include "ilux/precond/mlilu/level_budget.cpp"
#include "ilux/precond/mlilu/mlilu.cpp"
#include "ilux/precond/mlilu/mlilu_apply.cpp"
#include "ilux/precond/mlilu/mlilu_crout.cpp"
#include "ilux/precond/mlilu/mlilu_levels.cpp"
#include "ilux/precond/mlilu/mlilu_rounds.cpp"
#include "ilux/precond/mlilu/preprocess.cpp"
#include "ilux/precond/rounds/round_eliminate.cpp"
#include "ilux/precond/rounds/round_replay.cpp"
#include "ilux/precond/rounds/round_set.cpp"
#include "ilux/precond/rounds/rounds_ilu.cpp"
#include "ilux/precond/crout/schur.cpp"

#!/usr/bin/env bash
# A convection-diffusion system: look at it, solve it, weaken and strengthen the preconditioner.
#     docs/guide/1_convection_diffusion.sh [MATRIX]     a Matrix Market file; without: a model problem
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
A=$(bring "${1:-gallery:recirculating2d:n=160}")

step look     info "$A"
step defaults solve "$A" --method gmres --rhs random:1 --device cpu --threads 1 --report defaults.html
step ilu0     solve "$A" --method gmres --rhs random:1 --device cpu --threads 1 --precond ilu0 --retry off --report ilu0.html
step coarse   solve "$A" --method gmres --rhs random:1 --device cpu --threads 1 -p precond.schur_drop_tol=1e-2 --quiet
step fine     solve "$A" --method gmres --rhs random:1 --device cpu --threads 1 -p precond.schur_drop_tol=1e-4 --quiet
step crout    solve "$A" --method gmres --rhs random:1 --device cpu --threads 1 -p precond.setup=crout --quiet
step ones     solve "$A" --method gmres --device cpu --threads 1 --quiet

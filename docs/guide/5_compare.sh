#!/usr/bin/env bash
# Direct, iterative and CUSP's GMRES on a circuit and on a PDE.
#     docs/guide/5_compare.sh [CIRCUIT PDE]     a series' folder or a Matrix Market file each; without: model problems
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
circuit=$(bring "${1:-gallery:rlc_mesh:n=20}")
pde=$(bring "${2:-gallery:convdiff3d:n=20}")

step compare compare "$circuit" "$pde" --method gmres --rhs random:1 --device cpu --threads 1 --svg compare.svg

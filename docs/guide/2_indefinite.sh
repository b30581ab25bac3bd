#!/usr/bin/env bash
# An indefinite PDE on which ILU(0) fails: how it fails, what the multilevel ILU does instead, what --retry does by itself.
#     docs/guide/2_indefinite.sh [MATRIX]     a Matrix Market file; without: a Helmholtz problem
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
A=$(bring "${1:-gallery:helmholtz2d:n=100,k=40}")

step look  info "$A"
step ilu0  solve "$A" --method gmres --device cpu --threads 1 --precond ilu0 --retry off --report ilu0.html
step mlilu solve "$A" --method gmres --device cpu --threads 1 --report mlilu.html
step retry solve "$A" --method gmres --device cpu --threads 1 --precond ilu0 --quiet
step lu    solve "$A" --method lu --device cpu --threads 1 --quiet

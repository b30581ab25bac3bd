#!/usr/bin/env bash
# A series by GMRES with a preconditioner that is kept while it serves, beside LU.
#     docs/guide/4_lagged_gmres.sh [FOLDER]     a series; without: wind that grows in a 3-D convection-diffusion problem
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
if (($#)); then
    series=$(bring "$1")
    rhs=auto  # what the series brings along
else
    series=wind
    rhs=ones  # the same source for every wind
    mkdir -p wind
    k=0
    for peclet in 10 12 15 100 120 150; do
        "$program" gallery "convdiff3d:n=20,peclet=$peclet" --out "wind/A_$((k++)).mtx"
    done
fi

step lagged sequence "$series" --method gmres --rhs "$rhs" --device cpu --threads 1 --report lagged.html
step warm   sequence "$series" --method gmres --rhs "$rhs" --device cpu --threads 1 -p sequence.reuse_x=on
step lu     sequence "$series" --method lu --rhs "$rhs" --device cpu --threads 1

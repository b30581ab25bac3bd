#!/usr/bin/env bash
# A series of circuit matrices by LU, on which pivots go stale.
#     docs/guide/3_spice_repivot.sh [MATRIX...]     Matrix Market files of one pattern, NAME_NUMBER.mtx; without: a random
#                                                   circuit whose conductances spread over more and more decades
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
mkdir -p circuit
if (($#)); then
    files=$(bring "$@")
    for file in $files; do
        ln -sf "../$file" "circuit/A_${file##*_}"
    done
else
    for decades in 1 3 6 9; do
        "$program" gallery "mna_random:n=400,decades=$decades" --out "circuit/A_$decades.mtx"
    done
fi

step series    sequence circuit --method lu --device cpu --threads 1 --report series.html
step unwatched sequence circuit --method lu --device cpu --threads 1 -p lu.growth_limit=inf
step strict    sequence circuit --method lu --device cpu --threads 1 -p lu.pivot_tol=0.1 --quiet

#!/usr/bin/env python3
"""Helmholtz systems by GMRES(30) with our preconditioners, SuperLU's ILUT and PyAMG's shifted-Laplacian multigrid, side by side.

usage: compare_helmholtz.py --ilux BUILD/ilux --out RESULT.json [--n 512] [--kh 0.1,...,0.6283] [--max-steps 500] [--time-limit 900]

The matrix is gallery:helmholtz2d_open:n=N,kh=KH: five points, waves leave through the sides; 2 pi/kh points a wavelength. b is
random, and every x is judged here by its own residual in double precision. The rivals run in
SciPy's GMRES, restarted after 30 steps, to the same tolerance: spilu of SuperLU (drop tolerance 1e-3, fill at most that of our
multilevel ILU) and PyAMG's smoothed aggregation of the Laplacian shifted by (1 - 0.5i) k^2, one V-cycle a step. Needs numpy, scipy, pyamg.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy
import pyamg
import scipy.io
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

RTOL = 1e-8
RESTART = 30


def residual(A, x, b):
    return float(numpy.linalg.norm(b - A @ x) / numpy.linalg.norm(b))


def run_ilux(arguments, spec, folder, precond, options, limits):
    """`ilux solve` in a process of its own, one attempt. Also its x."""
    x_file = os.path.join(folder, "x.mtx")
    command = [arguments.ilux, "solve", f"gallery:{spec}", "--rhs", os.path.join(folder, "b.mtx"), "--method", "gmres", "--precond", precond, "--retry", "off",
               "--device", "cpu", "--json", "--out", x_file, "--max-steps", str(limits["steps"]), "--time-limit", str(limits["seconds"]), *options]
    told = json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout)
    seconds = told["seconds"]
    asked = " ".join([precond, *options])
    row = {"way": f"ilux gmres + {asked}", "command": f"ilux solve gallery:{spec} --rhs b.mtx --method gmres --precond {asked} --retry off --device cpu", "outcome": told["outcome"],
           "steps": told["steps"], "fill": (told.get("mlilu") or {}).get("fill"), "setup": seconds["analyse"] + seconds["factor"], "solve": seconds["solve"]}
    x = scipy.io.mmread(x_file).ravel() if os.path.exists(x_file) else None
    return row, x


def by_scipy(way, A, b, limits, make):
    """GMRES(30) with the preconditioner that `make` gives together with its fill."""
    start = time.perf_counter()
    try:
        M, fill = make()
    except (MemoryError, RuntimeError) as error:
        return {"way": way, "outcome": "no preconditioner", "error": str(error), "setup": time.perf_counter() - start}
    setup = time.perf_counter() - start
    steps = [0]

    def count(_):
        steps[0] += 1
        if time.perf_counter() - start > limits["seconds"]:
            raise TimeoutError

    start_solve = time.perf_counter()
    row = {"way": way, "fill": fill, "setup": setup}
    try:
        x, info = linalg.gmres(A, b, rtol=RTOL, restart=RESTART, maxiter=max(1, limits["steps"] // RESTART), M=M, callback=count,
                               callback_type="pr_norm")
        row |= {"outcome": "converged" if info == 0 else "max_steps", "residual": residual(A, x, b)}
    except TimeoutError:
        row["outcome"] = "time_limit"
    return row | {"steps": steps[0], "solve": time.perf_counter() - start_solve}


def spilu(A, fill):
    factors = linalg.spilu(A.tocsc(), drop_tol=1e-3, fill_factor=fill)
    stored = factors.L.nnz + factors.U.nnz - A.shape[0]
    return linalg.LinearOperator(A.shape, factors.solve, dtype=complex), stored / A.nnz


def shifted_multigrid(shifted):
    hierarchy = pyamg.smoothed_aggregation_solver(shifted, symmetry="symmetric", smooth=("jacobi", {"omega": 4 / 3}),
                                                  presmoother=("jacobi", {"omega": 0.7}), postsmoother=("jacobi", {"omega": 0.7}))
    return hierarchy.aspreconditioner(cycle="V"), hierarchy.operator_complexity()


def gallery_matrix(arguments, spec, folder):
    file = os.path.join(folder, "A.mtx")
    subprocess.run([arguments.ilux, "gallery", spec, "--out", file], check=True, stdout=subprocess.DEVNULL)
    return sparse.csr_matrix(scipy.io.mmread(file))


def compare(arguments, kh, limits):
    spec = f"helmholtz2d_open:n={arguments.n},kh={kh}"
    with tempfile.TemporaryDirectory() as folder:
        A = gallery_matrix(arguments, spec, folder)
        draw = numpy.random.default_rng(1)
        b = draw.uniform(-1, 1, A.shape[0]) + 1j * draw.uniform(-1, 1, A.shape[0])
        scipy.io.mmwrite(os.path.join(folder, "b.mtx"), b.reshape(-1, 1), precision=17)
        shifted = gallery_matrix(arguments, spec + ",shift=0.5", folder)
        rows = []
        for precond, *options in (("mlilu",), ("mlilu", "-p", "precond.damping=off"), ("ilu0",)):
            row, x = run_ilux(arguments, spec, folder, precond, options, limits)
            if x is not None:
                row["residual"] = residual(A, x, b)
            rows.append(row)
        fill = rows[0].get("fill") or 10
        rows.append(by_scipy("scipy gmres + SuperLU ILUT", A, b, limits, lambda: spilu(A, fill)))
        rows.append(by_scipy("scipy gmres + PyAMG of the shifted Laplacian", A, b, limits, lambda: shifted_multigrid(shifted)))
    for row in rows:
        print(f"kh {kh}: {row['way']:45} {row['outcome']:12} steps {row.get('steps')} fill {row.get('fill')} setup {row.get('setup'):.3g} s "
              f"solve {row.get('solve', float('nan')):.3g} s residual {row.get('residual')}", flush=True)
    return {"spec": spec, "kh": kh, "n": A.shape[0], "nnz": A.nnz, "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ilux", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--n", type=int, default=512)
    parser.add_argument("--kh", default="0.1,0.2,0.3,0.4,0.5,0.6,0.6283185307179586")
    parser.add_argument("--max-steps", type=int, default=510)
    parser.add_argument("--time-limit", type=float, default=900)
    parser.add_argument("--commit", default="")
    arguments = parser.parse_args()
    limits = {"steps": arguments.max_steps, "seconds": arguments.time_limit}
    systems = [compare(arguments, float(kh), limits) for kh in arguments.kh.split(",")]
    command = f"bench/compare_helmholtz.py --n {arguments.n} --kh {arguments.kh} --max-steps {arguments.max_steps} --time-limit {arguments.time_limit:g}"
    versions = {"scipy": scipy.__version__, "pyamg": pyamg.__version__, "numpy": numpy.__version__}
    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump({"commit": arguments.commit, "command": command, "threads": os.cpu_count(), "versions": versions, "systems": systems}, out, indent=1)


if __name__ == "__main__":
    main()

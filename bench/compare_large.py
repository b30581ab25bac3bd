#!/usr/bin/env python3
"""Large systems by ilux and by what people use in its place, each x judged here.

usage: compare_large.py PROGRAM FOLDER --out RESULT.json --machine NAME [--threads 2] [--limit 120] [--petsc-python PYTHON] [--ways WAY,...] NAME...

FOLDER/NAME holds A.npz, and t.npy (near-null vectors) where there are some. b = A x of a random x. Iterations go to a true residual of 1e-8: those
of ilux with nothing asked for (mode auto) and by CG or GMRES with its multilevel ILU, also given t; those of PyAMG (smoothed aggregation, given t), of PETSc's GAMG (given t
and the size of blocks) and of hypre's BoomerAMG in PETSc; CG where A is symmetric, else GMRES. PARDISO is MKL's, by pypardiso. Each run has a process of its own, which
ends at the limit. Needs numpy and scipy, and for the rivals pyamg, pypardiso and petsc4py; one that is missing is told.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

RTOL = 1e-8
MOST_STEPS = 1000
MODULE = {"pyamg": "pyamg", "gamg": "petsc4py", "boomeramg": "petsc4py", "pardiso": "pypardiso"}
OURS = ("ilux auto", "ilux iteration", "ilux given t")


def read(folder):
    import numpy as np
    import scipy.sparse as sparse

    A = sparse.load_npz(folder / "A.npz").tocsr()
    return A, np.load(folder / "t.npy") if (folder / "t.npy").exists() else None


def facts(folder):
    """@return whether A is symmetric and positive definite, and the size of its blocks"""
    meta = json.loads((folder / "meta.json").read_text())
    return meta["definite"] == "spd", meta["block_size"]


def pyamg_solve(A, b, t, symmetric, _):
    import pyamg

    steps = []
    hierarchy = pyamg.smoothed_aggregation_solver(A, B=t, symmetry="hermitian" if symmetric else "nonsymmetric")
    x = hierarchy.solve(b, tol=RTOL, maxiter=MOST_STEPS, accel="cg" if symmetric else "gmres", callback=lambda _: steps.append(1))
    return x, len(steps)


def petsc_solve(kind, A, b, t, symmetric, blocks):
    import petsc4py

    petsc4py.init(["-ksp_type", "cg" if symmetric else "gmres", "-ksp_norm_type", "unpreconditioned", "-ksp_pc_side", "left" if symmetric else "right"])
    from petsc4py import PETSc

    matrix = PETSc.Mat().createAIJ(A.shape, csr=(A.indptr, A.indices, A.data))
    matrix.setBlockSize(blocks)
    if t is not None:
        matrix.setNearNullSpace(PETSc.NullSpace().create(vectors=[PETSc.Vec().createWithArray(v) for v in orthonormal(t).T.copy()]))
    solver = PETSc.KSP().create()
    solver.setOperators(matrix)
    solver.setTolerances(rtol=RTOL, max_it=MOST_STEPS)
    solver.getPC().setType("gamg" if kind == "gamg" else "hypre")
    solver.setFromOptions()
    right, x = PETSc.Vec().createWithArray(b), PETSc.Vec().createWithArray(b.copy())
    solver.solve(right, x)
    return x.getArray(), solver.getIterationNumber()


def orthonormal(t):
    import numpy as np

    return np.linalg.qr(t)[0]


def pardiso_solve(A, b, *_):
    import pypardiso

    return pypardiso.spsolve(A, b), 0


def rival(way, folder):
    """In a process of its own: prints one line of JSON."""
    import numpy as np

    A, t = read(folder)
    x = np.random.default_rng(1).standard_normal(A.shape[0])
    b = A @ x
    solve = {"pyamg": pyamg_solve, "pardiso": pardiso_solve}.get(way) or (lambda *given: petsc_solve(way, *given))
    begin = time.perf_counter()
    answer, steps = solve(A, b, t, *facts(folder))
    seconds = time.perf_counter() - begin
    residual = float(np.linalg.norm(b - A @ answer) / np.linalg.norm(b))
    print(json.dumps({"outcome": "converged" if residual <= 1.01 * RTOL else "failed", "steps": steps, "seconds": seconds, "residual": residual}))


def ours(way, program, folder, threads, limit):
    options = [] if way == "ilux auto" else ["--method", "cg" if facts(folder)[0] else "gmres"]
    if way == "ilux given t":
        options += ["--near-null", str(folder / "t.npy")]
    command = [program, "solve", str(folder / "A.npz"), "--rhs", "random:1", "--rtol", str(RTOL), "--threads", str(threads), "--time-limit", str(limit), "--json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    report = json.loads(done.stdout)
    kept = {field: report.get(field) for field in ("outcome", "method", "steps", "relative_residual", "attempts", "decisions", "error") if field in report}
    seconds = report.get("seconds", {"total": 0})
    return kept | {"seconds": seconds["total"] - seconds.get("read", 0), "fill": (report.get("mlilu") or {}).get("fill")}


def theirs(way, folder, python, threads, limit):
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    try:
        done = subprocess.run([python, __file__, "--one", way, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                              timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"outcome": "time_limit", "seconds": limit}
    lines = done.stdout.strip().splitlines()
    return json.loads(lines[-1]) if done.returncode == 0 and lines else {"outcome": "error", "detail": done.stderr.strip()[-300:]}


def main():
    if sys.argv[1:2] == ["--one"]:
        return rival(sys.argv[2], pathlib.Path(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--machine", required=True)
    parser.add_argument("--commit", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=120, help="seconds of a run")
    parser.add_argument("--petsc-python", default=sys.executable, help="the interpreter that has petsc4py")
    parser.add_argument("--ways", default=",".join([*OURS, *MODULE]))
    args = parser.parse_args()
    rows = []
    for name in args.names:
        for way in args.ways.split(","):
            folder = args.folder / name
            if way == "ilux given t" and not (folder / "t.npy").exists():
                continue
            if way in OURS:
                row = ours(way, args.program, folder, args.threads, args.limit)
            else:
                python = args.petsc_python if MODULE[way] == "petsc4py" else sys.executable
                row = theirs(way, folder, python, args.threads, args.limit)
            rows.append({"system": name, "way": way} | row)
            print(name, way, row["outcome"], row.get("steps", ""), f"{row.get('seconds', 0):.2f} s", row.get("detail", "")[-80:], file=sys.stderr, flush=True)
            args.out.write_text(json.dumps({"machine": args.machine, "commit": args.commit, "threads": args.threads, "rtol": RTOL, "runs": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

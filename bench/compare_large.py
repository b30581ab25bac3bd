#!/usr/bin/env python3
"""Large systems by ilux and by what people use in its place, each x judged here.

usage: compare_large.py PROGRAM FOLDER --out RESULT.json --machine NAME [--threads 2] [--limit 120] [--petsc-python PYTHON] [--strategies NAME,...] NAME...

FOLDER/NAME holds A.npz, t.npy (near-null vectors) where there are some, and meta.json with "definite" ("spd" or another word) and "block_size". All get the same b = A x of
a random x. Iterations go to a residual of 1e-8: those of ilux with nothing asked for (mode auto) and by CG or GMRES with its multilevel ILU, also given t; those of PyAMG
(smoothed aggregation, given t), of PETSc's GAMG (given t and the size of blocks) and of hypre's BoomerAMG in PETSc; CG where A is positive definite, else GMRES. PARDISO is MKL's, by
pypardiso. Seconds are setup and solve, without reading and the start of libraries. Residuals of rivals are computed here, that of ilux is its own, recomputed from A, b and x.
Each run has a process of its own, which ends at the limit. Needs numpy and scipy, and for the rivals pyamg, pypardiso and petsc4py; one that is missing is told.
"""
import argparse
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
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


def pyamg_solve(pyamg, A, b, t, symmetric, _):
    steps = []
    hierarchy = pyamg.smoothed_aggregation_solver(A, B=t, symmetry="hermitian" if symmetric else "nonsymmetric")
    x = hierarchy.solve(b, tol=RTOL, maxiter=MOST_STEPS, accel="cg" if symmetric else "gmres", callback=lambda _: steps.append(1))
    return x, len(steps)


def petsc_solve(kind, PETSc, A, b, t, symmetric, blocks):
    matrix = PETSc.Mat().createAIJ(A.shape, csr=(A.indptr, A.indices, A.data))
    matrix.setBlockSize(blocks)
    if t is not None:
        matrix.setNearNullSpace(PETSc.NullSpace().create(vectors=[PETSc.Vec().createWithArray(v) for v in orthonormal(t).T.copy()]))
    solver = PETSc.KSP().create()
    solver.setOperators(matrix)
    solver.setTolerances(rtol=RTOL, max_it=MOST_STEPS)
    solver.setType("cg" if symmetric else "gmres")
    solver.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    solver.setPCSide(PETSc.PC.Side.LEFT if symmetric else PETSc.PC.Side.RIGHT)
    solver.getPC().setType("gamg" if kind == "gamg" else "hypre")
    solver.setFromOptions()  # without it GAMG takes five times as long
    right, x = PETSc.Vec().createWithArray(b), PETSc.Vec().createWithArray(b.copy())
    solver.solve(right, x)
    return x.getArray(), solver.getIterationNumber()


def orthonormal(t):
    import numpy as np

    return np.linalg.qr(t)[0]


def pardiso_solve(pypardiso, A, b, *_):
    return pypardiso.spsolve(A, b), 0


def library_of(name):
    """It is loaded and ready."""
    library = importlib.import_module(MODULE[name])
    if MODULE[name] == "petsc4py":
        library.init([])
        library = importlib.import_module("petsc4py.PETSc")
    return library


def rival(name, folder, b_file):
    """In a process of its own: prints one line of JSON."""
    import numpy as np

    A, t = read(folder)
    b = np.load(b_file)
    solve = {"pyamg": pyamg_solve, "pardiso": pardiso_solve}.get(name) or (lambda *given: petsc_solve(name, *given))
    library = library_of(name)
    begin = time.perf_counter()
    answer, steps = solve(library, A, b, t, *facts(folder))
    seconds = time.perf_counter() - begin
    residual = float(np.linalg.norm(b - A @ answer) / np.linalg.norm(b))
    print(json.dumps({"outcome": "converged" if residual <= 1.01 * RTOL else "failed", "steps": steps, "seconds": seconds, "residual": residual}))


def ours(name, program, folder, b_file, threads, limit):
    options = [] if name == "ilux auto" else ["--method", "cg" if facts(folder)[0] else "gmres"]
    if name == "ilux given t":
        options += ["--near-null", str(folder / "t.npy")]
    command = [program, "solve", str(folder / "A.npz"), "--rhs", b_file, "--rtol", str(RTOL), "--threads", str(threads), "--time-limit", str(limit), "--json", *options]
    try:
        report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=2 * limit, check=False).stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        return {"outcome": "error", "detail": str(error)}
    kept = {field: report.get(field) for field in ("outcome", "method", "steps", "relative_residual", "attempts", "decisions", "error") if field in report}
    seconds = report.get("seconds", {"total": 0})
    return kept | {"seconds": seconds["total"] - seconds.get("read", 0), "fill": (report.get("mlilu") or {}).get("fill")}


def theirs(name, folder, b_file, python, threads, limit):
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    try:
        done = subprocess.run([python, __file__, "--one", name, str(folder), b_file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                              timeout=limit + 20, check=False)
    except subprocess.TimeoutExpired:
        return {"outcome": "time_limit", "seconds": limit}
    lines = done.stdout.strip().splitlines()
    return json.loads(lines[-1]) if done.returncode == 0 and lines else {"outcome": "error", "detail": done.stderr.strip()[-300:]}


def saved_b(folder, to):
    import numpy as np

    A, _ = read(folder)
    np.save(to, A @ np.random.default_rng(1).standard_normal(A.shape[0]))
    return to


def main():
    if sys.argv[1:2] == ["--one"]:
        return rival(sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4])
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
    parser.add_argument("--strategies", default=",".join([*OURS, *MODULE]))
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for system in args.names:
            folder = args.folder / system
            b_file = saved_b(folder, f"{scratch}/b.npy")
            for name in args.strategies.split(","):
                if name == "ilux given t" and not (folder / "t.npy").exists():
                    continue
                if name in OURS:
                    row = ours(name, args.program, folder, b_file, args.threads, args.limit)
                else:
                    row = theirs(name, folder, b_file, args.petsc_python if MODULE[name] == "petsc4py" else sys.executable, args.threads, args.limit)
                rows.append({"system": system, "strategy": name} | row)
                print(system, name, row["outcome"], row.get("steps", ""), f"{row.get('seconds', 0):.2f} s", row.get("detail", "")[-80:], file=sys.stderr, flush=True)
                args.out.write_text(json.dumps({"machine": args.machine, "commit": args.commit, "threads": args.threads, "rtol": RTOL, "runs": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Every function of the Python package beside SciPy's and PyAMG's on files of real matrices, every x measured here.

usage: compare_python.py FOLDER --out RESULT.json [--count 50] [--least 500] [--most 10000] [--time-limit 60] [--commit C]

FOLDER holds Matrix Market files; the `count` largest by n of those that are square, of `least` to `most`
rows. b is random. Iterations are GMRES restarted after 30 steps to 1e-8, at most 1000 steps: ours with the multilevel ILU, SciPy's with
spilu (its defaults) and with PyAMG's smoothed aggregation. Seconds are setup and solve together, one thread. Each way runs in a process of its own,
which ends at the time limit. Needs numpy, scipy, pyamg, ilux.
"""
import argparse
import importlib.metadata
import json
import multiprocessing
import pathlib
import time

import numpy as np
import scipy.io
import scipy.sparse as sparse
import scipy.sparse.linalg as theirs


def spilu_gmres(A, b):
    M = theirs.spilu(A.tocsc())
    return theirs.gmres(A, b, M=theirs.LinearOperator(A.shape, M.solve, dtype=A.dtype), rtol=1e-8, restart=30, maxiter=34)[0]


def pyamg_gmres(A, b):
    import pyamg

    M = pyamg.smoothed_aggregation_solver(A).aspreconditioner()
    return theirs.gmres(A, b, M=M, rtol=1e-8, restart=30, maxiter=34)[0]


def ours(call):
    def run(A, b):
        import ilux

        return call(ilux, A, b)
    return run


def iteration(name):
    return ours(lambda ilux, A, b: getattr(ilux, name)(A, b, threads=1)[0])


WAYS = {
    "ilux.spsolve": ours(lambda ilux, A, b: ilux.spsolve(A, b, threads=1)),
    "ilux.splu, trans T": ours(lambda ilux, A, b: ilux.splu(A, threads=1).solve(b, "T")),
    "ilux.solve": ours(lambda ilux, A, b: ilux.solve(A, b, threads=1)),
    "ilux.gmres": iteration("gmres"), "ilux.fgmres": iteration("fgmres"), "ilux.bicgstab": iteration("bicgstab"), "ilux.bicg": iteration("bicg"),
    "ilux.mlilu in scipy gmres": ours(lambda ilux, A, b: theirs.gmres(A, b, M=ilux.mlilu(A, threads=1), rtol=1e-8, restart=30, maxiter=34)[0]),
    "scipy.spsolve": lambda A, b: theirs.spsolve(A.tocsc(), b),
    "scipy.gmres + spilu": spilu_gmres,
    "scipy.gmres + pyamg": pyamg_gmres,
}


def measured(A, x, b, trans):
    M = A.T if trans else A
    r = b - M @ x
    size = abs(M) @ abs(x) + abs(b)
    with np.errstate(all="ignore"):
        rowwise = float(np.max(np.where(size > 0, abs(r) / size, 0))) if len(r) else 0.0
        return float(np.linalg.norm(r) / np.linalg.norm(b)), rowwise


def work(path, way, seed, pipe):
    A = sparse.csr_matrix(scipy.io.mmread(path))
    draw = np.random.default_rng(seed)
    b = draw.uniform(-1, 1, A.shape[0]) + (1j * draw.uniform(-1, 1, A.shape[0]) if A.dtype.kind == "c" else 0)
    A = A.astype(complex if A.dtype.kind == "c" else float)
    start = time.perf_counter()
    try:
        x = WAYS[way](A, b)
    except Exception as error:  # of whoever it is: it is told
        pipe.send({"way": way, "seconds": time.perf_counter() - start, "error": f"{type(error).__name__}: {error}"[:200]})
        return
    seconds = time.perf_counter() - start
    residual, rowwise = measured(A, np.asarray(x), b, "trans T" in way)
    pipe.send({"way": way, "seconds": seconds, "residual": residual, "rowwise": rowwise})


def run(path, way, limit):
    ours_end, theirs_end = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=work, args=(path, way, 1, theirs_end))
    process.start()
    row = ours_end.recv() if ours_end.poll(limit) else {"way": way, "error": f"not done in {limit:g} s"}
    process.terminate()
    process.join()
    return row


def matrices(folder, count, least, most):
    sizes = []
    for path in sorted(pathlib.Path(folder).glob("*.mtx")):
        if path.stem.endswith("_b"):
            continue
        rows, columns, _, form, *_ = scipy.io.mminfo(path)
        if rows == columns and least <= rows <= most and form == "coordinate":
            sizes.append((rows, path))
    return [path for _, path in sorted(sizes, reverse=True)][:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--least", type=int, default=500)
    parser.add_argument("--most", type=int, default=10000)
    parser.add_argument("--time-limit", type=float, default=60)
    parser.add_argument("--commit", default="")
    arguments = parser.parse_args()
    systems = []
    for path in matrices(arguments.folder, arguments.count, arguments.least, arguments.most):
        rows = [run(str(path), way, arguments.time_limit) for way in WAYS]
        systems.append({"matrix": path.stem, "n": int(scipy.io.mminfo(path)[0]), "rows": rows})
        good = [row["way"] for row in rows if row.get("residual", 1) <= 1.01e-8 or row.get("rowwise", 1) <= 1e-12]
        print(f"{path.stem}: solved by {', '.join(good)}", flush=True)
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "scipy", "pyamg", "ilux")}
    command = f"bench/compare_python.py FOLDER --count {arguments.count} --least {arguments.least} --most {arguments.most} --time-limit {arguments.time_limit:g}"
    pathlib.Path(arguments.out).write_text(json.dumps({"commit": arguments.commit, "command": command, "versions": versions, "systems": systems}, indent=1))


if __name__ == "__main__":
    main()

"""Seconds of refactor and solve over a series by one library of KLU's interface: klu_series.py LIBRARY FOLDER, JSON out.

FOLDER holds pattern.mtx (in row order), values.f64, rhs.f64, meta.json.
"""
import ctypes
import json
import pathlib
import sys
import time

import numpy
import scipy.io

REPEATS = 5


def load(folder):
    meta = json.loads((folder / "meta.json").read_text())
    pattern = scipy.io.mmread(folder / "pattern.mtx").tocoo()
    n, systems = meta["n"], meta["k"]
    order = numpy.lexsort((pattern.row, pattern.col))
    values = numpy.fromfile(folder / "values.f64").reshape(systems, -1)[:, order].copy()
    rhs = numpy.fromfile(folder / "rhs.f64").reshape(systems, n)
    columns = numpy.searchsorted(pattern.col[order], numpy.arange(n + 1)).astype(numpy.int32)
    return n, columns, pattern.row[order].astype(numpy.int32), values, rhs


def main():
    klu = ctypes.CDLL(sys.argv[1])
    for name in ("klu_analyze", "klu_factor"):
        getattr(klu, name).restype = ctypes.c_void_p
    n, Ap, Ai, values, rhs = load(pathlib.Path(sys.argv[2]))
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
    common = ctypes.create_string_buffer(4096)  # more than any klu_common
    klu.klu_defaults(common)
    started = time.perf_counter()
    symbolic = ctypes.c_void_p(klu.klu_analyze(n, pointer(Ap), pointer(Ai), common))
    analysed = time.perf_counter()
    numeric = ctypes.c_void_p(klu.klu_factor(pointer(Ap), pointer(Ai), pointer(values[0]), symbolic, common))
    factored = time.perf_counter()
    refactor, solve = [], []
    worst = 0.0
    for repeat in range(REPEATS + 1):  # the first makes what later ones find
        for number in range(len(values)):
            x = rhs[number].copy()
            t0 = time.perf_counter()
            done = klu.klu_refactor(pointer(Ap), pointer(Ai), pointer(values[number]), symbolic, numeric, common)
            t1 = time.perf_counter()
            done &= klu.klu_solve(symbolic, numeric, n, 1, pointer(x), common)
            t2 = time.perf_counter()
            if not done:
                sys.exit(f"system {number} was not solved")
            if repeat == 0:
                A = scipy.sparse.csc_matrix((values[number], Ai, Ap), (n, n))
                size = abs(A) @ abs(x) + abs(rhs[number])
                error = abs(rhs[number] - A @ x)
                worst = max(worst, float(max(error) / max(size)))
            else:
                refactor.append(t1 - t0)
                solve.append(t2 - t1)
    print(json.dumps({"n": n, "analyze": analysed - started, "factor": factored - analysed,
                      "refactor": float(numpy.median(refactor)), "solve": float(numpy.median(solve)),
                      "backward_error": worst}))


main()

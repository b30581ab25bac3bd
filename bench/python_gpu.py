#!/usr/bin/env python3
"""What a call of the Python package costs beside the library's own seconds, and what crosses between host and GPU, by NumPy, PyTorch and CuPy.

usage: python_gpu.py --out RESULT.json [--problem convdiff2d:n=100] [--calls 200] [--commit C]

A row is one method with arrays of one library: medians of a call of `solve` by the caller's clock, of that less the seconds that its reports
tell in all, and the bytes that all copies between host and GPU moved in one call, counted by PyTorch's profiler. x is judged by the product of
the library whose arrays it came with. Needs numpy, scipy, torch, cupy, ilux and a GPU.
"""
import argparse
import json
import pathlib
import platform
import statistics
import sys
import time

import cupy
import numpy as np
import torch

import ilux

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "python"))
from gpu_libraries import CuPy, Torch, crossed  # noqa: E402


class NumPy:
    def array(self, host):
        return host

    host = array
    matrix = array


WAYS = [("numpy, cpu", NumPy, "cpu"), ("numpy", NumPy, "gpu"), ("torch", Torch, "gpu"), ("cupy", CuPy, "gpu")]


def timed(call):
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def behind_work(library, solver, right):
    """Seconds of work that was queued before a call of `precondition`, and until that call came back."""
    work = timed(lambda: (library.busy(), torch.cuda.synchronize()))
    torch.cuda.synchronize()
    library.busy()
    start = time.perf_counter()
    z = solver.precondition(right)
    back = time.perf_counter() - start
    torch.cuda.synchronize()
    del z
    return {"queued_seconds": work, "precondition_behind_it_seconds": back}


def measure(way, library, device, method, A, b, calls):
    library = library()
    matrix, right = library.matrix(A), library.array(b)
    solver = ilux.LinearSolver(device=device, method=method).analyse(matrix, 100).factor()
    for _ in range(5):
        x = solver.solve(right)
    r = library.host(right - matrix @ x)
    row = {"arrays": way, "method": method, "columns": 1 if b.ndim == 1 else b.shape[1],
           "residual": float(np.linalg.norm(r) / np.linalg.norm(b)), "outcome": solver.report.outcome}
    whole, beside = [], []
    for _ in range(calls):
        whole.append(timed(lambda: solver.solve(right)))
        beside.append(whole[-1] - sum(one["seconds"]["total"] for one in solver.reports))
    row["call_seconds"], row["call_less_report_seconds"] = statistics.median(whole), statistics.median(beside)
    row["precondition_seconds"] = statistics.median(timed(lambda: solver.precondition(right)) for _ in range(calls))
    if hasattr(library, "busy"):
        library.busy()  # the first time takes longer
        row.update(behind_work(library, solver, right))
    values = library.array(A.data * 1.01)
    solver.refactor(values)
    row["refactor_seconds"] = statistics.median(timed(lambda: solver.refactor(values)) for _ in range(10))
    for name, call in (("solve", lambda: solver.solve(right)), ("precondition", lambda: solver.precondition(right)), ("refactor", lambda: solver.refactor(values))):
        row[f"{name}_bytes_crossed"] = crossed(torch, call)[0]
    row["bytes_of_b"], row["bytes_of_values"] = b.nbytes, A.data.nbytes
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--problem", default="convdiff2d:n=100")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--commit", default="")
    arguments = parser.parse_args()
    A = ilux.gallery(arguments.problem)
    draw = np.random.default_rng(1)
    rows = []
    for method in ("gmres", "lu"):
        for columns in (1, 8):
            b = draw.uniform(-1, 1, (A.shape[0], columns) if columns > 1 else A.shape[0])
            for way, library, device in WAYS:
                rows.append(measure(way, library, device, method, A, b, arguments.calls))
                print(rows[-1], flush=True)
    versions = {one.__name__: one.__version__ for one in (np, torch, cupy, ilux)} | {"python": platform.python_version()}
    told = {"commit": arguments.commit, "command": f"bench/python_gpu.py --problem {arguments.problem} --calls {arguments.calls}",
            "device": torch.cuda.get_device_name(), "versions": versions, "problem": arguments.problem, "n": A.shape[0], "rows": rows}
    pathlib.Path(arguments.out).write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()

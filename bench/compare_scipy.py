#!/usr/bin/env python3
"""Times ilux's Matrix Market reader against scipy.io.mmread on one file, in turns, and writes the result as JSON.

usage: compare_scipy.py --bench BUILD/matrix_market_bench --out RESULT.json [--megabytes 100] [--rounds 3]
"""
import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import scipy
import scipy.io


def write_sample(path, megabytes):
    """A coordinate real general file: 7 entries a row, 16 significant digits, entries by rows."""
    line_bytes = 33  # of the lines below, roughly
    n = max(10, int(megabytes * 1e6 / line_bytes / 7))
    draw = random.Random(1)
    with open(path, "w") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n{n} {n} {7 * n}\n")
        for i in range(1, n + 1):
            out.write("".join(f"{i} {draw.randint(1, n)} {draw.random() - 0.5:.15e}\n" for _ in range(7)))
    return n


def time_ilux(bench, path, threads):
    """Wall and processor seconds of one read_matrix, and the nnz it found."""
    command = [bench, f"--benchmark_filter=^ReadPlain/threads:{threads}/", "--benchmark_format=json"]
    run = subprocess.run(command, env=dict(os.environ, ILUX_MTX=path), check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    result = json.loads(run.stdout)["benchmarks"][0]
    assert result["time_unit"] == "ms"
    return (result["real_time"] * 1e-3, result["cpu_time"] * 1e-3), int(result["nnz"])


def time_scipy(path):
    """Wall and processor seconds of mmread and the conversion to CSR, which read_matrix includes; and nnz."""
    start, start_cpu = time.perf_counter(), time.process_time()
    matrix = scipy.io.mmread(path).tocsr()
    return (time.perf_counter() - start, time.process_time() - start_cpu), matrix.nnz


def summary(times, size):
    wall, cpu = [pair[0] for pair in times], [pair[1] for pair in times]
    middle = statistics.median(wall)
    return {"seconds": wall, "median": middle, "spread": max(wall) - min(wall), "megabytes_per_second": size / middle / 1e6,
            "median_cpu": statistics.median(cpu)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the built matrix_market_bench program")
    parser.add_argument("--out", required=True, help="where the JSON goes")
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sample.mtx")
        n = write_sample(path, args.megabytes)
        size = os.path.getsize(path)
        times = {"ilux_1_thread": [], "ilux_2_threads": [], "scipy": []}
        for _ in range(args.rounds):  # in turns, so that a busy machine hurts all of them
            one, nnz = time_ilux(args.bench, path, 1)
            two, _ = time_ilux(args.bench, path, 2)
            rival, rival_nnz = time_scipy(path)
            if nnz != rival_nnz:
                sys.exit(f"the readers disagree: ilux found {nnz} entries, SciPy {rival_nnz}")
            times["ilux_1_thread"].append(one)
            times["ilux_2_threads"].append(two)
            times["scipy"].append(rival)

    result = {
        "what": "file to CSR, coordinate real general, file in the page cache; wall seconds, and processor seconds, which a busy "
                "machine disturbs less (of the calling thread alone for ilux_2_threads)",
        "file": {"bytes": size, "n": n, "nnz": nnz},
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(), "load": os.getloadavg()},
        "versions": {"python": platform.python_version(), "numpy": numpy.__version__, "scipy": scipy.__version__},
        **{name: summary(pairs, size) for name, pairs in times.items()},
    }
    for name in ("ilux_1_thread", "ilux_2_threads"):
        result[name]["times_faster_than_scipy"] = result["scipy"]["median"] / result[name]["median"]
    result["ilux_1_thread"]["times_faster_than_scipy_cpu"] = result["scipy"]["median_cpu"] / result["ilux_1_thread"]["median_cpu"]
    with open(args.out, "w") as out:
        json.dump(result, out, indent=2)
        out.write("\n")
    print(json.dumps({name: result[name] for name in times}, indent=2))


if __name__ == "__main__":
    main()

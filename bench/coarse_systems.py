#!/usr/bin/env python3
"""Solves systems without and with a coarse space, and writes steps and seconds as JSON.

usage: coarse_systems.py PROGRAM --out RESULT.json --machine NAME [--repeats 3] [--limit 60] [--variant NAME] SYSTEM:METHOD ... [-- OPTION ...]
SYSTEM is a file or gallery:NAME, METHOD the method, such as cg; OPTIONs are for every run. Of the repeats the fastest counts.
"""
import argparse
import json
import subprocess
import sys

VARIANTS = {"without": ["-p", "precond.coarse=off"], "coarse": ["-p", "precond.coarse=on"]}


def run(program, system, method, options, limit):
    command = [*program.split(), "solve", system, "--rhs", "random:1", "--method", method, "--retry", "off", "--json", *options]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=limit)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"outcome": "time_limit", "seconds": {"total": limit}}


def kept(report):
    fields = ("outcome", "steps", "relative_residual", "seconds", "memory_bytes", "decisions")
    return {field: report[field] for field in fields if field in report} | {"fill": fill(report)}


def fill(report):
    return (report.get("mlilu") or {}).get("fill", 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program, or a launcher and the program")
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--machine", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds of a run")
    parser.add_argument("--variant", choices=VARIANTS, help="this one alone")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given, options = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1:]
    doctor = subprocess.run([*given.program.split(), "doctor"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    rows = []
    for entry in given.systems:
        system, method = entry.rsplit(":", 1)
        for variant in [given.variant] if given.variant else VARIANTS:
            runs = [run(given.program, system, method, [*options, *VARIANTS[variant]], given.limit) for _ in range(given.repeats)]
            best = min(runs, key=lambda report: report["seconds"]["total"])
            rows.append({"system": system, "method": method, "variant": variant, **kept(best)})
            seconds = best["seconds"]
            print(system, method, variant, best["outcome"], best.get("steps"), f"{fill(best):.2f}",
                  {part: round(seconds[part], 4) for part in ("analyse", "factor", "transfer", "solve") if part in seconds}, flush=True)
    record = {"commit": doctor.split("commit ")[-1].split()[0], "machine": given.machine, "repeats": given.repeats,
              "command": " ".join(["coarse_systems.py PROGRAM", *sys.argv[2:]]), "rows": rows}
    with open(given.out, "w", encoding="utf-8") as out:
        json.dump(record, out, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    main()

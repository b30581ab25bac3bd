#!/usr/bin/env python3
"""Times two ilux programs in turns on series and on single systems, and writes both and their ratios as JSON.

usage: pair_programs.py OLD NEW --out RESULT.json [--series DIR ...] [--systems NAME ...] [--rounds 9] [-- OPTION ...]
"""
import argparse
import json
import statistics
import subprocess
import sys


def output_of(*command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return run.stdout


def series_seconds(program, folder, options):
    """Median of a refactorization, and of a refactorization with its solution, over all systems but the first."""
    lines = [json.loads(line) for line in output_of(program, "sequence", folder, "--method", "lu", "--json", *options).splitlines()]
    of = [line["seconds"] for line in lines if line["type"] == "system"][1:]
    return {"refactor": statistics.median(s["factor"] for s in of), "refactor_and_solve": statistics.median(s["factor"] + s["solve"] for s in of)}


def system_seconds(program, system, options):
    """Setup and solution by GMRES."""
    seconds = json.loads(output_of(program, "solve", system, "--method", "gmres", "--json", *options))["seconds"]
    return {"setup": seconds["factor"], "solve": seconds["solve"]}


def commit_of(program):
    first = output_of(program, "doctor").splitlines()[0]
    return first.split("commit ")[-1].split()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--out", required=True)
    parser.add_argument("--series", nargs="*", default=[], help="folders that ilux sequence reads")
    parser.add_argument("--systems", nargs="*", default=[], help="files, or gallery:NAME")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--machine", required=True, help="its name, for the record")
    mine, _, options = " ".join(sys.argv[1:]).partition(" -- ")
    given = parser.parse_args(mine.split())
    given.options = options.split()  # of both programs

    cases = [(folder, series_seconds) for folder in given.series] + [(system, system_seconds) for system in given.systems]
    programs = {"old": given.old, "new": given.new}
    seen = {}
    for turn in range(given.rounds):
        for name in ("old", "new") if turn % 2 else ("new", "old"):
            for case, measure in cases:
                for what, seconds in measure(programs[name], case, given.options).items():
                    seen.setdefault((case.rstrip("/").split("/")[-1], what), {}).setdefault(name, []).append(seconds)
    rows = []
    for (case, what), times in seen.items():
        old, new = (statistics.median(times[name]) for name in ("old", "new"))
        rows.append({"case": case, "what": what, "old": old, "new": new, "ratio": new / old, "least": {k: min(v) for k, v in times.items()}})
        print(f"{case:24} {what:20} {1e6 * old:10.0f} {1e6 * new:10.0f} us  {new / old:.3f}")
    command = ["pair_programs.py OLD NEW", *(f"--series {folder}" for folder in given.series),
               *(f"--systems {system}" for system in given.systems), f"--rounds {given.rounds} --", *given.options]
    record = {"command": " ".join(command), "machine": given.machine, "rounds": given.rounds,
              "commits": {name: commit_of(program) for name, program in programs.items()}, "rows": rows}
    with open(given.out, "w", encoding="utf-8") as out:
        json.dump(record, out, indent=1)


if __name__ == "__main__":
    main()

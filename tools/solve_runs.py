"""What the tools that run `ilux solve` over many systems share: which files are systems, and what a run claims."""
import gzip
import json
import subprocess
import time

EXIT_CODE = {"converged": 0, "max_steps": 3, "stagnated": 3, "diverged": 3, "not_finite": 3, "breakdown": 4,
             "singular": 4, "out_of_memory": 5, "time_limit": 3}


def bare_name(path):
    return path.name.removesuffix(".gz").removesuffix(".mtx")


def header(path):
    """(rows, cols, field) of a file, or None when it is no coordinate or array matrix."""
    opened = gzip.open(path, "rt", errors="replace") if path.suffix == ".gz" else open(path, errors="replace")
    with opened as file:
        banner = file.readline().lower().split()
        if len(banner) < 5 or banner[0] != "%%matrixmarket":
            return None
        for line in file:
            if line.strip() and not line.startswith("%"):
                size = line.split()
                return (int(size[0]), int(size[1]), banner[3]) if len(size) >= 2 else None
    return None


def matrices(folders, skipped):
    """The square matrices of folders, or single files; (name, why not) of all others go to `skipped`."""
    for folder in folders:
        for path in sorted(folder.iterdir() if folder.is_dir() else [folder]):
            if not path.name.endswith((".mtx", ".mtx.gz")) or path.name.removesuffix(".gz").endswith("_b.mtx"):
                continue
            found = header(path)
            if found is None or found[0] != found[1]:
                skipped.append((path.name, "unreadable header" if found is None else "rectangular"))
            else:
                yield path


def run(command, kill_after, environment=None):
    """(exit code, stdout, last line of stderr, seconds); the exit code is None where it was killed."""
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=kill_after,
                              env=environment)
    except subprocess.TimeoutExpired:
        return None, "", "", time.monotonic() - began
    last = (done.stderr.strip().splitlines() or [""])[-1]
    return done.returncode, done.stdout, last, time.monotonic() - began


def claim(code, stdout):
    """(report, what the run amounts to by its own words): an outcome of ilux, refused, crash or false success."""
    if code < 0 or code >= 7:
        return None, "crash"
    try:
        report = json.loads(stdout)
    except ValueError:
        return None, "false success" if code == 0 else "crash"
    outcome = report["outcome"]
    if report.get("type") == "refusal":
        return None, "refused" if code in (1, 2, 5, 6) and report["exit_code"] == code else "crash"
    if EXIT_CODE.get(outcome) != code:
        return report, "false success" if code == 0 or outcome == "converged" else "crash"
    return report, outcome


def program_facts(program):
    """Version, commit and processor, as the program tells them."""
    told = subprocess.run([program, "doctor"], capture_output=True, text=True).stdout.splitlines()
    facts = {line.split()[0]: line.split(None, 1)[1] for line in told if len(line.split()) > 1}
    version, _, commit = facts["ilux"].partition(", commit ")
    return {"version": version, "commit": commit, "processor": facts["processor"], "gpu": facts.get("GPU", "none")}

"""What a claim of success is worth, given the exact x."""

import re

import numpy

from truth import exact
from truth.c_library import CONVERGED

OFF = 1e-2  # an unknown off by more than this share of itself is wrong
RIGHT = 1e-10  # every unknown that counts to this: no reason for alarm
MODEST = 1e8  # condition below which neither an alarm nor a refusal is earned
DOUBT = re.compile(r"uncertain|singular|unique|one of many|condition|determin|null|rank|deficien", re.I)
ROWS = re.compile(r"error of x|of its own size", re.I)  # of a residual or of M: not enough where x is one of many


def errors(system, x):
    """The error of every unknown as a share of it, or of the largest where it does not count."""
    true = numpy.asarray(system.x)
    size, largest = abs(true), abs(true).max()
    with numpy.errstate(all="ignore"):
        error = abs(numpy.asarray(x).astype(numpy.clongdouble) - true) / numpy.where(exact.counted(true), size, largest)
    return numpy.where(numpy.isfinite(error), error, numpy.inf).astype(float)


def positive_definite(system):
    d = numpy.sqrt(abs(system.A.diagonal()))
    if not (system.hermitian and d.min() > 0):
        return False
    return bool(numpy.linalg.eigvalsh(system.A.toarray() / d / d[:, None]).min() > 0)


def false_no(system, config):
    """A refusal that a regular system of modest condition does not deserve."""
    if not system.regular or system.condition >= MODEST:
        return False
    return config.split(".")[0] not in ("cg", "cocg", "sqmr", "none") or (config.startswith("cg") and positive_definite(system))


def judge(system, config, x, report):
    """A row of the record: verdict is right, warned, SILENT or refused."""
    warning = report.get("warning") or ""
    row = {"verdict": "refused", "warning": warning, "outcome": report["outcome"], "tries": len(report.get("attempts") or ()),
           "seconds": (report.get("seconds") or {}).get("total", 0.0), "false_no": False, "right10": False, "alarm": False}  # fmt: skip
    if report["outcome"] != CONVERGED:
        row["false_no"] = false_no(system, config)
        return row
    told = bool(DOUBT.search(warning))
    if not system.regular:
        row["why"] = "no solution" if system.x is None else "one of many"
        return row | {"verdict": "warned" if told else "SILENT"}
    told = told or bool(ROWS.search(warning))
    error = errors(system, x)
    worst = int(error.argmax())
    if error[worst] > OFF:
        row["why"] = f"{int((error > OFF).sum())} of {len(error)} unknowns off, unknown {worst} by {error[worst]:.1e}"
        return row | {"verdict": "warned" if told else "SILENT"}
    row["right10"] = bool(error[exact.counted(system.x)].max() <= RIGHT)
    row["alarm"] = row["right10"] and told and system.condition < MODEST
    return row | {"verdict": "right", "error": float(error[worst])}

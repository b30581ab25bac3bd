"""A plugin of pytest: the functions of ilux stand where SciPy's own tests look for SciPy's, and what became of each test is written to
the file that ILUX_OUTCOMES names. ILUX_IN_PLACE: "as they are", or "without M", the preconditioner that SciPy's functions have none of."""
import functools
import json
import os
import warnings

import scipy.sparse.linalg._dsolve as direct
import scipy.sparse.linalg._isolve as iterative

import ilux

WITHOUT_M = os.environ["ILUX_IN_PLACE"] == "without M"


def _in_place(function):
    @functools.wraps(function)
    def called(A, b, x0=None, *, M=None, **options):
        if function is ilux.gmres and "callback" in options and "callback_type" not in options:
            warnings.warn("called without specifying `callback_type`", DeprecationWarning, stacklevel=2)  # SciPy's word on its own future
        plain = M is None and not isinstance(A, iterative.utils.LinearOperator)  # of an operator there is no M of ours
        return function(A, b, x0, M="none" if plain else M, **options)

    return called if WITHOUT_M else function


for name in ("bicg", "bicgstab", "cg", "gmres", "minres"):
    setattr(iterative, name, _in_place(getattr(ilux, name)))
for name in ("factorized", "spilu", "splu", "spsolve"):
    setattr(direct, name, getattr(ilux, name))

_outcomes = {}


def pytest_runtest_logreport(report):
    test = report.nodeid.split("::", 1)[1].replace("::", ".")
    if report.when == "call" or report.outcome != "passed":
        expected = hasattr(report, "wasxfail")
        _outcomes[test] = ("skipped" if expected else report.outcome, str(report.longrepr or "")[-600:])


def pytest_sessionfinish():
    with open(os.environ["ILUX_OUTCOMES"], "w", encoding="utf-8") as file:
        json.dump(_outcomes, file)

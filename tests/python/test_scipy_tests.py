"""SciPy's own tests of scipy.sparse.linalg, from the SciPy that is installed, with our functions in the place of SciPy's (scipy_in_place.py).

What fails is listed here, with the reason; docs/python.md says the same to users. A test that fails and is not listed fails here, and so does an
entry of the list none of whose tests fails. Versions of SciPy differ in their tests: what is said of one that this SciPy has not, is not asked."""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ITERATIVE, DIRECT = "scipy.sparse.linalg._isolve.tests.test_iterative", "scipy.sparse.linalg._dsolve.tests.test_linsolve"

ALWAYS = {
    r"test_precond_inverse\[.*\]": "at most 3 products with A are allowed; x is measured besides, which takes 4 or 5",
    r"TestGMRES\.test_callback": "its residual is of b - A x, not of M(b - A x): M stands on the right",
    r"TestGMRES\.test_defective_precond_breakdown": "a number that SciPy makes 0 is 4e-16: with the singular M on the right it is computed, not left out",
    r"TestGMRES\.test_callback_x_monotonic": "20 cycles in vain are asked for; three that reduce b - A x by less than 0.1 % end it as stagnated",
}
OF_OLD_SCIPY = {
    r"test_reentrancy(\[.*\])?": "SciPy's functions of that time could not be called from an operator of theirs, and had to refuse it; ours can",
    r"TestGMRES\.test_restrt_dep": "restrt, a former name of restart, is refused",
    r"TestGMRES\.test_atol_legacy": "atol='legacy' is refused, as by later versions; of those: with M the residual is smaller than SciPy's must be",
    r"TestGMRES\.test_callback_type": "one cycle, after which SciPy called back twice",
}
WITH_M = {
    r"test_maxiter(\[.*\])?": "our multilevel ILU solves the system in one step, and a gmres without callback_type does not warn of SciPy's future",
    r"test_convergence(\[.*sym-nonpd.*\])?": "SciPy's methods break down where A has a zero diagonal; with the multilevel ILU they do not",
    r"TestGMRES\.test_basic": "x after one cycle of five steps without M; with M it is the solution",
    r"TestGMRES\.test_atol_legacy": OF_OLD_SCIPY[r"TestGMRES\.test_atol_legacy"],
    r"TestGMRES\.test_callback_type": "two steps must not suffice; with M they do",
}
OF_DIRECT = {
    r"TestFactorized\.test_(singular|cannot_factorize_nonsquare_matrix|call_with_incorrectly_sized_matrix)_without_umfpack":
        "the exception is of the same class, and its message has other words",
    r"TestFactorized\.test_call_with_cast_to_complex_without_umfpack|TestSplu\.test_bad_inputs": "a complex b of real factors is solved, not refused",
    r"TestLinsolve\.test_singular|TestSplu\.test_singular_matrix": "a singular A raises SingularMatrix; SciPy warns and returns NaN",
    r"TestSplu\.test_spilu_smoketest|TestSplu\.test_threads_parallel": "spilu has to be as accurate as with SciPy's drop_tol of 1e-4; ours is 1e-2 by default",
    r"TestSplu\.test_spilu_drop_rule": "drop_rule is SuperLU's, and refused",
    r"TestSplu\.test_spilu_nnz0": "a multilevel ILU of a singular matrix is made: the rank that it lacks is no failure of M",
    r"TestSplu\.test_natural_permc\[spilu-0\.1\]": "a multilevel ILU has permutations for each level, and no perm_c",
    r"TestSplu\.test_lu_refcount": "arrays of SuperLU's object must refer to it; ours stand for themselves",
}


def outcomes_of(module, in_place, folder):
    """What became of each test, {name: (outcome, words)}."""
    outcomes = folder / "outcomes.json"
    here = str(pathlib.Path(__file__).parent)
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "scipy_in_place", "--pyargs", module,
                          "-k", "not cgs and not qmr and not lgmres and not gcrotmk and not test_show"],  # those are SciPy's alone
                         cwd=folder, env=os.environ | {"PYTHONPATH": path, "ILUX_OUTCOMES": str(outcomes), "ILUX_IN_PLACE": in_place},
                         capture_output=True, text=True, timeout=400)
    words = run.stdout + run.stderr
    if missing := re.search(r"ModuleNotFoundError: No module named '(?!ilux)(\w+)'", words):
        pytest.skip(f"SciPy's tests need the module {missing[1]}, which is not installed")
    assert outcomes.exists(), words[-2000:]
    return json.loads(outcomes.read_text(encoding="utf-8"))


@pytest.mark.parametrize("module, in_place, expected", [
    (ITERATIVE, "without M", ALWAYS | OF_OLD_SCIPY),
    (ITERATIVE, "as they are", ALWAYS | OF_OLD_SCIPY | WITH_M),
    (DIRECT, "as they are", OF_DIRECT),
], ids=["iterative without M", "iterative", "direct"])
def test_scipys_own_tests_pass_but_for_those_listed(module, in_place, expected, tmp_path):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"the installed SciPy has no {module}")
    outcomes = outcomes_of(module, in_place, tmp_path)
    assert len(outcomes) > 25
    failed = {test: words for test, (outcome, words) in outcomes.items() if outcome == "failed"}
    unlisted = {test: words for test, words in failed.items() if not any(re.fullmatch(one, test) for one in expected)}
    assert not unlisted
    passing = [one for one in expected if any(re.fullmatch(one, test) for test in outcomes) and not any(re.fullmatch(one, test) for test in failed)]
    assert set(passing) <= set(OF_OLD_SCIPY)

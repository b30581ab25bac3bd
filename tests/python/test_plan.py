"""The option plan: a file that keeps an LU's analysis and pivots from one program for the next."""
import os
import pathlib

import numpy as np
import pytest

import ilux
from conftest import random_vector, relative_residual

LU = {"method": "lu", "threads": 1, "device": "cpu"}


def solve(A, b, **options):
    """(x, decisions) of a new solver."""
    solver = ilux.LinearSolver(**{**LU, **options}).analyse(A).factor()
    x = solver.solve(b)
    assert relative_residual(A, x, b) <= 1e-10
    return x, "\n".join(solver.report.decisions)


@pytest.mark.parametrize("of", [pathlib.Path, str, os.fsencode])
def test_the_first_solver_writes_and_the_second_loads(system, tmp_path, of):
    A, b = system
    file = tmp_path / "kept ä.plan"
    never, _ = solve(A, b, plan=None)
    assert not any(tmp_path.iterdir())
    first, told = solve(A, b, plan=of(file))
    assert f"plan: written to {file}" in told
    kept = file.read_bytes()
    second, told = solve(A, b, plan=of(file))
    assert f"plan: loaded from {file} in " in told
    third, told = solve(A.tocsc(), b, plan=of(file))  # the same matrix in another form
    assert f"plan: loaded from {file} in " in told
    for x in (first, second, third, ilux.spsolve(A, b, plan=of(file), threads=1, device="cpu")):
        np.testing.assert_array_equal(x, never)
    assert file.read_bytes() == kept and list(tmp_path.iterdir()) == [file]


def test_a_series_keeps_a_plan(system, tmp_path):
    A, b = system
    matrices, decisions, xs = [A, A * 2.0, A * 3.0], [], []
    for _ in range(2):
        found = list(ilux.sequence(matrices, [b] * 3, plan=tmp_path / "kept.plan", **LU))
        decisions.append("\n".join(found[0][1].decisions))
        xs.append([x for x, _ in found])
    assert "plan: written to" in decisions[0] and "plan: loaded from" in decisions[1]
    np.testing.assert_array_equal(xs[0], xs[1])


def test_many_columns_lead_to_an_lu_and_its_plan(tmp_path):
    A, file = ilux.gallery("convdiff3d:n=32"), tmp_path / "kept.plan"
    B = random_vector((A.shape[0], 30))
    ilux.solve(A, B[:, 0], plan=file, threads=1, device="cpu")
    assert not file.exists()  # an iteration needs none
    ilux.solve(A, B, plan=file, threads=1, device="cpu")
    assert file.exists()


def test_a_plan_of_another_pattern_or_options_or_a_damaged_one_is_refused(system, tmp_path):
    A, b = system
    file = tmp_path / "kept.plan"
    solve(A, b, plan=file)
    kept = file.read_bytes()
    for other, options, why in ((ilux.gallery("poisson2d:n=8"), {}, "another pattern"), (A, {"lu": {"ordering": "metis"}}, "made with another")):
        with pytest.raises(ilux.InvalidInput, match=why) as caught:
            ilux.spsolve(other, np.ones(other.shape[0]), plan=file, threads=1, device="cpu", **options)
        assert str(file) in str(caught.value)
    assert file.read_bytes() == kept
    file.write_bytes(kept[: len(kept) // 2])
    with pytest.raises(ilux.InvalidInput) as caught:
        solve(A, b, plan=file)
    assert str(file) in str(caught.value)
    assert file.read_bytes() == kept[: len(kept) // 2]


def test_a_plan_that_cannot_be_written_is_refused(system, tmp_path):
    A, _ = system
    for file in (tmp_path / "no" / "kept.plan", tmp_path):
        with pytest.raises(ilux.InvalidInput) as caught:
            ilux.LinearSolver(plan=file, **LU).analyse(A)
        assert str(file) in str(caught.value)


def test_a_plan_for_what_has_no_lu_is_refused(system, tmp_path):
    A, b = system
    for call in (lambda **plan: ilux.gmres(A, b, **plan), lambda **plan: ilux.gmres(A, b, M=ilux.mlilu(A), **plan),
                 lambda **plan: ilux.mlilu(A, **plan), lambda **plan: ilux.compare(A, b, **plan)):
        with pytest.raises(ilux.InvalidOption, match="plan"):
            call(plan=tmp_path / "kept.plan")
    assert not any(tmp_path.iterdir())


def test_a_path_that_is_no_text_is_refused(tmp_path):
    with pytest.raises(ilux.InvalidInput, match="UTF-8"):
        ilux.LinearSolver(method="lu", plan=os.fsencode(tmp_path) + b"/a\xff.plan").analyse(ilux.gallery("poisson2d:n=5"))

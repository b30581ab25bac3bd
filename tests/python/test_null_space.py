"""Vectors that a singular A takes to 0, named by the caller. The oracle: the x without a part in them, by NumPy's least squares."""
import numpy as np
import pytest
import scipy.sparse as sparse

import ilux


def floating(n, parts=1, dtype=float):
    """Lines of n points, each tied to its neighbours: rows and columns of each sum to 0."""
    line = sparse.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]).tolil()
    line[0, 0] = line[n - 1, n - 1] = 1
    return sparse.block_diag([line] * parts, format="csr").astype(dtype)


def shortest(A, b):
    return np.linalg.lstsq(A.toarray(), b, rcond=1e-12)[0]


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("form", ["constant", "one vector", "columns", "file"])
def test_x_is_the_shortest(form, dtype, tmp_path):
    parts = 1 if form == "one vector" else 2
    A = floating(60, parts, dtype)
    ones = np.kron(np.eye(parts), np.ones((60, 1)))
    if form == "file":
        np.save(tmp_path / "N.npy", ones)
    null_space = {"constant": "constant", "one vector": ones[:, 0], "columns": ones @ [[1, 2], [3, 4]] if parts == 2 else None,
                  "file": tmp_path / "N.npy"}[form]
    b = np.random.default_rng(1).standard_normal(A.shape[0]).astype(dtype)
    solver = ilux.LinearSolver(null_space=null_space).analyse(A).factor()
    x = solver.solve(b)
    assert np.allclose(x, shortest(A, b), atol=1e-5 * np.linalg.norm(x))
    assert abs(solver.precondition(b) @ ones).max() < 1e-9


def test_functions_that_take_options_take_it():
    A, b = floating(60), np.linspace(-1, 1, 60)
    for x in (ilux.solve(A, b, null_space=np.ones(60)), ilux.cg(A, b, null_space=np.ones(60))[0], ilux.gmres(A, b, null_space="constant")[0]):
        assert np.allclose(x, shortest(A, b), atol=1e-5 * np.linalg.norm(x))
    (x, _), (twice, _) = ilux.sequence([A, 2 * A], [b, b], null_space=np.ones(60))
    assert np.allclose(x, 2 * twice, atol=1e-5 * np.linalg.norm(x))


def test_it_is_copied():
    A, b, ones = floating(60), np.linspace(-1, 1, 60), np.ones(60)
    solver = ilux.LinearSolver(null_space=ones)
    ones[:] = np.nan
    assert np.allclose(solver.analyse(A).factor().solve(b), shortest(A, b), atol=1e-4)


@pytest.mark.parametrize("null_space, words", [
    (np.arange(60.0), "A does not take vector 1 to 0"), (np.ones(59), r"shape \(59, 1\), and A 60 rows"), (np.ones((60, 2)), "depends on"),
    (np.ones(60) * 1j, "complex and A is real"), (np.full(60, np.nan), "not finite"), (np.array(["a"] * 60), "null_space is of type"),
    (np.ones((60, 1, 1)), "null_space is of type"), (3, "null_space is of type"), ("no such file", "no such file")])
def test_what_is_none_is_refused(null_space, words):
    with pytest.raises(ilux.InvalidInput, match=words):
        ilux.LinearSolver(null_space=null_space).analyse(floating(60)).factor()


def test_where_it_cannot_be():
    ones = np.ones(60)
    with pytest.raises(ilux.InvalidOption, match="null_space"):
        ilux.splu(floating(60), null_space=ones)
    with pytest.raises(ilux.InvalidInput, match="only null_space takes one"):
        ilux.LinearSolver(krylov={"null_space": ones})
    with pytest.raises(ilux.InvalidInput, match="null_space is of a matrix"):
        ilux.cg(sparse.linalg.aslinearoperator(floating(60)), ones, null_space=ones)

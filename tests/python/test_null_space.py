"""Vectors that A takes to 0, or to little, named by the caller. The oracle: the x without a part in them, by NumPy's least squares."""
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
    with pytest.raises(ilux.InvalidInput, match="only null_space and near_null take one"):
        ilux.LinearSolver(krylov={"null_space": ones})
    with pytest.raises(ilux.InvalidInput, match="null_space is of a matrix"):
        ilux.cg(sparse.linalg.aslinearoperator(floating(60)), ones, null_space=ones)


def rigid_body_modes(n):
    """Translations and the rotation of the points of gallery("elasticity2d", n=n)."""
    y, x = (part.ravel() for part in np.mgrid[0:n + 1, 1:n + 1] / n)
    modes = np.zeros((2 * len(x), 3))
    modes[0::2, 0] = modes[1::2, 1] = 1
    modes[0::2, 2], modes[1::2, 2] = -y, x
    return modes


def test_near_null_vectors_take_steps_down():
    A, modes = ilux.gallery("elasticity2d", n=60), rigid_body_modes(60)
    b = np.random.default_rng(1).standard_normal(A.shape[0])
    coarse = {"precond.coarse": "on", "precond.coarse_size": 200, "precond.coarse_vectors": 0, "method": "cg"}
    solver, with_modes = ilux.LinearSolver(**coarse).analyse(A).factor(), ilux.LinearSolver(near_null=modes, **coarse).analyse(A).factor()
    x, y = solver.solve(b), with_modes.solve(b)
    assert np.allclose(x, y, atol=1e-6 * np.linalg.norm(x))
    assert with_modes.report.steps < 0.7 * solver.report.steps
    M = ilux.mlilu(A, near_null=modes, **coarse)
    assert ilux.cg(A, b, M=M)[1] == 0
    assert ilux.cg(A, b, near_null=modes)[1] == 0
    assert np.allclose(ilux.solve(A, b, near_null=modes), x, atol=1e-6 * np.linalg.norm(x))


def test_vectors_found_serve_another_matrix():
    A = ilux.gallery("elasticity3d", n=10)
    coarse = {"precond.coarse": "on", "precond.coarse_size": 200, "method": "cg"}
    M = ilux.mlilu(A, **coarse)
    found = M.near_null
    assert found.shape[0] == A.shape[0] and found.shape[1] >= 3
    sizes = np.linalg.norm(A @ found, axis=0) / np.linalg.norm(abs(A) @ abs(found), axis=0)
    assert sizes.max() < 0.1, sizes
    other = ilux.mlilu(2 * A, near_null=found, **{**coarse, "precond.coarse_vectors": 0})
    scales = np.linalg.norm(found, axis=0) / np.linalg.norm(other.near_null, axis=0)  # powers of two
    assert np.allclose(other.near_null * scales, found, rtol=1e-12, atol=0)
    assert ilux.mlilu(A, precond={"coarse": "off"}).near_null.shape == (A.shape[0], 0)


@pytest.mark.parametrize("near_null, words", [
    (np.ones(59), r"shape \(59, 1\), and A 60 rows"), (np.zeros(60), "all values are 0"), (np.full(60, np.inf), "Inf or NaN"),
    (np.ones((60, 65)), "64 vectors"), (np.ones(60) * 1j, "takes real numbers"), ("constant", "near_null is of type")])
def test_what_is_no_near_null_space_is_refused(near_null, words):
    with pytest.raises(ilux.InvalidInput, match=words):
        ilux.LinearSolver(near_null=near_null).analyse(floating(60))


def test_an_operator_takes_no_near_null_space():
    with pytest.raises(ilux.InvalidInput, match="near_null is for an M of ours"):
        ilux.cg(sparse.linalg.aslinearoperator(floating(60)), np.ones(60), near_null=np.ones(60))

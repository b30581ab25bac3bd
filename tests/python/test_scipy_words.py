"""What callers of scipy.sparse.linalg write and pass: its keywords, callbacks, sparse right-hand sides, attributes of factors."""
import copy
import threading

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg as theirs

import ilux
from conftest import random_vector, relative_residual


def test_a_sparse_b(system):
    A, b = system
    B = sparse.random(A.shape[0], 3, 0.1, random_state=1, format="csc") + sparse.csc_matrix((np.ones(1), ([5], [0])), (A.shape[0], 3))
    X = ilux.spsolve(A, B)
    assert type(X) is type(A)
    np.testing.assert_allclose((A @ X).toarray(), B.toarray(), atol=1e-10)
    for function in (ilux.spsolve, ilux.solve, lambda A, b: ilux.gmres(A, b)[0], lambda A, b: ilux.splu(A).solve(b)):
        x = np.asarray(function(A, sparse.csc_matrix(b[:, None])))
        assert relative_residual(A, x.reshape(-1), b) <= 1.01e-8
    assert sparse.issparse(ilux.spsolve(A.toarray(), B))


def test_keywords_of_superlu_mean_what_they_say():
    A, b = ilux.gallery("convdiff2d:n=20"), random_vector(400)
    lu = ilux.splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.2, options={"SymmetricMode": True, "Equil": False})
    assert lu.solver.options["lu"]["ordering"] == "amd" and lu.solver.options["lu"]["pivot_tol"] == 0.2
    assert lu.solver.options["lu"]["scaling"] == "none"
    assert relative_residual(A, lu.solve(b), b) <= 1e-12
    assert relative_residual(A, ilux.spsolve(A, b, permc_spec="COLAMD", use_umfpack=False), b) <= 1e-12
    assert ilux.spilu(A, permc_spec="NATURAL").ilu.options["precond"]["ordering"] == "none"
    for name, value in (("permc_spec", "BEST"), ("relax", 3), ("panel_size", 4), ("options", {"PrintStat": True})):
        with pytest.raises(ilux.InvalidInput, match=name if name != "options" else "PrintStat"):
            ilux.splu(A, **{name: value})
    for name, value in (("drop_rule", "basic,area"), ("diag_pivot_thresh", 0.1), ("options", {"PrintStat": True})):
        with pytest.raises(ilux.InvalidInput, match=name):
            ilux.spilu(A, **{name: value})


def test_fill_factor_bounds_what_is_kept():
    A = ilux.gallery("poisson2d:n=30")
    exact = {"precond.setup": "crout", "precond.compensation": "off"}
    full = ilux.spilu(A, drop_tol=1e-6, **exact)
    bounded = ilux.spilu(A, drop_tol=1e-6, fill_factor=0.7 * full.fill, **exact)
    assert bounded.fill <= 0.7 * full.fill
    with pytest.raises(ilux.InvalidInput, match="fill_factor"):
        ilux.spilu(A, fill_factor=0.01)


def test_triangles_of_the_factors(system):
    A, b = system
    lu = ilux.splu(A)
    for scale in (1.0, 3.0):
        n = A.shape[0]
        Pr = sparse.csc_matrix((np.ones(n), (lu.perm_r, np.arange(n))), A.shape)
        Pc = sparse.csc_matrix((np.ones(n), (np.arange(n), lu.perm_c)), A.shape)
        np.testing.assert_allclose((Pr @ (A * scale) @ Pc).toarray(), (lu.L @ lu.U).toarray(), atol=1e-12)
        assert (lu.L.diagonal() == 1).all() and sparse.triu(lu.L, 1).nnz == 0 and sparse.tril(lu.U, -1).nnz == 0
        assert lu.nnz == lu.L.nnz + lu.U.nnz
        lu.refactor(A * 3.0)
    with pytest.raises(TypeError, match="copied"):
        copy.deepcopy(lu)


def test_factors_do_not_follow_changes_of_A():
    for form in ("csr", "csc", "coo"):
        A, b = ilux.gallery("convdiff2d:n=20").asformat(form), random_vector(400)
        lu, M = ilux.splu(A), ilux.mlilu(A)
        x, z = lu.solve(b), M @ b
        A.data *= 7.0
        np.testing.assert_array_equal(lu.solve(b), x)
        np.testing.assert_array_equal(M @ b, z)


def test_threads_take_turns_with_one_factor(system):
    A, b = system
    lu, M = ilux.splu(A), ilux.mlilu(A)
    x, z = lu.solve(b), M @ b
    right = []

    def work():
        right.extend(np.array_equal(lu.solve(b), x) and np.array_equal(M.matvec(b), z) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 160


def test_a_complex_b_of_a_real_A():
    A, b = ilux.gallery("convdiff2d:n=20"), random_vector(400, True)
    solver = ilux.LinearSolver(method="gmres", sequence={"reuse_x": True}).analyse(A).factor()
    x = solver.solve(b)
    assert relative_residual(A, x, b) <= 1.01e-8 and len(solver.reports) == 2
    np.testing.assert_array_equal(solver.solve(b, x0=x), x)
    B = np.column_stack([b, 2j * b])
    for solve in (ilux.splu(A).solve, lambda B: ilux.spsolve(A, B)):
        assert relative_residual(A, solve(B), B) <= 1e-12
    assert relative_residual(A.T, ilux.splu(A).solve(b, "H"), b) <= 1e-12
    for name in ("gmres", "bicg", "bicgstab"):
        x, info = getattr(ilux, name)(A, b)
        assert info == 0 and relative_residual(A, x, b) <= 1.01e-8
    failing = ilux.LinearSolver(method="gmres", precond={"kind": "none"}, retry=False, krylov={"max_steps": 3}).analyse(A).factor()
    with pytest.raises(ilux.NotConverged) as caught:
        failing.solve(b)
    assert caught.value.x.shape == b.shape and caught.value.x.dtype.kind == "c"


def test_what_is_no_real_vector_is_refused():
    A, b = ilux.gallery("convdiff2d:n=20"), random_vector(400)
    masked = np.ma.masked_array(b, mask=np.arange(400) == 3)
    dense = np.ma.masked_array(A.toarray(), mask=A.toarray() == 4)
    for call in (lambda: ilux.spsolve(A, masked), lambda: ilux.gmres(A, masked), lambda: ilux.gmres(A, b, x0=masked), lambda: ilux.spsolve(dense, b),
                 lambda: ilux.gmres(theirs.aslinearoperator(A), masked), lambda: ilux.mlilu(A).solve(masked),
                 lambda: ilux.splu(A).solver.refactor(np.ma.masked_array(A.data, mask=A.data > 0))):
        with pytest.raises(ilux.InvalidInput, match="masked"):
            call()
    with pytest.raises(ilux.InvalidInput, match="complex"):
        ilux.gmres(theirs.LinearOperator(A.shape, matvec=lambda v: A @ v + 0j, dtype=float), b)
    for wrong in (None, "legacy", -1, float("nan")):
        with pytest.raises(ilux.InvalidInput, match="atol"):
            ilux.gmres(A, b, atol=wrong)
    with pytest.raises(ilux.InvalidInput, match="Mb"):
        ilux.gmres(A, b, x0="b")
    with pytest.raises(RuntimeError):
        ilux.splu(sparse.csr_matrix((4, 4)))


@pytest.mark.parametrize("name", ["bicg", "bicgstab", "cg", "minres", "sqmr"])
@pytest.mark.parametrize("as_operator", [False, True])
def test_callbacks_get_every_x(name, as_operator):
    A, b = ilux.gallery("poisson2d:n=12"), random_vector(144)
    A_given = theirs.aslinearoperator(A) if as_operator else A
    M = None if as_operator else "none"
    told = []
    x, info = getattr(ilux, name)(A_given, b, M=M, callback=told.append)
    assert info == 0 and len(told) > 10
    residuals = [relative_residual(A, one, b) for one in told]
    assert residuals[-1] <= (1.01e-8 if name != "bicgstab" else 1e-5) and residuals[0] > 1e-3
    for steps in (1, 5):
        x, info = getattr(ilux, name)(A_given, b, M=M, maxiter=steps)
        assert info == steps
        np.testing.assert_allclose(x, told[steps - 1], rtol=1e-12)


def test_callbacks_of_gmres():
    A, b = ilux.gallery("poisson2d:n=12"), random_vector(144)
    xs, residuals, legacy = [], [], []
    x, info = ilux.gmres(A, b, M="none", restart=10, callback=xs.append, callback_type="x")
    assert info == 0 and relative_residual(A, xs[-1], b) <= 1.01e-8
    np.testing.assert_array_equal(xs[-1], x)
    x, info = ilux.gmres(A, b, M="none", restart=10, maxiter=2, callback=residuals.append, callback_type="pr_norm")
    assert info == 2 and len(residuals) == 20
    np.testing.assert_allclose(x, xs[1], rtol=1e-12)
    assert residuals[-1] == pytest.approx(relative_residual(A, x, b), rel=1e-6)
    x, info = ilux.gmres(A, b, M="none", restart=10, maxiter=15, callback=legacy.append)
    assert info == 15 and legacy == residuals[:15]
    with pytest.raises(ilux.InvalidInput, match="callback_type"):
        ilux.gmres(A, b, callback=print, callback_type="y")
    with pytest.raises(ilux.InvalidInput, match="callback_type"):
        ilux.cg(A, b, callback=print, callback_type="pr_norm")
    with pytest.raises(ilux.InvalidInput, match="mixed|precision"):
        ilux.cg(A, b, callback=print, krylov={"precision": "mixed"})


def test_guesses_and_tolerances_by_scipys_names(system):
    A, b = system
    for options in ({}, {"M": "jacobi"}, {"M": "none"}, {"M": ilux.mlilu(A)}):
        x, info = ilux.gmres(A, b, x0="Mb", restart=100, **options)
        assert info == 0 and relative_residual(A, x, b) <= 1.01e-8
    x, info = ilux.gmres(theirs.aslinearoperator(A), b, x0="Mb", restart=200)
    assert info == 0 and relative_residual(A, x, b) <= 1.01e-8
    x, info = ilux.bicgstab(A, b, tol=1e-3, M="none")
    assert info == 0 and 1e-8 < relative_residual(A, x, b) <= 1.01e-3
    x, info = ilux.gmres(A, b, rtol=0, atol=np.inf)
    assert info == 0 and not x.any()

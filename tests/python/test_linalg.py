"""The functions with SciPy's conventions, held against SciPy's own."""
import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg as theirs

import ilux
from conftest import random_vector, relative_residual


@pytest.mark.parametrize("name", ["gmres", "fgmres", "bicg", "bicgstab"])
def test_methods(system, name):
    A, b = system
    x, info = getattr(ilux, name)(A, b)
    assert info == 0
    assert relative_residual(A, x, b) <= 1.01e-8
    np.testing.assert_allclose(x, theirs.spsolve(A.tocsc(), b), rtol=1e-4, atol=1e-6 * np.abs(x).max())


@pytest.mark.parametrize("name", ["cg", "minres", "sqmr"])
def test_symmetric_methods(name):
    A, b = ilux.gallery("poisson2d:n=20"), random_vector(400)
    x, info = getattr(ilux, name)(A, b)
    assert info == 0 and relative_residual(A, x, b) <= 1.01e-8


def test_cocg():
    A = ilux.gallery("helmholtz2d_open:n=16")
    b = random_vector(A.shape[0], True)
    x, info = ilux.cocg(A, b)
    assert info == 0 and relative_residual(A, x, b) <= 1.01e-8


def test_tolerances_steps_guess_and_callback(system):
    A, b = system
    residuals = []
    x, info = ilux.gmres(A, b, rtol=1e-4, callback=residuals.append)
    assert info == 0 and relative_residual(A, x, b) <= 1.01e-4 and residuals and residuals[-1] <= 1e-4
    x, info = ilux.gmres(A, b, rtol=0.0 + 1e-12, atol=1e-3 * np.linalg.norm(b))
    assert info == 0 and 1e-9 < relative_residual(A, x, b) <= 1.01e-3
    x, info = ilux.gmres(A, b, M="none", maxiter=3, retry=False)
    assert info == 3
    exact, _ = ilux.gmres(A, b, rtol=1e-10)
    again = []
    x, info = ilux.gmres(A, b, x0=exact, callback=again.append)
    assert info == 0 and not again
    x, info = ilux.gmres(A, np.zeros_like(b))
    assert info == 0 and not x.any()


@pytest.mark.parametrize("M", ["mlilu", "ilu0", "jacobi", "none"])
def test_preconditioners_by_name(system, M):
    A, b = system
    x, info = ilux.gmres(A, b, M=M, restart=100)
    assert info == 0 and relative_residual(A, x, b) <= 1.01e-8


def test_operators(system):
    A, b = system
    op = theirs.aslinearoperator(A)
    M = ilux.mlilu(A)
    steps = {}
    for name, preconditioner in (("with", M), ("without", None)):
        told = []
        x, info = ilux.gmres(op, b, M=preconditioner, restart=200, callback=told.append)
        assert info == 0 and relative_residual(A, x, b) <= 1.01e-8
        steps[name] = len(told)
    assert 2 * steps["with"] < steps["without"]
    x, info = ilux.bicg(op, b, M=M)
    assert info == 0 and relative_residual(A, x, b) <= 1.01e-8
    x, info = ilux.gmres(A, b, M=M)
    assert info == 0 and relative_residual(A, x, b) <= 1.01e-8
    with pytest.raises(ilux.InvalidInput):
        ilux.gmres(op, b, M="ilu0")
    with pytest.raises(ilux.InvalidInput):
        ilux.gmres(op, b[:-1])

    def broken(x):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        ilux.gmres(theirs.LinearOperator(A.shape, matvec=broken, dtype=A.dtype), b)


def test_our_preconditioner_in_their_methods(system):
    A, b = system
    M = ilux.spilu(A, drop_tol=1e-3)
    assert M.shape == A.shape and M.dtype == A.dtype
    for method in (theirs.gmres, theirs.bicgstab, theirs.bicg):
        x, info = method(A, b, M=M, atol=1e-8 * np.linalg.norm(b))
        assert info == 0
        assert relative_residual(A, x, b) <= 1e-4
    r, s = random_vector(A.shape[0], A.dtype.kind == "c", 2), random_vector(A.shape[0], A.dtype.kind == "c", 3)
    assert np.vdot(M.rmatvec(r), s) == pytest.approx(np.vdot(r, M.matvec(s)))
    np.testing.assert_allclose(M @ np.column_stack([r, s]), np.column_stack([M @ r, M @ s]), rtol=1e-12)
    np.testing.assert_allclose(M.refactor(A * 2.0).solve(r) * 2, ilux.mlilu(A, drop_tol=1e-3).solve(r), rtol=1e-8)


def test_direct(system):
    A, b = system
    np.testing.assert_allclose(ilux.spsolve(A, b), theirs.spsolve(A.tocsc(), b), rtol=1e-9)
    lu, other = ilux.splu(A), theirs.splu(A.tocsc())
    for trans in "NTH":
        np.testing.assert_allclose(lu.solve(b, trans), other.solve(b, trans), rtol=1e-9)
    B = np.column_stack([b, 2 * b, b * b])
    np.testing.assert_allclose(lu.solve(B), other.solve(B), rtol=1e-9)
    np.testing.assert_allclose(lu.refactor(A * 2.0).solve(b) * 2, other.solve(b), rtol=1e-9)
    with pytest.raises(ilux.SingularMatrix):
        ilux.spsolve(sparse.csr_array(np.ones((4, 4))), np.ones(4))
    x = ilux.solve(A, b)
    assert relative_residual(A, x, b) <= 1e-8


def test_sizes_that_do_not_fit_are_refused(system):
    A, b = system
    op = theirs.aslinearoperator(A)
    for wrong in (b[:3], b[:, None]):
        with pytest.raises(ilux.InvalidInput, match="x0"):
            ilux.gmres(op, b, x0=wrong)
        with pytest.raises(ilux.InvalidInput, match="x0"):
            ilux.gmres(A, b, x0=wrong)


def test_the_preconditioner_asked_for_is_the_only_one(system):
    A, b = system
    told = []
    x, info = ilux.gmres(A, b, M="none", maxiter=1, callback=told.append)
    assert info == 1 and len(told) == 1
    assert ilux.gmres(A, b, M="none", maxiter=1, retry=True)[1] == 0


def test_tolerances_and_options_that_make_no_sense(system):
    A, b = system
    for wrong in ({"rtol": -1}, {"atol": float("nan")}):
        with pytest.raises(ilux.InvalidInput):
            ilux.gmres(A, b, **wrong)
    with pytest.raises(ilux.InvalidInput, match="precond"):
        ilux.gmres(theirs.aslinearoperator(A), b, precond={"kind": "ilu0"})


def test_arrays_of_a_gpu_are_refused_where_the_host_works():
    class OnGpu:
        dtype, shape, ndim = np.dtype(float), (100,), 1

        def __dlpack_device__(self):
            return 2, 0

        def __array__(self, *_, **__):
            raise TypeError("no implicit conversion")

    A, b = ilux.gallery("convdiff2d:n=10"), OnGpu()
    solver = ilux.LinearSolver().analyse(A).factor()
    for call in (lambda: solver.solve(b), lambda: solver.precondition(b), lambda: solver.solve_batch(b, b), lambda: ilux.compare(A, b),
                 lambda: solver.solve(np.ones(100), x0=b), lambda: ilux.gmres(theirs.aslinearoperator(A), b), lambda: ilux.gmres(A, b)):
        with pytest.raises(ilux.InvalidInput, match="on a GPU"):
            call()

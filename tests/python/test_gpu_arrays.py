"""What forms of a GPU's arrays are taken and what is refused; what stays on the GPU, as the driver counts it."""
import inspect

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import ilux
from conftest import random_vector, relative_residual
from gpu_libraries import CuPy, Torch, crossed


def problem(is_complex=False, n=20):
    A = ilux.gallery(f"convdiff2d:n={n}")
    return (A * (1 + 0.3j)).tocsr() if is_complex else A


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("is_complex", [False, True])
def test_matrices_of_any_index_type(library, index, is_complex):
    A = problem(is_complex)
    judge = library.matrix(A)  # by the library's own product
    for shape in ((A.shape[0],), (A.shape[0], 3)):
        b = library.array(random_vector(shape, is_complex))
        for method in ("gmres", "lu"):
            x = ilux.solve(library.matrix(A, index), b, method=method, device="gpu")
            assert type(x) is type(b) and x.device == b.device and x.dtype == b.dtype and x.shape == b.shape
            r = library.host(b - judge @ x)
            assert np.linalg.norm(r) <= 2e-8 * np.linalg.norm(library.host(b))


def test_columns_out_of_range_do_not_wrap_around(library):
    A = problem()
    for wrong in (2**32, -(2**32), 2**31 - 1, A.shape[0]):
        matrix = library.matrix(A, np.int64)
        columns = matrix.col_indices() if hasattr(matrix, "col_indices") else matrix.indices
        columns[0] = wrong
        with pytest.raises(ilux.InvalidInput):
            ilux.LinearSolver(device="gpu").analyse(matrix)


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("method", ["gmres", "lu"])
def test_arrays_that_do_not_lie_in_one_piece(library, is_complex, method):
    A = problem(is_complex)
    solver = ilux.LinearSolver(device="gpu", method=method).analyse(library.matrix(A), 3, 2).factor()
    for shape in ((A.shape[0],), (A.shape[0], 2)):
        b = library.array(random_vector(shape, is_complex))
        x, z = library.host(solver.solve(b)), library.host(solver.precondition(b))
        for view in library.odd_views(b):
            before = library.host(view).copy()
            np.testing.assert_array_equal(library.host(solver.solve(view)), x)
            np.testing.assert_array_equal(library.host(solver.precondition(view)), z)
            np.testing.assert_array_equal(library.host(view), before)
    b = library.array(random_vector((A.shape[0],), is_complex))
    for values in library.odd_views(library.array(A.data * 1.25)):
        solver.refactor(values)
        assert relative_residual(A * 1.25, library.host(solver.solve(b)), library.host(b)) <= 2e-8


@pytest.mark.parametrize("is_complex", [False, True])
def test_other_functions_of_the_package(library, is_complex):
    A = problem(is_complex)
    matrix = library.matrix(A)
    b = library.array(random_vector((A.shape[0],), is_complex))
    x, info = ilux.gmres(matrix, b, atol=1e-12, device="gpu")
    found = [x, ilux.spsolve(matrix, b, device="gpu"), ilux.splu(matrix, device="gpu").solve(b)]
    assert info == 0
    for x in found:
        assert relative_residual(A, library.host(x), library.host(b)) <= 2e-8
    again, info = ilux.gmres(matrix, b, x0=found[1], device="gpu")
    assert info == 0 and relative_residual(A, library.host(again), library.host(b)) <= 2e-8
    z = ilux.mlilu(matrix, device="gpu").solve(b)
    np.testing.assert_allclose(library.host(z), ilux.mlilu(A, device="gpu").solve(library.host(b)), rtol=0, atol=0)
    assert ilux.info(matrix).n == A.shape[0]


def test_our_preconditioner_in_gmres_of_cupy():
    cupy = CuPy().cupy
    theirs = pytest.importorskip("cupyx.scipy.sparse.linalg")
    A = problem(n=60)
    matrix, b = CuPy().matrix(A), cupy.asarray(random_vector((A.shape[0],)))
    ilu = ilux.mlilu(matrix, device="gpu")
    tolerance = "rtol" if "rtol" in inspect.signature(theirs.gmres).parameters else "tol"  # since CuPy 14
    x, info = theirs.gmres(matrix, b, M=theirs.LinearOperator(A.shape, matvec=ilu.solve, dtype=b.dtype), restart=30, maxiter=60, **{tolerance: 1e-10})
    assert info == 0 and relative_residual(A, cupy.asnumpy(x), cupy.asnumpy(b)) <= 1e-9


def test_refuse_other_devices_and_types(library):
    A = problem()
    n = A.shape[0]
    ones = library.array(np.ones(n))
    solver = ilux.LinearSolver(device="gpu").analyse(library.matrix(A)).factor()
    with pytest.raises(ilux.InvalidInput, match="on a GPU"):
        ilux.solve(A, ones)
    with pytest.raises(ilux.InvalidInput, match="on the host"):
        ilux.solve(library.matrix(A), np.ones(n))
    with pytest.raises(ilux.InvalidInput, match="on different devices"):
        solver.refactor(A.data)
    with pytest.raises(ilux.InvalidInput, match="on different devices"):
        solver.refactor(A)
    with pytest.raises(ilux.InvalidInput, match="float32"):
        solver.solve(library.cast(ones, "float32"))
    with pytest.raises(ilux.InvalidInput, match="complex128"):
        solver.solve(library.cast(ones, "complex128"))
    with pytest.raises(ilux.InvalidInput, match="x0"):
        solver.solve(ones, x0=np.ones(n))
    with pytest.raises(ilux.InvalidInput, match="on a GPU"):
        solver.solve_batch(library.array(A.data[None, :]), ones[None, :])
    with pytest.raises(ilux.InvalidInput, match="on a GPU"):
        ilux.compare(A, ones)
    with pytest.raises(ilux.InvalidInput, match="matrix of the host"):
        ilux.compare(library.matrix(A), ones)
    with pytest.raises(ilux.InvalidInput, match="on a GPU"):
        ilux.gmres(aslinearoperator(A), ones)


def test_refuse_pointers_of_another_device():
    torch = Torch().torch
    import ilux.torch

    A = problem()
    ptr, col, values = (torch.from_numpy(one) for one in (A.indptr, A.indices, A.data))
    ones = torch.ones(A.shape[0], dtype=torch.float64)
    for arrays in ((ptr, col, values.cuda(), ones.cuda()), (ptr.cuda(), col.cuda(), values, ones)):
        with pytest.raises(ilux.InvalidInput, match="one device"):
            ilux.torch.solve_csr(*arrays)
    with pytest.raises(ilux.InvalidInput, match="on the host"):
        ilux.torch.solve_csr(ptr.cuda(), col.cuda(), values.cuda(), ones)
    with pytest.raises(ilux.InvalidInput, match="on a GPU"):
        ilux.torch.solve_csr(ptr, col, values, ones.cuda())


@pytest.mark.parametrize("method", ["gmres", "lu"])
def test_no_array_crosses_to_the_host(library, method):
    torch = Torch().torch
    A = problem(n=150)
    n = A.shape[0]
    solver = ilux.LinearSolver(device="gpu", method=method).analyse(library.matrix(A), 10, 3).factor()
    values = library.array(A.data * 1.5)
    host = ilux.LinearSolver(device="gpu", method=method).analyse(A, 10, 3).factor()
    for shape in ((n,), (n, 3)):
        b = random_vector(shape)
        on_gpu = library.array(b)
        solver.solve(on_gpu), solver.precondition(on_gpu), host.solve(b)  # the first makes buffers
        told, ran = crossed(torch, lambda: host.solve(b))
        assert ran and told >= 2 * b.nbytes  # the count counts
        told, ran = crossed(torch, lambda: solver.solve(on_gpu))
        assert ran and told <= b.nbytes / 20  # single numbers: norms, projections
        told, ran = crossed(torch, lambda: solver.precondition(on_gpu))
        assert ran and told <= 4096
    if method == "gmres":
        solver.refactor(values)
        told, _ = crossed(torch, lambda: solver.refactor(values))
        assert told <= values.nbytes / 20


def test_memory_of_a_solve_is_x():
    cupy = CuPy().cupy
    A = problem(n=100)
    solver = ilux.LinearSolver(device="gpu", method="gmres").analyse(CuPy().matrix(A)).factor()
    b = cupy.asarray(random_vector((A.shape[0],)))
    pool = cupy.get_default_memory_pool()
    solver.solve(b)
    cupy.cuda.runtime.deviceSynchronize()
    used, free = pool.used_bytes(), cupy.cuda.runtime.memGetInfo()[0]
    for _ in range(20):
        x = solver.solve(b)
        assert pool.used_bytes() - used == -(-b.nbytes // 512) * 512
        del x
    assert free - cupy.cuda.runtime.memGetInfo()[0] <= 2**21  # the pool's own block for x
    again = [solver.solve(b) for _ in range(2)]
    assert again[0].data.ptr != again[1].data.ptr


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX finds no GPU")
    jax.config.update("jax_enable_x64", True)
    import ilux.jax
    from jax.experimental.sparse import BCSR

    A = problem()
    b = random_vector((A.shape[0],))
    values, col, ptr, right = (jax.device_put(one) for one in (A.data, A.indices, A.indptr, b))
    matrix = BCSR((values, col, ptr), shape=A.shape)
    x = ilux.solve(matrix, b, device="gpu")
    assert isinstance(x, np.ndarray) and relative_residual(A, x, b) <= 1e-8
    solver = ilux.LinearSolver(device="gpu").analyse(matrix).factor()
    np.testing.assert_array_equal(solver.refactor(values).solve(b), ilux.LinearSolver(device="gpu").analyse(A).factor().refactor(A.data).solve(b))
    with pytest.raises(ilux.InvalidInput, match="JAX cannot be written"):
        solver.solve(right)
    for function in (ilux.jax.solve, jax.jit(ilux.jax.solve)):
        x = function(values, col, ptr, right)
        assert {one.platform for one in x.devices()} == {"gpu"}
        assert float(jax.numpy.linalg.norm(right - matrix @ x)) <= 2e-8 * np.linalg.norm(b)

"""Arrays of a GPU, by PyTorch and CuPy."""
import numpy as np
import pytest

import ilux
from conftest import random_vector, relative_residual
from gpu_libraries import CuPy, Torch


@pytest.mark.parametrize("method", ["gmres", "lu"])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_vectors_and_columns(library, system, method, trans):
    A, _ = system
    op = {"N": A, "T": A.T, "H": A.conj().T}[trans]
    is_complex = np.iscomplexobj(A.data)
    solver = ilux.LinearSolver(device="gpu", method=method).analyse(library.matrix(A), 3).factor()
    twin = ilux.LinearSolver(device="gpu", method=method).analyse(A, 3).factor()
    for shape in ((A.shape[0],), (A.shape[0], 3)):
        for order in "CF":
            b = np.array(random_vector(shape, is_complex), order=order)
            x = library.host(solver.solve(library.array(b), trans))
            assert x.shape == b.shape
            assert relative_residual(op, x, b) < 2e-8
            np.testing.assert_array_equal(x, twin.solve(b, trans))
            np.testing.assert_array_equal(library.host(solver.precondition(library.array(b), trans)), twin.precondition(b, trans))


def test_follow_the_stream_of_their_library(library):
    A = ilux.gallery("convdiff2d:n=60")
    b = random_vector(A.shape[0])
    x = ilux.LinearSolver(device="gpu", method="gmres").analyse(A).factor().solve(b)
    solver = ilux.LinearSolver(device="gpu", method="gmres").analyse(library.matrix(A)).factor()
    zeros, right = library.array(np.zeros_like(b)), library.array(b)
    for _ in range(3):
        with library.stream():
            late = zeros + 0
            library.busy()
            late += right  # after that
            found = solver.solve(late)
            late *= np.nan
            twice = 2 * found
        np.testing.assert_array_equal(library.host(twice), 2 * x)
    np.testing.assert_array_equal(library.host(solver.solve(right)), x)


def test_refactor(library):
    A = ilux.gallery("convdiff2d:n=30")
    b = random_vector(A.shape[0])
    for method in ("gmres", "lu"):
        solver = ilux.LinearSolver(device="gpu", method=method).analyse(library.matrix(A), 5).factor()
        twin = ilux.LinearSolver(device="gpu", method=method).analyse(A, 5).factor()
        for k in range(1, 4):
            values = A.data * (1 + 0.01 * k)
            solver.refactor(library.array(values))
            twin.refactor(values)
            np.testing.assert_array_equal(library.host(solver.solve(library.array(b))), twin.solve(b))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_refactor_refuses_another_pattern_of_as_many_entries(library, index):
    A = ilux.gallery("convdiff2d:n=10")
    row = A.tolil()
    row[0, 50], row[0, 1] = A[0, 1], 0
    other = row.tocsr()
    assert other.nnz == A.nnz
    solver = ilux.LinearSolver(device="gpu").analyse(library.matrix(A)).factor()
    with pytest.raises(ilux.InvalidInput, match="another pattern"):
        solver.refactor(library.matrix(other, index))
    for one in (Torch, CuPy):
        solver.refactor(one().matrix(A, index))
        with pytest.raises(ilux.InvalidInput, match="another pattern"):
            solver.refactor(one().matrix(other, index))
    with pytest.raises(ilux.InvalidInput, match="another pattern"):
        solver.refactor(library.matrix(ilux.gallery("convdiff2d:n=9")))


def test_refuse_what_does_not_fit(library):
    A = ilux.gallery("convdiff2d:n=10")
    solver = ilux.LinearSolver(device="gpu").analyse(library.matrix(A)).factor()
    with pytest.raises(ilux.InvalidInput, match="shape"):
        solver.solve(library.array(np.ones(3)))
    with pytest.raises(ilux.InvalidInput, match="finite"):
        solver.solve(library.array(np.full(100, np.nan)))
    with pytest.raises(ilux.InvalidInput, match="shape"):
        solver.precondition(library.array(np.ones(3)))
    with pytest.raises(ilux.InvalidInput, match="on the host"):
        solver.solve(np.ones(100))
    host = ilux.LinearSolver().analyse(A).factor()
    with pytest.raises(ilux.InvalidInput, match="on the host"):
        host.solve(library.array(np.ones(100)))


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("is_complex", [False, True])
def test_gradients_by_torch(columns, is_complex):
    torch = Torch().torch
    import ilux.torch

    A = ilux.gallery("convdiff2d:n=4")
    A = (A * (1 + 0.3j)).tocsr() if is_complex else A
    ptr, col = torch.from_numpy(A.indptr.astype(np.int64)).cuda(), torch.from_numpy(A.indices.astype(np.int64)).cuda()
    values = torch.from_numpy(A.data.copy()).cuda().requires_grad_()
    b = torch.from_numpy(random_vector((16, columns) if columns > 1 else (16,), is_complex)).cuda().requires_grad_()
    for tight in ({"method": "gmres", "krylov.rtol": 1e-13}, {"method": "lu"}):
        def function(v, w):
            x = ilux.torch.solve_csr(ptr, col, v, w, device="gpu", **tight)
            assert x.device == w.device and x.dtype == w.dtype
            return x
        assert torch.autograd.gradcheck(function, (values, b), eps=1e-6, atol=1e-6)
    if not is_complex:
        A_gpu = torch.sparse_csr_tensor(ptr, col, values, (16, 16))
        assert torch.autograd.gradcheck(lambda w: ilux.torch.solve(A_gpu, w, device="gpu", method="lu"), (b,), eps=1e-6, atol=1e-6)
        x = ilux.torch.solve(A_gpu, b, device="gpu", method="lu")
        x.sum().backward()  # an incoming gradient of strides 0
        assert relative_residual(A.T, b.grad.cpu().numpy(), np.ones(b.shape)) < 1e-8

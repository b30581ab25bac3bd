"""Arrays of a GPU, by PyTorch and CuPy."""
import numpy as np
import pytest

import ilux
from conftest import random_vector, relative_residual


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("torch finds no GPU")

    def array(self, host):
        return self.torch.from_numpy(host).cuda()

    def host(self, array):
        assert array.is_cuda
        return array.cpu().numpy()

    def matrix(self, A):
        torch = self.torch
        return torch.sparse_csr_tensor(torch.from_numpy(A.indptr), torch.from_numpy(A.indices), torch.from_numpy(A.data), A.shape).cuda()

    def stream(self):
        return self.torch.cuda.stream(self.torch.cuda.Stream())

    def busy(self):
        """Work of some milliseconds on the current stream."""
        self.torch.cuda._sleep(20_000_000)


class CuPy:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        try:
            self.cupy.cuda.runtime.getDeviceCount()
        except Exception as error:  # noqa: BLE001
            pytest.skip(f"CuPy finds no GPU: {error}")

    def array(self, host):
        return self.cupy.asarray(host)

    def host(self, array):
        return self.cupy.asnumpy(array)

    def matrix(self, A):
        sparse = pytest.importorskip("cupyx.scipy.sparse")
        return sparse.csr_matrix((self.array(A.data), self.array(A.indices), self.array(A.indptr)), shape=A.shape)

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def busy(self):
        a = self.cupy.ones((4000, 4000))
        for _ in range(5):
            a = a @ a / 4000


@pytest.fixture(params=[Torch, CuPy])
def library(request):
    return request.param()


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
def test_gradients_by_torch(columns):
    torch = Torch().torch
    import ilux.torch

    A = ilux.gallery("convdiff2d:n=4")
    ptr, col = torch.from_numpy(A.indptr.astype(np.int64)).cuda(), torch.from_numpy(A.indices.astype(np.int64)).cuda()
    values = torch.from_numpy(A.data.copy()).cuda().requires_grad_()
    b = torch.from_numpy(random_vector((16, columns) if columns > 1 else (16,))).cuda().requires_grad_()
    tight = {"device": "gpu", "method": "gmres", "krylov.rtol": 1e-13}
    assert torch.autograd.gradcheck(lambda v, w: ilux.torch.solve_csr(ptr, col, v, w, **tight), (values, b), eps=1e-6, atol=1e-6)

"""Gradients of x = A⁻¹ b by PyTorch and JAX, against finite differences and dense solves."""
import subprocess
import sys

import numpy as np
import pytest

import ilux
from conftest import random_vector, relative_residual

TIGHT = {"method": "lu", "threads": 1}


def small(is_complex):
    A = ilux.gallery("convdiff2d:n=4")
    return (A * (1 + 0.3j)).tocsr() if is_complex else A


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("shape", [(16,), (16, 3)])
def test_torch(is_complex, shape):
    torch = pytest.importorskip("torch")
    import ilux.torch

    differentiable = int(torch.__version__.split(".")[0]) >= 2  # real CSR tensors
    A = small(is_complex)
    ptr, col = torch.from_numpy(A.indptr.astype(np.int64)), torch.from_numpy(A.indices.astype(np.int64))
    values = torch.from_numpy(A.data.copy()).requires_grad_()
    b = torch.from_numpy(random_vector(shape, is_complex)).requires_grad_()

    def function(values, b):
        if is_complex or not differentiable:  # PyTorch does not differentiate the making of such a tensor
            return ilux.torch.solve_csr(ptr, col, values, b, **TIGHT)
        return ilux.torch.solve(torch.sparse_csr_tensor(ptr, col, values, (16, 16)), b, **TIGHT)

    assert relative_residual(A, function(values, b).detach().numpy(), b.detach().numpy()) <= 1e-10
    assert torch.autograd.gradcheck(function, (values, b), eps=1e-6, atol=1e-6)
    with pytest.raises(ilux.InvalidInput):
        ilux.torch.solve(torch.eye(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64))
    with pytest.raises(ilux.InvalidInput):
        ilux.torch.solve(torch.eye(3).to_sparse_csr(), torch.ones(3))


def test_torch_matrices():
    torch = pytest.importorskip("torch")
    A = small(False)
    tensor = torch.sparse_csr_tensor(torch.from_numpy(A.indptr), torch.from_numpy(A.indices), torch.from_numpy(A.data), A.shape)
    b = np.ones(16)
    for form in (tensor, tensor.to_sparse_coo(), tensor.to_dense(), tensor.to(torch.float32)):
        assert relative_residual(A, ilux.solve(form, b), b) <= 1e-6
    with pytest.raises(ilux.InvalidInput):
        ilux.solve(tensor.to_sparse_csc(), b)


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("shape", [(16,), (16, 3)])
def test_jax(is_complex, shape):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    import ilux.jax

    A = small(is_complex)
    b = random_vector(shape, is_complex)
    weight = random_vector(shape, is_complex, 5)
    row = np.repeat(np.arange(16), np.diff(A.indptr))

    def loss(values, b):
        return jnp.abs((ilux.jax.solve(values, A.indices, A.indptr, b, **TIGHT) * weight).sum()) ** 2

    def dense(values, b):
        D = jnp.zeros((16, 16), values.dtype).at[row, A.indices].set(values)
        return jnp.abs((jnp.linalg.solve(D, b) * weight).sum()) ** 2

    for function in (loss, jax.jit(loss)):
        assert float(function(A.data, b)) == pytest.approx(float(dense(A.data, b)), rel=1e-9)
        for ours, theirs in zip(jax.grad(function, (0, 1))(A.data, b), jax.grad(dense, (0, 1))(A.data, b)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-12)
    with pytest.raises(ilux.InvalidInput):
        ilux.jax.solve(A.data.real.astype(np.float32), A.indices, A.indptr, np.ones(16, np.float32))


def test_torch_refuses_what_it_would_get_wrong():
    torch = pytest.importorskip("torch")
    import ilux.torch

    A = small(False)
    ptr, col = torch.from_numpy(A.indptr.astype(np.int64)), torch.from_numpy(A.indices.astype(np.int64))
    values, b = torch.from_numpy(A.data.copy()).requires_grad_(), torch.ones(16, dtype=torch.float64)
    x = ilux.torch.solve_csr(ptr, col, values, b, **TIGHT)
    with torch.no_grad():
        values *= 2
    with pytest.raises(RuntimeError, match="modified"):
        x.sum().backward()
    (first,) = torch.autograd.grad(ilux.torch.solve_csr(ptr, col, values, b, **TIGHT).sum(), values, create_graph=True)
    with pytest.raises(RuntimeError):
        first.sum().backward()
    with pytest.raises(ilux.InvalidInput):
        ilux.torch.solve_csr(ptr, col, values.detach()[:3], b)


def test_a_graph_that_lives_until_python_ends_leaks_nothing():
    pytest.importorskip("torch")
    program = """
import torch, ilux.torch
A = ilux.gallery("poisson2d:n=5")
tensor = torch.sparse_csr_tensor(*(torch.tensor(part) for part in (A.indptr, A.indices, A.data)), A.shape)
x = ilux.torch.solve(tensor, torch.ones(25, dtype=torch.float64, requires_grad=True))
x.sum().backward()
print("solved")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200)
    assert run.stdout.strip() == "solved" and "leak" not in run.stderr

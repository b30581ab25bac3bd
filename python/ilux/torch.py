"""x = A⁻¹ b as a function that PyTorch differentiates: with respect to b, and to the values of A.

    x = ilux.torch.solve(A, b)      # A: a sparse CSR tensor; b: n, or n × k

Backwards the same factors solve Aᴴ g = ∂x; the gradient of A has A's pattern.
"""

from __future__ import annotations

import atexit
import weakref
from typing import Any

import torch

from .arrays import column_count, torch_csr
from .errors import InvalidInput
from .solver import LinearSolver


_of_graphs: "weakref.WeakSet[LinearSolver]" = weakref.WeakSet()


@atexit.register
def _release() -> None:
    """A graph that a tensor still has when Python ends is given back by PyTorch without its Python objects: the factors go before."""
    for solver in list(_of_graphs):
        solver._core, solver._last = None, (None, 0, [])


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Any, b: Any, row_ptr: Any, col: Any, options: dict[str, Any]) -> Any:
        A = torch_csr(len(row_ptr) - 1, row_ptr, col, values.detach())
        solver = LinearSolver(**options).analyse(A, columns=column_count(b)).factor()
        x = _solved(solver, b.detach(), "N")
        ctx.solver = solver
        _of_graphs.add(solver)
        ctx.save_for_backward(row_ptr, col, x, values)  # values: PyTorch refuses to go back where they have changed since
        return x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:  # type: ignore[override]
        row_ptr, col, x, _ = ctx.saved_tensors
        of_b = _solved(ctx.solver, grad, "H")
        of_values = None
        if ctx.needs_input_grad[0]:
            row = torch.repeat_interleave(torch.arange(len(row_ptr) - 1, device=row_ptr.device), row_ptr.diff())
            products = of_b[row] * x[col.long()].conj()
            of_values = -(products if products.ndim == 1 else products.sum(1))
        return of_values, of_b, None, None, None


def _solved(solver: LinearSolver, b: Any, trans: str) -> Any:
    if b.is_cuda:
        return solver.solve(b, trans)
    return torch.from_numpy(solver.solve(b.resolve_conj().numpy(), trans).copy())


def solve(A: Any, b: Any, **options: Any) -> Any:
    """x with A x = b, differentiable. A: a sparse CSR tensor of float64 or complex128, on the device of b. Options as LinearSolver's;
    the gradient is as exact as x. It cannot be differentiated again. Raises NotConverged."""
    if A.layout != torch.sparse_csr:
        raise InvalidInput(f"A has the layout {A.layout}; A.to_sparse_csr() makes it sparse_csr")
    return solve_csr(A.crow_indices(), A.col_indices(), A.values(), b, **options)


def solve_csr(row_ptr: Any, col: Any, values: Any, b: Any, **options: Any) -> Any:
    """The same for an A of these arrays, n + 1, nnz and nnz. PyTorch itself cannot differentiate the making of a sparse tensor of complex
    values; this has no need of one."""
    if values.dtype != b.dtype or values.dtype not in (torch.float64, torch.complex128):
        raise InvalidInput(f"A is of {values.dtype} and b of {b.dtype}: both must be float64, or complex128")
    return _Solve.apply(values, b, row_ptr, col, options)

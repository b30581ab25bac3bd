"""x = A⁻¹ b as a function that JAX differentiates in reverse: with respect to b, and to the values of A.

    x = ilux.jax.solve(values, col, row_ptr, b)      # A by rows, as jax.experimental.sparse.BCSR has it

It works under jit; the solve itself is done by the host. float64 needs jax.config.update("jax_enable_x64", True).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .arrays import Csr, _columns32, _pointers, column_count
from .errors import InvalidInput
from .solver import LinearSolver


def _host_solve(trans: str, options: tuple[tuple[str, Any], ...], values: Any, col: Any, row_ptr: Any, b: Any) -> np.ndarray:
    values, b = np.asarray(values), np.asarray(b)
    A = Csr(len(row_ptr) - 1, _pointers(row_ptr), _columns32(col), np.ascontiguousarray(values))
    return LinearSolver(**dict(options)).analyse(A, columns=column_count(b)).factor().solve(b, trans).astype(b.dtype)


def _call(trans: str, options: Any, values: Any, col: Any, row_ptr: Any, b: Any) -> Any:
    shape = jax.ShapeDtypeStruct(b.shape, b.dtype)
    return jax.pure_callback(partial(_host_solve, trans, options), shape, values, col, row_ptr, b)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _solve(options: Any, values: Any, col: Any, row_ptr: Any, b: Any) -> Any:
    return _call("N", options, values, col, row_ptr, b)


def _forward(options: Any, values: Any, col: Any, row_ptr: Any, b: Any) -> Any:
    x = _call("N", options, values, col, row_ptr, b)
    return x, (values, col, row_ptr, x)


def _backward(options: Any, kept: Any, grad: Any) -> Any:
    values, col, row_ptr, x = kept
    # JAX's cotangents are not conjugated: Aᵀ, not Aᴴ
    of_b = _call("T", options, values, col, row_ptr, grad)
    row = jnp.repeat(jnp.arange(len(row_ptr) - 1), jnp.diff(row_ptr), total_repeat_length=values.shape[0])
    products = of_b[row] * x[col]
    return -(products if products.ndim == 1 else products.sum(1)), None, None, of_b


_solve.defvjp(_forward, _backward)


def solve(values: Any, col: Any, row_ptr: Any, b: Any, **options: Any) -> Any:
    """x with A x = b, differentiable in reverse mode. values, col: nnz; row_ptr: n + 1; b: n, or n × k, of the type of the values,
    float64 or complex128. Options as LinearSolver's; they must be hashable."""
    values, b = jnp.asarray(values), jnp.asarray(b)
    if values.dtype != b.dtype or values.dtype not in (jnp.float64, jnp.complex128):
        raise InvalidInput(f"values are of {values.dtype} and b of {b.dtype}: both must be float64, or complex128 (jax_enable_x64)")
    return _solve(tuple(sorted(options.items())), values, jnp.asarray(col), jnp.asarray(row_ptr), b)

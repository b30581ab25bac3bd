"""ilux: large sparse linear systems A x = b, real and complex, on a CPU or a CUDA GPU.

    x = ilux.solve(A, b)                            # direct or iterative, by the facts
    x, info = ilux.gmres(A, b)                      # SciPy's conventions, with a multilevel ILU
    lu = ilux.splu(A); x = lu.solve(b); lu.refactor(A2)
    M = ilux.mlilu(A)                               # a LinearOperator for anybody's method
    solver = ilux.LinearSolver(...)                 # everything, with a report
    ilux.info(A); ilux.compare(A, b)                # what a matrix is like; strategies side by side
"""

from __future__ import annotations

from typing import Any

from . import _core
from .arrays import column_count
from .comparison import Comparison, compare
from .errors import (Cancelled, DeviceError, IluxError, InternalError, InvalidInput, InvalidOption, NotConverged, OutOfMemory,
                     SingularMatrix, translated)
from .iterative import bicg, bicgstab, cg, cocg, fgmres, gmres, minres, sqmr
from .linalg import Factorized, MultilevelILU, factorized, mlilu, spilu, splu, spsolve
from .matrix_info import Info, info
from .report import Report
from .solver import LinearSolver, sequence

__version__ = _core.version()
__all__ = ["Cancelled", "Comparison", "DeviceError", "Factorized", "IluxError", "Info", "InternalError", "InvalidInput", "InvalidOption",
           "LinearSolver", "MultilevelILU", "NotConverged", "OutOfMemory", "Report", "SingularMatrix", "bicg", "bicgstab", "cg", "cocg",
           "compare", "factorized", "fgmres", "gallery", "gmres", "info", "minres", "mlilu", "read", "sequence", "solve", "spilu", "splu", "spsolve", "sqmr"]


def solve(A: Any, b: Any, trans: str = "N", **options: Any) -> Any:
    """x with A x = b, directly or by an iteration, whichever the facts speak for. Raises NotConverged where there is none."""
    return LinearSolver(**options).analyse(A, columns=column_count(b)).factor().solve(b, trans)


def _scipy_matrix(arrays: tuple[Any, Any, Any]) -> Any:
    import scipy.sparse

    row_ptr, col, values = arrays
    if row_ptr[-1] < 2**31:  # SciPy wants both index arrays of one type, and would copy the longer one
        row_ptr = row_ptr.astype("int32")
    return scipy.sparse.csr_array((values, col, row_ptr), shape=(len(row_ptr) - 1,) * 2, copy=False)


def gallery(spec: str, **parameters: Any) -> Any:
    """A model problem as a csr_array: gallery("convdiff3d", n=32, peclet=10), or gallery("convdiff3d:n=32,peclet=10").
    `ilux gallery` lists them with their parameters."""
    if parameters:
        spec += (":" if ":" not in spec else ",") + ",".join(f"{key}={value}" for key, value in parameters.items())
    with translated():
        return _scipy_matrix(_core.gallery(spec))


def read(path: str) -> Any:
    """A square matrix of a file as a csr_array: Matrix Market, SciPy, PETSc, Harwell-Boeing, MATLAB, packed by gzip or not."""
    with translated():
        return _scipy_matrix(_core.read(str(path)))

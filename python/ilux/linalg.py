"""The direct functions of scipy.sparse.linalg by ilux, and its ILU, with SciPy's conventions."""

from __future__ import annotations

import threading
from typing import Any, Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .arrays import column_count, host_array, is_of_jax, is_on_device, is_sparse, snapshot
from .errors import InvalidInput, translated
from .solver import LinearSolver
from .superlu_words import ilu_options, lu_options


def spsolve(A: Any, b: Any, permc_spec: str | None = None, use_umfpack: bool = True, **options: Any) -> Any:
    """x with A x = b, by a direct solution. x of a column is of n numbers, of a sparse n × k b a matrix of A's kind. Raises
    SingularMatrix where SciPy warns and returns NaN. use_umfpack: there is one library here, whatever it says."""
    solver = LinearSolver(method="lu", **lu_options(permc_spec), **options).analyse(A, columns=column_count(b)).factor()
    x = solver.solve(b)
    if stays_on_device(b):
        return x
    if x.ndim == 2 and x.shape[1] == 1:
        return x.reshape(-1)
    return _sparse_as(A, x) if is_sparse(b) and x.ndim == 2 else x


def _sparse_as(A: Any, X: np.ndarray) -> Any:
    import scipy.sparse

    return (type(A) if is_sparse(A) else scipy.sparse.csc_array)(X)


class Factorized:
    """Factors of A by LU, as scipy.sparse.linalg.splu returns them; `refactor` takes new numbers of the same pattern. They are of A as it
    was: later changes of its arrays do nothing. Several threads may use one; they take turns."""

    def __init__(self, A: Any, systems: float = 100, **options: Any) -> None:
        self._lock = threading.RLock()
        self._lu: tuple[Any, ...] | None = None
        self.solver = LinearSolver(method="lu", **options).analyse(snapshot(A), systems).factor()
        self.shape = self.solver.shape

    def solve(self, b: Any, trans: str = "N") -> Any:
        """x of A x = b, Aᵀ x = b ("T") or Aᴴ x = b ("H"); b of n numbers, or n × k."""
        with self._lock:
            return self.solver.solve(b, trans)

    def refactor(self, A: Any) -> "Factorized":
        """The same for other numbers: by the former pivots while they hold, else by new ones."""
        with self._lock:
            self._lu = None
            self.solver.refactor(A)
        return self

    def __reduce__(self) -> Any:
        raise TypeError("factors are neither copied nor pickled, as SciPy's are not: copy A, and factor it there")

    @property
    def report(self) -> Any:
        return self.solver.report

    def _triangles(self) -> tuple[Any, ...]:
        import scipy.sparse

        with self._lock:
            if self._lu is None:
                with translated():
                    row_perm, col_perm, *triangles = self.solver._ready()[0].lu()
                L, U = (scipy.sparse.csc_array((values, row, col_ptr), shape=self.shape) for col_ptr, row, values in triangles)
                self._lu = (np.argsort(row_perm), np.argsort(col_perm), L, U)
            return self._lu

    @property
    def perm_r(self) -> np.ndarray:
        """SciPy's: row i of A is row perm_r[i] of L U."""
        return self._triangles()[0]

    @property
    def perm_c(self) -> np.ndarray:
        """SciPy's: column j of A is column perm_c[j] of L U."""
        return self._triangles()[1]

    @property
    def L(self) -> Any:
        """Lower triangular with a diagonal of ones, a csc_array. L, U and the permutations are of an LU of the whole matrix by entries, made when
        the first of them is asked for; what `solve` uses may be by diagonal blocks or dense fronts."""
        return self._triangles()[2]

    @property
    def U(self) -> Any:
        return self._triangles()[3]

    @property
    def nnz(self) -> int:
        """Entries of L and U together, as SciPy counts them."""
        return self.L.nnz + self.U.nnz


def splu(A: Any, permc_spec: str | None = None, diag_pivot_thresh: float | None = None, relax: int | None = None,
         panel_size: int | None = None, options: dict[str, Any] | None = None, **more: Any) -> Factorized:
    """LU of A. SciPy's settings by their names: permc_spec is the ordering, diag_pivot_thresh lu.pivot_tol; options of ilux likewise:
    splu(A, lu={"ordering": "metis"})."""
    return Factorized(A, **lu_options(permc_spec, diag_pivot_thresh, relax, panel_size, options), **more)


def factorized(A: Any) -> Callable[[Any], Any]:
    """b ↦ x with A x = b."""
    return splu(A).solve


class MultilevelILU(LinearOperator):
    """z = M⁻¹ r for a multilevel ILU M of A: serves as M in SciPy's, PyAMG's and our own methods. It is of A as it was, and of several
    threads, which take turns."""

    def __init__(self, A: Any, systems: float = 1, **options: Any) -> None:
        options.setdefault("method", "gmres")
        self._lock = threading.RLock()
        self.ilu = LinearSolver(**options).analyse(snapshot(A), systems).factor()
        n = self.ilu.shape[0]
        super().__init__(np.complex128 if self.ilu._ready()[1].is_complex else np.float64, (n, n))

    def solve(self, b: Any, trans: str = "N") -> Any:
        """M⁻¹ b, M⁻ᵀ b or M⁻ᴴ b, as spilu's object has it. Of a b on a GPU it lies there, where A does."""
        with self._lock:
            if stays_on_device(b):
                return self.ilu.precondition(b, trans)
            b = host_array(b)
            if b.dtype.kind == "c" and self.dtype.kind != "c":  # a real M of the two parts
                return self.ilu.precondition(b.real, trans) + 1j * self.ilu.precondition(b.imag, trans)
            return self.ilu.precondition(b, trans)

    def refactor(self, A: Any) -> "MultilevelILU":
        """M of other numbers of the same pattern."""
        with self._lock:
            self.ilu.factor(A)
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a preconditioner is neither copied nor pickled: copy A, and make it there")

    @property
    def fill(self) -> float:
        """Stored numbers for one of A."""
        with self._lock, translated():
            return self.ilu._ready()[0].fill()

    @property
    def near_null(self) -> np.ndarray:
        """n × k: the vectors of the coarse space beside M, given, smoothed or found; k is 0 where there is none. near_null=M.near_null gives those
        of a real A to another M."""
        with self._lock, translated():
            vectors = self.ilu._ready()[0].near_null()
        return vectors.reshape(vectors.size // max(self.shape[0], 1), self.shape[0]).T

    def _matvec(self, r: Any) -> np.ndarray:
        return self.solve(r)

    def _matmat(self, R: Any) -> np.ndarray:
        return self.solve(R)

    def _rmatvec(self, r: Any) -> np.ndarray:
        return self.solve(r, "H")


def mlilu(A: Any, drop_tol: float | None = None, **options: Any) -> MultilevelILU:
    """A multilevel ILU of A as a LinearOperator. Further options by name: mlilu(A, precond={"setup": "rounds"}). near_null=B, n × k, has vectors
    that A takes to little; they act in a coarse space, which precond={"coarse": "on"} asks for, and in rounds that compensate: elsewhere
    M.near_null has no column, and B no effect."""
    if drop_tol is not None:
        options["precond.drop_tol"] = drop_tol
    return MultilevelILU(A, **options)


def spilu(A: Any, drop_tol: float | None = None, fill_factor: float | None = None, drop_rule: Any = None, permc_spec: str | None = None,
          diag_pivot_thresh: float | None = None, relax: int | None = None, panel_size: int | None = None,
          options: dict[str, Any] | None = None, **more: Any) -> MultilevelILU:
    """The same under SciPy's name. fill_factor: stored numbers for one of A at most; drop_tol is enlarged until they are."""
    more.update(ilu_options(permc_spec, drop_rule, diag_pivot_thresh, relax, panel_size, options))
    M = mlilu(A, drop_tol, **more)
    while fill_factor is not None and M.fill > fill_factor:
        drop_tol = 4 * (drop_tol or float(M.ilu.options["precond"]["drop_tol"]))
        if drop_tol > 1:
            raise InvalidInput(f"fill_factor={fill_factor}: the ILU stores {M.fill:.3g} numbers for one of A, whatever is dropped")
        M = mlilu(A, drop_tol, **more)
    return M


def stays_on_device(b: Any) -> bool:
    return is_on_device(b) and not is_of_jax(b)

"""The functions of scipy.sparse.linalg by ilux, with SciPy's conventions."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from . import _core
from .arrays import column_count, host_array, is_of_jax, is_on_device, vector_values, zeros_on_device
from .errors import InvalidInput, NotConverged, translated
from .solver import LinearSolver, _flat


def spsolve(A: Any, b: Any, **options: Any) -> Any:
    """x with A x = b, by a direct solution. Raises SingularMatrix where SciPy warns and returns NaN."""
    return LinearSolver(method="lu", **options).analyse(A, columns=column_count(b)).factor().solve(b)


class Factorized:
    """Factors of A by LU, as scipy.sparse.linalg.splu returns them; `refactor` takes new numbers of the same pattern."""

    def __init__(self, A: Any, systems: float = 100, **options: Any) -> None:
        self.solver = LinearSolver(method="lu", **options).analyse(A, systems).factor()
        self.shape = self.solver.shape

    def solve(self, b: Any, trans: str = "N") -> Any:
        """x of A x = b, Aᵀ x = b ("T") or Aᴴ x = b ("H"); b of n numbers, or n × k."""
        return self.solver.solve(b, trans)

    def refactor(self, A: Any) -> "Factorized":
        """The same for other numbers: by the former pivots while they hold, else by new ones."""
        self.solver.refactor(A)
        return self

    @property
    def report(self) -> Any:
        return self.solver.report


def splu(A: Any, **options: Any) -> Factorized:
    """LU of A. Options are ilux's: splu(A, lu={"ordering": "metis"})."""
    return Factorized(A, **options)


class MultilevelILU(LinearOperator):
    """z = M⁻¹ r for a multilevel ILU M of A: serves as M in SciPy's, PyAMG's and our own methods."""

    def __init__(self, A: Any, systems: float = 1, **options: Any) -> None:
        options.setdefault("method", "gmres")
        self.ilu = LinearSolver(**options).analyse(A, systems).factor()
        n = self.ilu.shape[0]
        super().__init__(np.complex128 if self.ilu._ready()[1].is_complex else np.float64, (n, n))

    def solve(self, b: Any, trans: str = "N") -> Any:
        """M⁻¹ b, M⁻ᵀ b or M⁻ᴴ b, as spilu's object has it. Of a b on a GPU it lies there, where A does."""
        if _stays_on_device(b):
            return self.ilu.precondition(b, trans)
        b = np.asarray(b)
        if b.dtype.kind == "c" and self.dtype.kind != "c":  # a real M of the two parts
            return self.ilu.precondition(b.real, trans) + 1j * self.ilu.precondition(b.imag, trans)
        return self.ilu.precondition(b, trans)

    def refactor(self, A: Any) -> "MultilevelILU":
        """M of other numbers of the same pattern."""
        self.ilu.factor(A)
        return self

    def _matvec(self, r: Any) -> np.ndarray:
        return self.solve(r)

    def _matmat(self, R: Any) -> np.ndarray:
        return self.solve(R)

    def _rmatvec(self, r: Any) -> np.ndarray:
        return self.solve(r, "H")


def mlilu(A: Any, drop_tol: float | None = None, **options: Any) -> MultilevelILU:
    """A multilevel ILU of A as a LinearOperator. Further options by name: mlilu(A, precond={"setup": "rounds"})."""
    if drop_tol is not None:
        options["precond.drop_tol"] = drop_tol
    return MultilevelILU(A, **options)


def spilu(A: Any, drop_tol: float | None = None, **options: Any) -> MultilevelILU:
    """The same under SciPy's name."""
    return mlilu(A, drop_tol, **options)


def _stays_on_device(b: Any) -> bool:
    return is_on_device(b) and not is_of_jax(b)


def _norm(b: Any) -> float:
    return float((abs(b) ** 2).sum()) ** 0.5 if _stays_on_device(b) else float(np.linalg.norm(np.asarray(b)))


def _solve(method: str, A: Any, b: Any, x0: Any, rtol: float, atol: float, restart: int | None, maxiter: int | None, M: Any,
           callback: Callable[[float], None] | None, options: dict[str, Any]) -> tuple[Any, int]:
    options = dict(_flat(options))
    if not (rtol >= 0 and atol >= 0):
        raise InvalidInput(f"rtol is {rtol} and atol {atol}: both must be numbers from 0 on")
    size = _norm(b) if atol > 0 else 0.0
    options["krylov.rtol"] = repr(float(min(1.0, max(rtol, atol / size if size > 0 else rtol))))
    if restart is not None:
        options["krylov.restart"] = str(restart)
    if maxiter is not None:
        options["krylov.max_steps"] = str(maxiter)
    if x0 is not None:
        options["sequence.reuse_x"] = "on"
    options["method"] = method
    if isinstance(M, str) or maxiter is not None:
        options.setdefault("retry", "off")  # what was asked for, and no other preconditioner after it
    progress = None
    if callback is not None:
        told = 0

        def progress(phase: str, done: int, total: int, residual: float) -> None:
            nonlocal told
            if phase == "solve" and done > told:
                callback(residual)
            told = done if phase == "solve" else told
    if M is not None and not isinstance(M, str) or isinstance(A, LinearOperator) or not (hasattr(A, "tocsr") or hasattr(A, "shape")):
        return _solve_operator(A, b, x0, M, progress, options)
    if isinstance(M, str):
        options["precond.kind"] = M
    solver = LinearSolver(progress=progress, **options)
    try:
        solver.analyse(A).factor()
    except NotConverged:
        return zeros_on_device(b) if _stays_on_device(b) else np.zeros_like(vector_values(b, np.iscomplexobj(b))), -1
    x = solver.solve(b, x0=x0, check=False)
    return x, _info(solver.report.outcome, solver.report.steps)


def _info(outcome: str, steps: int) -> int:
    """SciPy's: 0 converged, > 0 the steps taken without, < 0 a breakdown."""
    if outcome == "converged":
        return 0
    return -1 if outcome in ("breakdown", "singular", "not_finite", "diverged", "out_of_memory") else max(1, steps)


def _solve_operator(A: Any, b: Any, x0: Any, M: Any, progress: Any, options: dict[str, Any]) -> tuple[Any, int]:
    if isinstance(M, str):
        raise InvalidInput(f"M={M!r}: of an operator there is no preconditioner to be made; pass one, or None")
    ignored = [name for name in options if name.startswith("precond.")]
    if ignored:
        raise InvalidInput(f"{ignored[0]}: of an operator, or beside an M of yours, there is no preconditioner to be made")
    op = aslinearoperator(A)
    if op.shape[0] != op.shape[1]:
        raise InvalidInput(f"an operator of shape {op.shape}: a system needs a square one")
    is_complex = any(np.dtype(one).kind == "c" for one in (op.dtype or float, host_array(b).dtype, getattr(M, "dtype", None) or float))
    b_host = vector_values(b, is_complex)
    flat = np.ascontiguousarray(b_host.reshape(-1))
    if flat.shape[0] != op.shape[0] or b_host.size != flat.size:
        raise InvalidInput(f"b has the shape {np.shape(b)}, and A {op.shape[0]} rows")
    if x0 is not None and np.shape(x0) != b_host.shape:
        raise InvalidInput(f"x0 has the shape {np.shape(x0)}, and b {b_host.shape}")
    x = np.zeros_like(flat) if x0 is None else np.array(vector_values(x0, is_complex).reshape(-1))
    preconditioner = None if M is None else aslinearoperator(M)
    if preconditioner is not None and preconditioner.shape != op.shape:
        raise InvalidInput(f"M has the shape {preconditioner.shape}, and A {op.shape}")

    def apply(operator: LinearOperator) -> Callable[[int, np.ndarray, np.ndarray], None]:
        def call(op_code: int, given: np.ndarray, out: np.ndarray) -> None:
            out[:] = np.asarray(operator.matvec(given) if op_code == 0 else operator.rmatvec(given)).reshape(-1)
        return call

    with translated():
        core = _core.Solver(is_complex)
        for name, value in options.items():
            core.set(name, value)
        if progress:
            core.listen(lambda phase, done, total, residual: progress("solve" if phase else "setup", done, total, residual))
        core.solve_operator(op.shape[0], apply(op), apply(preconditioner) if preconditioner is not None else None, flat, x)
        result = core.result(0)
    return x.reshape(b_host.shape), _info(result["outcome"], result["steps"])


def _method(name: str, full_name: str, needs: str) -> Callable[..., tuple[Any, int]]:
    def solve(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-8, atol: float = 0.0, restart: int | None = None,
              maxiter: int | None = None, M: Any = None, callback: Callable[[float], None] | None = None,
              **options: Any) -> tuple[Any, int]:
        return _solve(name, A, b, x0, rtol, atol, restart, maxiter, M, callback, options)

    solve.__name__ = solve.__qualname__ = name
    solve.__doc__ = f"""{full_name}: (x, info) with A x = b. {needs}

    A: a matrix, or a LinearOperator. M: None takes our multilevel ILU of a matrix, and no preconditioner of an operator; a name
    ("ilu0", "jacobi", "none") another one of ours; else a LinearOperator for M⁻¹. maxiter: steps, not cycles.
    callback(relative residual) is called after every step. info: 0 converged, > 0 steps taken in vain, < 0 a breakdown.
    x is measured: info is 0 only where ‖b − A x‖₂ ≤ max(rtol ‖b‖₂, atol). Further options by name."""
    return solve


gmres = _method("gmres", "Restarted GMRES", "Any A.")
fgmres = _method("fgmres", "Flexible GMRES", "Any A, and an M that varies.")
bicg = _method("bicg", "BiCG", "Any A; needs products with Aᴴ and M⁻ᴴ.")
bicgstab = _method("bicgstab", "BiCGStab", "Any A.")
cg = _method("cg", "Conjugate gradients", "A Hermitian and positive definite, M likewise.")
minres = _method("minres", "MINRES", "A Hermitian, M Hermitian and positive definite.")
sqmr = _method("sqmr", "Symmetric QMR", "A = Aᵀ, M likewise; real or complex.")
cocg = _method("cocg", "COCG", "A = Aᵀ, complex; M likewise.")

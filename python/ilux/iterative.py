"""The iterations of scipy.sparse.linalg by ilux, with SciPy's conventions."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from . import _core
from .arrays import complex_csr, host_array, is_sparse, vector_values, zeros_on_device
from .errors import InvalidInput, NotConverged, translated
from .linalg import stays_on_device
from .solver import LinearSolver, _flat

_IN_CYCLES = ("gmres", "fgmres")
_CALLBACKS = ("x", "pr_norm", "legacy")


def _tolerance(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number >= 0:
        raise InvalidInput(f"{name} is {value!r}, not a number from 0 on; left out it is the default")
    return number


def _norm(b: Any) -> float:
    return float((abs(b) ** 2).sum()) ** 0.5 if stays_on_device(b) else float(np.linalg.norm(host_array(b)))


class _Steps:
    """SciPy's maxiter, callback and info in the library's steps. GMRES's iterations are cycles, unless a callback of "legacy" counts steps;
    BiCGStab's are two steps."""

    def __init__(self, method: str, maxiter: int | None, callback: Callable[[Any], Any] | None, callback_type: str | None,
                 options: dict[str, str]) -> None:
        in_cycles = method in _IN_CYCLES
        if callback_type is not None and callback_type not in _CALLBACKS:
            raise InvalidInput(f"callback_type is {callback_type!r}, not one of {', '.join(_CALLBACKS)}")
        if callback_type is not None and callback_type != "x" and not in_cycles:
            raise InvalidInput(f"callback_type: {method} calls back with x, as SciPy's does; LinearSolver(progress=...) tells residuals")
        self._kind = callback_type or ("legacy" if in_cycles else "x")
        self._callback = callback
        self._told, self._over = 0, False
        self._rtol = float(options["krylov.rtol"])
        self.iterate: Callable[[], Any] = lambda: None  # x as it stands
        cycles = in_cycles and (callback is None or self._kind != "legacy")
        self._size = int(options.get("krylov.restart", 30)) if cycles else 2 if method == "bicgstab" else 1
        self._at_cycles = in_cycles and self._kind == "x"
        if maxiter is not None:
            options["krylov.max_steps"] = str(min(maxiter * self._size, 2**31 - 1))
        if callback is not None and self._kind == "x":
            if options.get("device", "cpu") != "cpu" or options.get("krylov.precision", "double") != "double":
                raise InvalidInput("the callback takes x, which is on the host and in double precision with device=cpu alone; "
                                   "LinearSolver(progress=...) tells residuals")
            options["device"] = "cpu"

    @property
    def listener(self) -> Callable[[str, int, int, float], None] | None:
        return None if self._callback is None else self._hear

    def _hear(self, phase: str, done: int, total: int, residual: float) -> None:
        if phase != "solve" or self._over:
            return
        exact = done in (0, self._told)  # told twice: an estimate, then the residual of x
        self._over = exact and residual <= self._rtol  # what still comes estimates the error
        due = exact and done > 0 if self._at_cycles else done > self._told
        self._told = done
        if not due or (not self._at_cycles and self._kind == "x" and done % self._size):
            return
        assert self._callback is not None
        self._callback(self.iterate() if self._kind == "x" else np.float64(residual))

    def info(self, outcome: str, steps: int) -> int:
        """SciPy's: 0 converged, > 0 the iterations taken without, < 0 a breakdown."""
        if outcome == "converged":
            return 0
        return -1 if outcome in ("breakdown", "singular", "not_finite", "diverged", "out_of_memory") else max(1, -(-steps // self._size))


def _solve(method: str, A: Any, b: Any, x0: Any, rtol: float, atol: float, restart: int | None, maxiter: int | None, M: Any,
           callback: Callable[[Any], Any] | None, callback_type: str | None, options: dict[str, Any]) -> tuple[Any, int]:
    null_space, near_null = options.pop("null_space", None), options.pop("near_null", None)
    options = dict(_flat(options))
    rtol, atol = _tolerance("rtol", rtol), _tolerance("atol", atol)
    if isinstance(x0, str) and x0 != "Mb":
        raise InvalidInput(f'x0 is {x0!r}: a vector, or "Mb" for M⁻¹ b')
    if is_sparse(b):
        b = host_array(b)
    size = _norm(b) if atol > 0 else 0.0
    options["krylov.rtol"] = repr(float(min(1.0, max(rtol, atol / size if size > 0 else rtol))))
    if restart is not None:
        options["krylov.restart"] = str(restart)
    if x0 is not None:
        options["sequence.reuse_x"] = "on"
    options["method"] = method
    steps = _Steps(method, maxiter, callback, callback_type, options)
    if isinstance(M, str) or maxiter is not None:
        options.setdefault("retry", "off")  # what was asked for, and no other preconditioner after it
    if M is not None and not isinstance(M, str) or isinstance(A, LinearOperator) or not (hasattr(A, "tocsr") or hasattr(A, "shape")):
        if null_space is not None:
            raise InvalidInput("null_space is of a matrix A and an M of ours: of an operator nothing could tell that A takes it to 0")
        if near_null is not None:
            raise InvalidInput("near_null is for an M of ours, and there is none")
        return _solve_operator(A, b, x0, M, steps, options)
    if isinstance(M, str):
        options["precond.kind"] = M
    if not stays_on_device(b) and host_array(b).dtype.kind == "c":
        A = complex_csr(A)
    solver = LinearSolver(progress=steps.listener, null_space=null_space, near_null=near_null, **options)
    try:
        solver.analyse(A).factor()
    except NotConverged:
        return zeros_on_device(b) if stays_on_device(b) else np.zeros_like(vector_values(b, np.iscomplexobj(b))), -1
    core, csr = solver._ready()
    steps.iterate = _iterate_of(core, csr.n, csr.is_complex)
    x = solver.solve(b, x0=solver.precondition(b) if isinstance(x0, str) else x0, check=False)
    return x, steps.info(solver.report.outcome, solver.report.steps)


def _iterate_of(core: "_core.Solver", n: int, is_complex: bool) -> Callable[[], np.ndarray]:
    def iterate() -> np.ndarray:
        x = np.empty(n, np.complex128 if is_complex else np.float64)
        if not core.iterate(x):
            raise InvalidInput("there is no x for the callback: the iteration that is under way is no plain one of the host")
        return x
    return iterate


def _solve_operator(A: Any, b: Any, x0: Any, M: Any, steps: _Steps, options: dict[str, Any]) -> tuple[Any, int]:
    if isinstance(M, str):
        raise InvalidInput(f"M={M!r}: of an operator there is no preconditioner to be made; pass one, or None")
    ignored = [name for name in options if name.startswith("precond.")]
    if ignored:
        raise InvalidInput(f"{ignored[0]}: of an operator, or beside an M of yours, there is no preconditioner to be made")
    if str(options.get("device")) == "gpu":
        raise InvalidInput("device='gpu': an operator of NumPy arrays works on the host")
    op = aslinearoperator(A)
    if op.shape[0] != op.shape[1]:
        raise InvalidInput(f"an operator of shape {op.shape}: a system needs a square one")
    is_complex = any(np.dtype(one).kind == "c" for one in (op.dtype or float, host_array(b).dtype, getattr(M, "dtype", None) or float))
    b_host = vector_values(b, is_complex)
    flat = np.ascontiguousarray(b_host.reshape(-1))
    if flat.shape[0] != op.shape[0] or b_host.size != flat.size:
        raise InvalidInput(f"b has the shape {np.shape(b)}, and A {op.shape[0]} rows")
    preconditioner = None if M is None else aslinearoperator(M)
    if preconditioner is not None and preconditioner.shape != op.shape:
        raise InvalidInput(f"M has the shape {preconditioner.shape}, and A {op.shape}")
    if isinstance(x0, str):
        x0 = b_host if preconditioner is None else np.asarray(preconditioner.matvec(flat)).reshape(b_host.shape)
    if x0 is not None and np.shape(x0) != b_host.shape:
        raise InvalidInput(f"x0 has the shape {np.shape(x0)}, and b {b_host.shape}")
    x = np.zeros_like(flat) if x0 is None else np.array(vector_values(x0, is_complex).reshape(-1))

    with translated():
        core = _core.Solver(is_complex)
        for name, value in options.items():
            core.set(name, value)
        steps.iterate = _iterate_of(core, len(flat), is_complex)
        hear = steps.listener
        if hear:
            core.listen(lambda phase, done, total, residual: hear("solve" if phase else "setup", done, total, residual))
        core.solve_operator(op.shape[0], _applied(op), _applied(preconditioner) if preconditioner is not None else None, flat, x)
        result = core.result(0)
    return x.reshape(b_host.shape), steps.info(result["outcome"], result["steps"])


def _applied(operator: LinearOperator) -> Callable[[int, np.ndarray, np.ndarray], None]:
    def call(op_code: int, given: np.ndarray, out: np.ndarray) -> None:
        y = np.asarray(operator.matvec(given) if op_code == 0 else operator.rmatvec(given))
        if y.dtype.kind == "c" and out.dtype.kind != "c":
            raise InvalidInput(f"an operator of {operator.dtype} returned {y.dtype}: give it dtype=complex, and x will be complex")
        out[:] = y.reshape(-1)
    return call


def _method(name: str, full_name: str, needs: str) -> Callable[..., tuple[Any, int]]:
    def solve(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-8, atol: float = 0.0, restart: int | None = None,
              maxiter: int | None = None, M: Any = None, callback: Callable[[Any], Any] | None = None, callback_type: str | None = None,
              tol: float | None = None, **options: Any) -> tuple[Any, int]:
        return _solve(name, A, b, x0, rtol if tol is None else tol, atol, restart, maxiter, M, callback, callback_type, options)

    in_cycles = name in _IN_CYCLES
    solve.__name__ = solve.__qualname__ = name
    solve.__doc__ = f"""{full_name}: (x, info) with A x = b. {needs}

    A: a matrix, or a LinearOperator. M: None takes our multilevel ILU of a matrix, and no preconditioner of an operator; a name
    ("ilu0", "jacobi", "none") another one of ours; else a LinearOperator for M⁻¹. x0: a guess; "Mb" is M⁻¹ b.
    maxiter: {"cycles of `restart` steps, or steps with a callback of the type legacy" if in_cycles else "iterations"}. info: 0 converged, > 0 as many of them taken in vain, < 0 a breakdown.
    callback({"relative residual) is called after every step, callback(x) of callback_type x after every cycle" if in_cycles else "x) is called after every iteration"}.
    x is measured: info is 0 only where ‖b − A x‖₂ ≤ max(rtol ‖b‖₂, atol). tol: SciPy's former name of rtol. Further options by name."""
    return solve


gmres = _method("gmres", "Restarted GMRES", "Any A.")
fgmres = _method("fgmres", "Flexible GMRES", "Any A, and an M that varies.")
bicg = _method("bicg", "BiCG", "Any A; needs products with Aᴴ and M⁻ᴴ.")
bicgstab = _method("bicgstab", "BiCGStab", "Any A.")
cg = _method("cg", "Conjugate gradients", "A Hermitian and positive definite, M likewise.")
minres = _method("minres", "MINRES", "A Hermitian, M Hermitian and positive definite.")
sqmr = _method("sqmr", "Symmetric QMR", "A = Aᵀ, M likewise; real or complex.")
cocg = _method("cocg", "COCG", "A = Aᵀ, complex; M likewise.")

"""LinearSolver: analyse once, factor, solve; refactor where only numbers change."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Iterable, Iterator, Mapping

import numpy as np

from . import _core
from .arrays import (Csr, as_csr, column_count, columns_on_device, current_stream, device_of, empty_on_device, handed, host_array, is_of_jax,
                     is_on_device, joined, op_of, packed_on_device, parts_of, refuse_masked, same_pattern, type_name, vector_values, zeros_on_device)
from .errors import InvalidInput, error_of, translated
from .report import Report


def _flat(options: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in options.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, bool):
            yield prefix + key, "on" if value else "off"
        elif isinstance(value, (bytes, os.PathLike)):
            yield prefix + key, _text(os.fsdecode(value))
        elif isinstance(value, np.ndarray):
            raise InvalidInput(f"{prefix}{key} is an array of numbers; only null_space and near_null take one")
        elif value is not None:
            yield prefix + key, _text(str(value))


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"an option is not text in UTF-8: {value!r}") from None
    return value


def _vectors_of(name: str, given: Any, also: str = "") -> np.ndarray:
    """n × k, copied."""
    V = host_array(given)
    if V.dtype.kind not in "biufc" or V.ndim not in (1, 2) or V.size == 0:
        raise InvalidInput(f"{name} is of type {V.dtype} and shape {V.shape}: give an array of n numbers or n × k{also}")
    return np.array(V.reshape(len(V), -1))


def _columns_for(name: str, V: np.ndarray, n: int, is_complex: bool) -> np.ndarray:
    """Column after column, in the numbers of A, or real ones."""
    if V.shape[0] != n:
        raise InvalidInput(f"{name} has the shape {V.shape}, and A {n} rows")
    if V.dtype.kind == "c" and not is_complex:
        why = "near_null takes real numbers" if name == "near_null" else "A is real"
        raise InvalidInput(f"{name} is complex and {why}: its real and imaginary parts are vectors of their own")
    return np.asfortranarray(V, np.complex128 if is_complex else np.float64)


class LinearSolver:
    """Solves A x = b, directly, by a preconditioned iteration, or by whichever the facts speak for.

    Options have the names of the command line, nested ones as dictionaries or by their path::

        solver = LinearSolver(method="gmres", precond={"drop_tol": 1e-3})
        solver = LinearSolver(**{"krylov.rtol": 1e-10})
        solver = LinearSolver(method="lu", plan="A.plan")   # keeps what an LU prepares for the next program
        solver.analyse(A)
        solver.factor()
        x = solver.solve(b)

    An option that is None is left as it is. `null_space` names vectors that a singular A takes to 0, in place of krylov.null_space: an array of n
    numbers or n × k, "constant", or the name of a file. b and x are kept clear of them, so that x is the shortest. `near_null` are vectors that A
    takes to little, such as rigid-body modes: an array of n real numbers or n × k. They change no x, but take steps down: M and its coarse space
    keep what A does to them.

    A may be any sparse matrix of SciPy, a sparse CSR or COO tensor of PyTorch, a matrix of cupyx.scipy.sparse, or JAX's BCSR;
    real or complex. Its CSR arrays are borrowed where they are of float64 or complex128 and int32 columns. x of a b on a GPU lies there,
    in the same library's array. One solver serves one thread at a time; Python's lock is not held while it works.
    """

    def __init__(self, *, history: bool = False, progress: Callable[[str, int, int, float], None] | None = None,
                 null_space: Any = None, near_null: Any = None, **options: Any) -> None:
        """progress(phase, done, total, residual) is called many times a second; phase is "setup" or "solve". What it raises ends
        the call."""
        self._null_space: np.ndarray | None = None
        if isinstance(null_space, (str, bytes, os.PathLike)):
            options["krylov.null_space"] = null_space
        elif null_space is not None:
            self._null_space = _vectors_of("null_space", null_space, ", \"constant\", or a file's name")
        self._near_null = None if near_null is None else _vectors_of("near_null", near_null)
        self._options = dict(_flat(options))
        self._history_asked = history
        self._history: list[tuple[int, float]] = []
        self._progress = progress
        self._A: Csr | None = None
        self._core: _core.Solver | None = None
        self._stream: Any = None  # of the arrays of a GPU that came last: kept alive
        self._report: Report | None = None
        self._last: tuple[Any, int, list[tuple[int, float]]] = (None, 0, [])
        self._new_core(False)  # bad options are told now

    def _new_core(self, is_complex: bool) -> "_core.Solver":
        with translated():
            core = _core.Solver(is_complex)
            for name, value in self._options.items():
                core.set(name, value)
        if self._history_asked or self._progress:
            core.listen(self._heard)
        return core

    def _heard(self, phase: int, done: int, total: int, residual: float) -> None:
        if self._history_asked and phase == 1:
            self._history.append((done, residual))
        if self._progress:
            self._progress("solve" if phase else "setup", done, total, residual)

    def _ready(self) -> "tuple[_core.Solver, Csr]":
        if self._core is None or self._A is None:
            raise InvalidInput("analyse(A) comes first")
        return self._core, self._A

    def analyse(self, A: Any, systems: float = 1, columns: float = 1) -> "LinearSolver":
        """Decides the strategy. `systems`: how many of this pattern are to come; `columns`: right-hand sides of each. The more of either,
        the more a direct solution pays. Both are finite and 1 or more; other numbers may follow all the same."""
        csr = as_csr(A)
        core = self._new_core(csr.is_complex)
        stream = self._follow(core, csr.values) if csr.on_device else None
        self._give_vectors(core, csr)
        with translated():
            core.analyse(csr.row_ptr, csr.col, csr.values, float(systems), float(columns))
        self._core, self._A, self._report, self._last = core, csr, None, (None, 0, [])
        self._stream = stream
        return self

    def _give_vectors(self, core: "_core.Solver", A: Csr) -> None:
        for name, given in (("null_space", self._null_space), ("near_null", self._near_null)):
            if given is not None:
                V = _columns_for(name, given, A.n, A.is_complex and name == "null_space")
                with translated():
                    core.set_vectors(name == "near_null", A.n, V.shape[1], V)

    def _follow(self, core: "_core.Solver", array: Any) -> Any:
        """What follows reads and writes arrays of a GPU in the order of the stream that the library of this one works on now."""
        device, address, stream = current_stream(array)
        with translated():
            core.set_stream(device, address)
        return stream

    def _values_of(self, A: Any) -> Any:
        core, mine = self._ready()
        refuse_masked(A)
        if is_of_jax(A) and getattr(A, "ndim", 2) == 1:
            A = np.asarray(A)
        if getattr(A, "ndim", 2) == 1 and mine.converted:
            raise InvalidInput("the analysed matrix was converted to CSR, so its values have another order: give the matrix")
        if isinstance(A, np.ndarray) and A.ndim == 1:
            values = np.ascontiguousarray(A, dtype=mine.values.dtype if not mine.on_device else None)
            if np.iscomplexobj(A) and not mine.is_complex:
                raise InvalidInput("the values are complex, and the analysed matrix is real")
        elif is_on_device(A) and getattr(A, "ndim", 2) == 1:
            values = packed_on_device(A)
            self._stream = self._follow(core, values)
        else:
            csr = as_csr(A)
            if csr.is_complex != mine.is_complex:
                raise InvalidInput("a real matrix was analysed, and this is complex, or the other way")
            if device_of(csr) != device_of(mine):
                raise InvalidInput("values and the analysed matrix are on different devices")
            if not same_pattern(csr, mine):
                raise InvalidInput("the matrix has another pattern than the analysed one")
            values = csr.values
            if csr.on_device:
                self._stream = self._follow(core, values)
        if len(values) != len(mine.col):
            raise InvalidInput(f"{len(values)} values for a pattern of {len(mine.col)} entries")
        if is_on_device(values) != mine.on_device:
            raise InvalidInput("values and the analysed matrix are on different devices")
        return values

    def factor(self, A: Any = None) -> "LinearSolver":
        """Factors the analysed numbers, or others of the same pattern: a matrix, or its values in the same order.

        Raises SingularMatrix, NotConverged or OutOfMemory where there are no factors."""
        core, _ = self._ready()
        values = None if A is None else self._values_of(A)
        with translated():
            status = core.factor(None if values is None else handed(values))
        return self._told(core, status)

    def refactor(self, A: Any) -> "LinearSolver":
        """New numbers: by the former pivots or preconditioner where they serve."""
        core, _ = self._ready()
        values = self._values_of(A)
        with translated():
            status = core.refactor(handed(values))
        return self._told(core, status)

    def _told(self, core: "_core.Solver", status: int) -> "LinearSolver":
        if status != 0:
            raise error_of(status, core.message())
        return self

    def solve(self, b: Any, trans: str = "N", x0: Any = None, check: bool = True) -> Any:
        """Solves A x = b, Aᵀ x = b (trans "T") or Aᴴ x = b ("H"); b is of n numbers, or n × k.

        x is a new array of b's shape. A complex b of a real A is solved as its two parts: `reports` has those of the real parts first. x0: the guess; it is used with the option sequence.reuse_x. Where x does not meet the tolerance
        NotConverged is raised, with x and report, unless check is False: then `report` alone says so."""
        core, A = self._ready()
        if is_on_device(b):
            return self._solve_on_device(core, A, b, trans, x0, check)
        self._require_on_host(A)
        b = host_array(b)
        self._require_shape(b.shape, A.n)
        if x0 is not None and np.shape(x0) != b.shape:
            raise InvalidInput(f"x0 has the shape {np.shape(x0)}, and b {b.shape}")
        in_parts = b.dtype.kind == "c" and not A.is_complex  # A x = b for real and imaginary parts, twice as many columns
        B, guess = (parts_of(b), parts_of(x0)) if in_parts else (b, x0)
        B = np.asfortranarray(vector_values(B, A.is_complex))  # column after column in memory: what is so already is not copied
        X = np.zeros(B.shape, B.dtype, order="F") if guess is None else np.array(vector_values(guess, A.is_complex), order="F")
        x = (lambda: joined(X, b.shape)) if in_parts else (lambda: X)
        self._run(core, trans, B, X, A.n, 1 if B.ndim == 1 else B.shape[1], check, x)
        return x()

    def _require_shape(self, shape: Any, n: int) -> None:
        if len(shape) not in (1, 2) or shape[0] != n:
            raise InvalidInput(f"b has the shape {tuple(shape)}, and A {n} rows")

    def _run(self, core: "_core.Solver", trans: str, B: Any, X: Any, n: int, columns: int,
             check: bool, x: Callable[[], Any]) -> None:
        self._history, self._report, self._last = [], None, (None, 0, [])
        with translated():
            status = core.solve(op_of(trans), columns, handed(B), n, handed(X), n)
        history, self._history = self._history, []
        self._last = (core, columns, history)
        if status == 0 or not check:
            return
        error = error_of(status, core.message())
        error.x = x()  # type: ignore[attr-defined]
        error.report = self.report  # type: ignore[attr-defined]
        raise error

    def _require_on_host(self, A: Csr) -> None:
        if A.on_device:
            raise InvalidInput("b is on the host, and the analysed matrix on a GPU")

    def _require_on_device(self, A: Csr, b: Any) -> None:
        if is_of_jax(b):
            raise InvalidInput("an array of JAX cannot be written to, so x cannot lie on the GPU: pass numpy.asarray(b)")
        if not A.on_device:
            raise InvalidInput("b is on a GPU, and the analysed matrix on the host")
        self._require_shape(b.shape, A.n)
        if type_name(b.dtype) != type_name(A.values.dtype):
            raise InvalidInput(f"b is of {b.dtype}, and A of {A.values.dtype}")

    def _solve_on_device(self, core: "_core.Solver", A: Csr, b: Any, trans: str, x0: Any, check: bool) -> Any:
        self._require_on_device(A, b)
        B = columns_on_device(b)
        if x0 is None:
            X = zeros_on_device(B)
        else:
            if not is_on_device(x0) or tuple(x0.shape) != tuple(b.shape) or str(x0.dtype) != str(b.dtype):
                raise InvalidInput("x0 must be of the shape, type and device of b")
            X = columns_on_device(x0)
            X = X.clone() if hasattr(X, "clone") else X.copy()
        x = X if X.ndim == 1 else X.T
        self._stream = self._follow(core, B)
        self._run(core, trans, B, X, A.n, 1 if b.ndim == 1 else b.shape[1], check, lambda: x)
        return x

    def precondition(self, r: Any, trans: str = "N") -> Any:
        """M⁻¹ r, once, by the factors at hand: M is the preconditioner, or A where the solution is direct. Of an r on a GPU it lies there."""
        core, A = self._ready()
        if is_on_device(r) and not is_of_jax(r):
            self._require_on_device(A, r)
            R = columns_on_device(r)
            Z = empty_on_device(R)
            self._stream = self._follow(core, R)
            with translated():
                core.precondition(op_of(trans), 1 if r.ndim == 1 else r.shape[1], handed(R), A.n, handed(Z), A.n)
            return Z if r.ndim == 1 else Z.T
        self._require_on_host(A)
        r = vector_values(r, A.is_complex)
        self._require_shape(r.shape, A.n)
        R = np.asfortranarray(r)
        Z = np.empty(r.shape, r.dtype, order="F")
        with translated():
            core.precondition(op_of(trans), 1 if r.ndim == 1 else r.shape[1], R, A.n, Z, A.n)
        return Z

    def solve_batch(self, values: Any, B: Any) -> np.ndarray:
        """Solves members systems of the analysed pattern, together where a direct solution's pivots serve.

        values: members × nnz in the order of the analysed CSR matrix; B: members × n. @return X, members × n"""
        core, A = self._ready()
        B = np.ascontiguousarray(vector_values(B, A.is_complex))
        values = np.ascontiguousarray(vector_values(values, A.is_complex))
        if B.ndim != 2 or B.shape[1] != A.n or values.shape != (B.shape[0], len(A.col)):
            raise InvalidInput(f"values of shape {values.shape} and B of shape {B.shape} for {A.n} rows and {len(A.col)} entries")
        X = np.zeros_like(B)
        with translated():
            status = core.solve_batch(B.shape[0], values, B, X)
        self._last, self._report = (core, B.shape[0], []), None
        self._told(core, status)
        return X

    @property
    def shape(self) -> tuple[int, int]:
        _, A = self._ready()
        return A.n, A.n

    @property
    def report(self) -> Report:
        """Of the last solve; of several columns the first that did not converge, else the last."""
        if self._report is None:
            core, columns, history = self._last
            if core is None or columns == 0:
                raise InvalidInput("there is no solution to report of")
            with translated():
                bad = [k for k in range(columns) if core.result(k)["outcome"] != "converged"]
                self._report = Report(core.report(bad[0] if bad else columns - 1), history)
        return self._report

    @property
    def reports(self) -> list[Report]:
        """Of the last solve, one for each column of b or member of a batch. What analysis and factorization decided stands in the first."""
        core, columns, history = self._last
        if core is None:
            raise InvalidInput("there is no solution to report of")
        with translated():
            return [Report(core.report(k), history if columns == 1 else []) for k in range(columns)]

    @property
    def options(self) -> dict[str, Any]:
        """All options with their values."""
        return json.loads((self._core or self._new_core(False)).options())

    def cancel(self) -> None:
        """From another thread: ends the call under way."""
        if self._core is not None:
            self._core.cancel()

    def __repr__(self) -> str:
        of = f" of {self._A.n} x {self._A.n}" if self._A else ""
        return f"<ilux.LinearSolver{of} {self._options}>"


def sequence(matrices: Iterable[Any], rhs: Iterable[Any], systems: float | None = None, **options: Any) -> Iterator[tuple[Any, Report]]:
    """Solves one system after another, all of one pattern: (x, report) for each. Pivots and preconditioners are kept while they serve.
    systems: how many, where matrices do not tell; columns are counted by the first of rhs."""
    solver: LinearSolver | None = None
    for A, b in zip(matrices, rhs, strict=True) if hasattr(matrices, "__len__") and hasattr(rhs, "__len__") else zip(matrices, rhs):
        if solver is None:
            if systems is None:
                systems = len(matrices) if hasattr(matrices, "__len__") else 100  # type: ignore[arg-type]
            solver = LinearSolver(**options).analyse(A, systems, column_count(b)).factor()
        else:
            solver.refactor(A)
        yield solver.solve(b, check=False), solver.report

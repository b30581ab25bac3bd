"""Several strategies on one system, side by side."""

from __future__ import annotations

import json
from typing import Any, Iterable, Iterator, Mapping, Sequence

import numpy as np

from . import _core, notebook
from .arrays import Csr, as_csr, vector_values
from .errors import InvalidInput, InvalidOption, translated
from .solver import _flat

Row = dict[str, Any]


class Comparison(Sequence[Row]):
    """A row for each strategy, a dict with the keys that `ilux compare --json` prints, and "name". By number, or by name; a strategy
    that ran on several devices has its faster row by its own name, and each row by the name with the device."""

    def __init__(self, rows: list[Row], rtol: float) -> None:
        self.rows = rows
        self.rtol = rtol

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, str):
            found = [k for k, row in enumerate(self.rows) if which in (row["name"], row["name"].removesuffix(f", {row['device']}"))]
            if not found:
                raise KeyError(which)
            fastest = self._fastest(found)
            return self.rows[found[0] if fastest is None else fastest]
        return self.rows[which]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def _fastest(self, among: Iterable[int]) -> int | None:
        solved = [k for k in among if self.rows[k]["outcome"] == "converged" and self.rows[k]["seconds"]["total"] is not None]
        return min(solved, key=lambda k: self.rows[k]["seconds"]["total"], default=None)

    def _winner(self) -> int | None:
        return self._fastest(range(len(self.rows)))

    @property
    def winner(self) -> Row | None:
        """Of those whose x meets the tolerance the one with the least seconds of setup and one solve; None: there is none."""
        k = self._winner()
        return None if k is None else self.rows[k]

    def _cells(self) -> list[list[Any]]:
        return [[row["name"], row["method"], row["precond"], row["device"], row["seconds"]["setup"], row["seconds"]["refactor"],
                 row["seconds"]["solve"], row["steps"], row["relative_residual"],
                 f"{row['outcome']}: {row['detail']}" if row["detail"] else row["outcome"]] for row in self.rows]

    _columns = ("name", "method", "preconditioner", "device", "setup, s", "refactor, s", "solve, s", "steps", "residual", "outcome")

    def __str__(self) -> str:
        def word(value: Any) -> str:
            return "-" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)

        lines = [list(self._columns), *([word(value) for value in row] for row in self._cells())]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self._columns))]
        return "\n".join("  ".join(one.ljust(width) for one, width in zip(line, widths)).rstrip() for line in lines)

    def __repr__(self) -> str:
        winner = self.winner
        best = f"{winner['name']} with {winner['seconds']['total']:.3g} s" if winner else "none"
        return f"<ilux comparison of {len(self.rows)}, winner: {best}>"

    def _repr_html_(self) -> str:
        winner = self.winner
        first = f"{winner['name']} is the fastest" if winner else "none of them solves the system"
        note = f"{first}: setup and one solve to ‖b − A x‖₂ ≤ {self.rtol:g}·‖b‖₂, recomputed from A, b and x."
        return notebook.grid(self._columns, self._cells(), self._winner()) + f"<p>{notebook.text(note)}</p>"

    def plot(self, ax: Any = None) -> Any:
        """A bar for each strategy, setup and one solve; without a bar: no x that meets the tolerance. Needs matplotlib. @return the axes"""
        if ax is None:
            import matplotlib.pyplot as pyplot

            ax = pyplot.subplots(figsize=(6.4, 1 + 0.5 * len(self.rows)), layout="constrained")[1]
        solved = [row["outcome"] == "converged" for row in self.rows]
        setup, solve = ([(row["seconds"][part] or 0.0) if ok else 0.0 for row, ok in zip(self.rows, solved)] for part in ("setup", "solve"))
        places = list(range(len(self.rows)))
        ax.barh(places, setup, label="setup")
        ax.barh(places, solve, left=setup, label="solve")
        for place, row, ok in zip(places, self.rows, solved):
            if not ok:
                ax.annotate(row["outcome"], (0, place), xytext=(4, 0), textcoords="offset points", va="center")
        ax.set_yticks(places, [row["name"] for row in self.rows])
        ax.invert_yaxis()
        ax.set_xlabel("seconds")
        ax.legend()
        return ax


def _named(strategies: Any) -> list[tuple[str, Mapping[str, Any]]]:
    if isinstance(strategies, Mapping):
        return [(str(name), options) for name, options in strategies.items()]
    if isinstance(strategies, str):
        strategies = strategies.split(",")
    modes = {"iterative": {"mode": "iterative"}, "direct": {"mode": "direct"}, "lu": {"mode": "direct"}, "auto": {"mode": "auto"}}
    return [(name, modes.get(name, {"method": name})) for name in strategies]


def _b_of(csr: Csr, b: Any) -> Any:
    if csr.on_device:
        raise InvalidInput("a comparison takes a matrix of the host: it copies it to the device itself, as part of what it measures")
    b = vector_values(b, csr.is_complex)
    if b.shape != (csr.n,):
        raise InvalidInput(f"b has the shape {b.shape}, and A {csr.n} rows")
    return np.ascontiguousarray(b)


def compare(A: Any, b: Any, strategies: Any = ("direct", "iterative"), repeats: int = 3, **options: Any) -> Comparison:
    """Solves A x = b by each strategy, one after another, and measures them by their phases; every x is judged by its true residual.

    strategies: names ("direct", "iterative", "auto", or a method such as "cg"), or a mapping of your names to options::

        ilux.compare(A, b, {"LU": {"method": "lu"}, "loose": {"precond.drop_tol": 1e-1}, "tight": {"precond.drop_tol": 1e-3}})

    options hold for all. device "auto": each on the CPU and, where there is one, on a GPU. repeats: of what takes at most a second;
    the median counts. time_limit is for each strategy; one that fails is a row all the same."""
    csr = as_csr(A)
    b = _b_of(csr, b)
    rows: list[Row] = []
    rtol = 0.0
    for name, own in _named(strategies):
        given = {**dict(_flat(options)), **dict(_flat(own))}
        mode = given.pop("mode", None)
        named = given.get("method", "auto")
        direct = named == "lu" or (mode == "direct" and "method" not in own)
        strategy = "direct" if direct else "auto" if mode == "auto" and named == "auto" else "iterative"
        if strategy != "iterative":
            given.pop("method", None)
        with translated():
            core = _core.Solver(csr.is_complex)
            for key, value in given.items():
                core.set(key, value)
            told = json.loads(core.compare(csr.row_ptr, csr.col, csr.values, b, strategy, repeats))
        found = told["rows"]
        rtol = told["rtol"]
        rows += [{"name": name if len(found) == 1 else f"{name}, {row['device']}", **row} for row in found]
    if not rows:
        raise InvalidOption("strategies: there is none to compare")
    return Comparison(rows, rtol)

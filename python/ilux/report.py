"""What became of a solution, for programs, terminals and notebooks."""

from __future__ import annotations

from typing import Any

from . import notebook
from .json_tree import JsonTree


class Report(JsonTree):
    """The keys that `ilux solve --json` prints, as a read-only mapping; the most asked for as attributes, too.

    `history` holds (step, relative residual) where `LinearSolver(history=True)` asked for it.
    """

    def __init__(self, text: str, history: list[tuple[int, float]] | None = None) -> None:
        super().__init__(text)
        self.history: list[tuple[int, float]] = history or []

    @property
    def converged(self) -> bool:
        return self._tree["outcome"] == "converged"

    @property
    def outcome(self) -> str:
        return self._tree["outcome"]

    @property
    def steps(self) -> int:
        return self._tree["steps"]

    @property
    def relative_residual(self) -> float:
        """‖b − A x‖₂ / ‖b‖₂, recomputed from A, b and x."""
        value = self._tree["relative_residual"]
        return float("nan") if value is None else value

    @property
    def decisions(self) -> list[str]:
        """Every choice that was made for you, a sentence each."""
        return self._tree.get("decisions", [])

    def __repr__(self) -> str:
        return f"<ilux report: {self.outcome} in {self.steps} steps, residual {self.relative_residual:.2e}>"

    def _repr_html_(self) -> str:
        keys = ("outcome", "steps", "relative_residual", "backward_error", "method", "precond", "seconds", "memory_bytes", "decisions")
        return notebook.facts((key.replace("_", " "), self[key]) for key in keys if key in self)

    def plot(self, ax: Any = None) -> Any:
        """The convergence curve. Needs matplotlib, and a solver made with history=True. @return the axes"""
        if not self.history:
            raise ValueError("there is no history: make the solver with history=True; a direct solution has none")
        if ax is None:
            import matplotlib.pyplot as pyplot

            ax = pyplot.subplots()[1]
        ax.semilogy([step for step, _ in self.history], [residual for _, residual in self.history])
        ax.set_xlabel("step")
        ax.set_ylabel("relative residual")
        return ax

"""What can be said of a matrix before it is factored."""

from __future__ import annotations

from typing import Any

from . import _core, notebook
from .arrays import as_csr, current_stream
from .errors import translated
from .json_tree import JsonTree


class Info(JsonTree):
    """The keys that `ilux info --json` prints, as a read-only mapping (dict(info) copies it); the most asked for as attributes, too."""

    @property
    def n(self) -> int:
        return self._tree["matrix"]["rows"]

    @property
    def nnz(self) -> int:
        """Stored entries, zeros among them."""
        return self._tree["matrix"]["nnz"]

    @property
    def is_complex(self) -> bool:
        return self._tree["matrix"]["complex"]

    @property
    def symmetric(self) -> bool:
        """A = Aᵀ, exactly."""
        return self._tree["matrix"]["symmetric"]

    @property
    def hermitian(self) -> bool:
        """A = Aᴴ, exactly; of real values the same as symmetric."""
        return self._tree["matrix"]["hermitian"]

    @property
    def pattern_symmetric(self) -> bool:
        return self._tree["matrix"]["pattern_symmetric"]

    @property
    def diagonally_dominant(self) -> bool:
        """|a_ii| ≥ Σ |a_ij| over j ≠ i, in every row."""
        return self.dominant_rows == self.n

    @property
    def dominant_rows(self) -> int:
        return self._tree["diagonal"]["dominant_rows"]

    @property
    def structural_rank(self) -> int:
        """Below n: A is singular whatever its values are."""
        return self._tree["matching"]["structural_rank"]

    @property
    def blocks(self) -> int | None:
        """Diagonal blocks of the block triangular form; None where A is structurally singular."""
        return self._tree["lu"] and self._tree["lu"]["blocks"]

    @property
    def largest_block(self) -> int | None:
        return self._tree["lu"] and self._tree["lu"]["largest_block"]

    @property
    def recommended(self) -> str | None:
        """The method that `solve` would begin with: "lu", "cg" or "gmres"; None where A is structurally singular."""
        return self._tree["recommended"] and self._tree["recommended"]["method"]

    @property
    def reasons(self) -> list[str]:
        """Why that is recommended, a sentence each, with the figures that decided."""
        return self._tree["recommended"]["decisions"] if self._tree["recommended"] else []

    def _symmetry(self) -> str:
        if self.is_complex and self.symmetric:
            return "Hermitian and symmetric" if self.hermitian else "symmetric (A = Aᵀ), not Hermitian"
        if self.hermitian:
            return "Hermitian (A = Aᴴ)" if self.is_complex else "symmetric"
        if self._tree["matrix"]["skew_symmetric"]:
            return "skew-symmetric (A = −Aᵀ)"
        return "of the pattern alone" if self.pattern_symmetric else "none"

    def _rows(self) -> list[tuple[str, Any]]:
        lengths, band, values, lu = (self._tree[key] for key in ("row_lengths", "bandwidth", "values", "lu"))
        rows: list[tuple[str, Any]] = [
            ("size", f"{self.n} × {self.n}, {self.nnz} entries{', complex' if self.is_complex else ''}"),
            ("symmetry", self._symmetry()),
            ("entries of a row", f"{lengths['min']} to {lengths['max']}, {lengths['mean']:.1f} in the mean"),
            ("bandwidth", f"{band['lower']} below and {band['upper']} above the diagonal"),
            ("sizes of values", f"{values['smallest']:.2e} to {values['largest']:.2e}"),
            ("dominant rows", f"{self.dominant_rows} of {self.n}"),
            ("structural rank", f"{self.structural_rank} of {self.n}")]
        if lu:
            rows += [("block triangular form", f"{self.blocks} diagonal block{'' if self.blocks == 1 else 's'}, the largest of {self.largest_block}"),
                     ("LU, predicted", f"{lu['predicted_nnz']:.3g} entries, {lu['predicted_flops']:.2g} flops, ordered by {lu['ordering']}")]
        if self.recommended:
            precond = self._tree["recommended"]["precond"]
            rows.append(("recommended", [self.recommended if precond == "none" else f"{self.recommended} with {precond}", *self.reasons]))
        else:
            rows.append(("recommended", "none: A is structurally singular"))
        return rows

    def __repr__(self) -> str:
        return f"<ilux info: {self.n} x {self.n}, {self.nnz} entries, symmetry: {self._symmetry()}, recommended: {self.recommended}>"

    def _repr_html_(self) -> str:
        return notebook.facts(self._rows())


def info(A: Any, levels: bool = False) -> Info:
    """Looks at a square matrix without solving: symmetry, diagonal, matching, block triangular form, what an LU would take, and which
    method `solve` would begin with. levels: factor as well, and tell the levels of L + U."""
    csr = as_csr(A)
    with translated():
        core = _core.Solver(csr.is_complex)
        if csr.on_device:
            device, address, _ = current_stream(csr.values)
            core.set_stream(device, address)
        return Info(core.info(csr.row_ptr, csr.col, csr.values, levels))

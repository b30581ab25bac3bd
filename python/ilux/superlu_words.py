"""What scipy.sparse.linalg's splu, spilu and spsolve call their settings, as options of ours."""

from __future__ import annotations

from typing import Any

from .errors import InvalidInput

# COLAMD orders the columns as MMD_ATA does, by the structure of AᵀA; AMD is a minimum degree ordering of A + Aᵀ.
_LU_ORDERINGS = {"NATURAL": "none", "MMD_ATA": "colamd", "MMD_AT_PLUS_A": "amd", "COLAMD": "colamd"}
_ILU_ORDERINGS = {"NATURAL": "none", "MMD_ATA": "amd", "MMD_AT_PLUS_A": "amd", "COLAMD": "amd"}  # A is symmetrized for all


def _of(table: dict[str, str], permc_spec: Any) -> str:
    if permc_spec not in table:
        raise InvalidInput(f"permc_spec is {permc_spec!r}, not one of {', '.join(table)}")
    return table[permc_spec]


def _refuse(instead: dict[str, str], **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidInput(f"{name} is a setting of SuperLU that ilux has nothing for: {instead[name]}")


def lu_options(permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None,
               superlu: dict[str, Any] | None = None) -> dict[str, Any]:
    """Options of an LU. @param superlu  what SciPy takes as `options`"""
    _refuse({"relax": 'leave it out; lu={"supernodes": "on"} or "off" chooses the storage',
             "panel_size": 'leave it out; lu={"supernodes": "on"} or "off" chooses the storage'}, relax=relax, panel_size=panel_size)
    found: dict[str, Any] = {}
    for name, value in (superlu or {}).items():
        if name == "ColPerm":
            permc_spec = value
        elif name == "DiagPivotThresh":
            diag_pivot_thresh = value
        elif name == "Equil":
            found["lu.scaling"] = "rows" if value else "none"
        elif name != "SymmetricMode":  # which prefers pivots on the diagonal, as lu.pivot_tol does in any case
            raise InvalidInput(f"options: {name} is a setting of SuperLU that ilux has nothing for: ColPerm, DiagPivotThresh, Equil and "
                               "SymmetricMode are understood, and `ilux solve --help-all` lists options of ilux")
    if permc_spec is not None:
        found["lu.ordering"] = _of(_LU_ORDERINGS, permc_spec)
    if diag_pivot_thresh is not None:
        found["lu.pivot_tol"] = float(diag_pivot_thresh)
    return found


def ilu_options(permc_spec: Any = None, drop_rule: Any = None, diag_pivot_thresh: Any = None, relax: Any = None,
                panel_size: Any = None, superlu: dict[str, Any] | None = None) -> dict[str, Any]:
    """Options of a multilevel ILU."""
    words = "leave it out; drop_tol and fill_factor say how much is kept"
    _refuse({"drop_rule": words, "relax": words, "panel_size": words, "options": "ilux's options are keywords: precond={...}",
             "diag_pivot_thresh": 'a bad pivot goes to the next level: precond={"inverse_bound": ...} says which are'},
            drop_rule=drop_rule, diag_pivot_thresh=diag_pivot_thresh, relax=relax, panel_size=panel_size, options=superlu or None)
    return {} if permc_spec is None else {"precond.ordering": _of(_ILU_ORDERINGS, permc_spec)}

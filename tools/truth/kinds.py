"""Every kind of system and every configuration of the solver, by name."""

import zlib

import numpy

from truth import draw_regular, draw_series, draw_singular
from truth.systems import drawn

GROUNDED = [name for name in draw_singular.FAMILIES if name not in ("skew", "curl", "truss", "structural")]  # a few grounds make them regular
SINGLE = (
    {f"s1.{name}": make for name, make in draw_regular.S1.items()}
    | {f"s3.{name}": draw_singular.consistent(name) for name in draw_singular.FAMILIES}
    | {f"near.{name}": draw_singular.near(name) for name in GROUNDED}
    | {f"near.{name}_rounded": draw_singular.near_rounded(name) for name in ("neumann", "nets", "stokes", "convection")}
    | {"near.rounded": draw_singular.rounded}
    | {f"units.{name}": make for name, make in draw_regular.UNITS.items()}
    | {f"inconsistent.{name}": draw_singular.inconsistent(name) for name in draw_singular.FAMILIES}
    | {"plain.any": draw_regular.plain}
    | {"large.block": draw_regular.large_block, "large.floating": draw_singular.large}
)
SERIES = {f"s2.{name}": draw_series.series(name) for name in draw_series.SERIES}
KINDS = SINGLE | SERIES

NO_LU = {"mode": "iterative"}
STOP_ERROR = {"krylov.stop": "error"}
OF_SINGLE = {
    "auto": {},
    "auto.nolu": NO_LU,
    "lu": {"method": "lu"},
    "gmres.error": {"method": "gmres"} | STOP_ERROR,
    "bicgstab.error": {"method": "bicgstab"} | STOP_ERROR,
    "cg.error": {"method": "cg"} | STOP_ERROR,
    "minres.error": {"method": "minres"} | STOP_ERROR,
    "bicg.error": {"method": "bicg"} | STOP_ERROR,
    "sqmr.error": {"method": "sqmr"} | STOP_ERROR,
    "cocg.error": {"method": "cocg"} | STOP_ERROR,
    "none.error": {"method": "gmres", "precond.kind": "none"} | STOP_ERROR,
    "mixed.error": {"method": "gmres", "krylov.precision": "mixed"} | STOP_ERROR,
    "ilu0.error": {"method": "gmres", "precond.kind": "ilu0"} | STOP_ERROR,
    "jacobi.error": {"method": "gmres", "precond.kind": "jacobi"} | STOP_ERROR,
    "gmres": {"method": "gmres"},
    "bicgstab": {"method": "bicgstab"},
    "cg": {"method": "cg"},
    "minres": {"method": "minres"},
    "ilu0": {"method": "gmres", "precond.kind": "ilu0"},
}
OF_SERIES = {
    "series.auto": {},
    "series.auto.nolu": NO_LU,
    "series.lu": {"method": "lu"},
    "series.error": {"method": "gmres"} | STOP_ERROR,
    "series.gmres": {"method": "gmres"},
    "batch.auto": {},
    "batch.lu": {"method": "lu"},
    "batch.kept": {"method": "lu"},  # by factors made before
    "batch.error": {"method": "gmres"} | STOP_ERROR,
}
FIXED = ("gmres", "bicgstab", "cg", "minres", "ilu0", "series.gmres")  # told to stop at a residual
TURNS = {"s1": 4, "s3": 2, "near": 2, "units": 2, "inconsistent": 1, "plain": 4, "s2": 1}  # draws of a kind in a round
LARGE_EVERY = 4  # rounds: large systems take their time
COMMON = {"device": "cpu", "threads": "1", "time_limit": "30"}


def options_of(config):
    return COMMON | (OF_SINGLE | OF_SERIES)[config]


def configs_of(kind):
    return OF_SERIES if kind in SERIES else OF_SINGLE


def suits(config, system):
    """CG and MINRES need A = Aᴴ, SQMR and COCG A = Aᵀ, and COCG is for complex numbers."""
    method = config.split(".")[0]
    if method in ("cg", "minres"):
        return system.hermitian
    if method in ("sqmr", "cocg"):
        return system.symmetric and (method == "sqmr" or numpy.iscomplexobj(system.A.data))
    return True


def draw(kind, seed):
    """The systems of a kind and seed: one, or the members of a series. They depend on nothing else."""
    systems = drawn(KINDS[kind], numpy.random.default_rng([zlib.crc32(kind.encode()), seed]))
    return systems if isinstance(systems, list) else [systems]


def seeds(kind, turn):
    """Those of a kind in this round."""
    main = kind.split(".")[0]
    if main == "large":
        return range(turn // LARGE_EVERY, turn // LARGE_EVERY + (turn % LARGE_EVERY == 0))
    return range(turn * TURNS[main], (turn + 1) * TURNS[main])

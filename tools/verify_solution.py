"""Judges x without ilux: A read by SciPy, residuals in extended precision."""
import dataclasses
import gzip
import math
import warnings

import numpy
import scipy.io

EXTENDED = numpy.longdouble
EXTENDED_COMPLEX = numpy.clongdouble
COMPONENTWISE_LIMIT = 1e-12  # a direct solution's success rule, docs/design/apps.md


@dataclasses.dataclass
class Measures:
    residual: float  # ‖b − A x‖₂ / ‖b‖₂
    componentwise: float  # max_i |b − A x|_i / (|A||x| + |b|)_i
    forward: float  # ‖x − 1‖∞
    rounding: float  # bound of what rounding in double may do to a computed ‖b − A x‖₂ / ‖b‖₂


def extended(values):
    return values.astype(EXTENDED_COMPLEX if numpy.iscomplexobj(values) else EXTENDED)


def rounded_once(values):
    """Their sum."""
    if numpy.iscomplexobj(values):
        return complex(math.fsum(values.real), math.fsum(values.imag))
    return math.fsum(values)


def norm2(values):
    return numpy.sqrt(numpy.sum(numpy.abs(extended(values)) ** 2))


class System:
    """A x = b, real or complex, b being the row sums of A, each rounded once."""

    def __init__(self, path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            A = scipy.io.mmread(gzip.open(path) if path.suffix == ".gz" else path)
        A = scipy.sparse.coo_array(A)
        order = numpy.argsort(A.row, kind="stable")
        self.n, self.row, self.col = A.shape[0], A.row[order], A.col[order]
        self.complex = numpy.iscomplexobj(A.data)
        self.val = A.data[order].astype(numpy.complex128 if self.complex else numpy.float64)
        self.begin = numpy.searchsorted(self.row, numpy.arange(self.n + 1))
        self.b = numpy.array([rounded_once(self.val[p:q]) for p, q in zip(self.begin, self.begin[1:])])

    def sums(self, terms):
        """Σ of each row's terms; empty rows give 0, which reduceat alone would not."""
        full = numpy.flatnonzero(self.begin[1:] > self.begin[:-1])
        out = numpy.zeros(self.n, terms.dtype)
        out[full] = numpy.add.reduceat(terms, self.begin[full]) if len(full) else 0
        return out

    def write_b(self, path):
        with open(path, "w") as file:
            file.write(f"%%MatrixMarket matrix array {'complex' if self.complex else 'real'} general\n{self.n} 1\n")
            file.writelines(f"{value.real!r} {value.imag!r}\n" if self.complex else f"{value!r}\n" for value in self.b.tolist())

    def measure(self, x):
        """None when x has another length or holds NaN or Inf."""
        if len(x) != self.n or not numpy.isfinite(x).all():
            return None
        terms = extended(self.val) * extended(x)[self.col]
        r = numpy.abs(extended(self.b) - self.sums(terms))
        size = self.sums(numpy.abs(terms)) + numpy.abs(extended(self.b))
        norm = norm2(self.b)
        norm = norm if norm > 0 else EXTENDED(1)
        residual = numpy.sqrt(numpy.sum(r**2)) / norm
        lengths = numpy.diff(self.begin) + 2
        rounding = numpy.finfo(float).eps * numpy.sqrt(numpy.sum((lengths * size) ** 2)) / norm
        relative = numpy.where(r == 0, EXTENDED(0), r / numpy.where(size == 0, EXTENDED(1), size))
        forward = numpy.abs(x - 1).max(initial=0)
        return Measures(float(residual), float(relative.max(initial=0)), float(forward), float(rounding))


def read_x(path):
    with open(path) as file:
        of_complex = file.readline().split()[3:4] == ["complex"]
        lines = (line for line in file if not line.startswith("%"))
        next(lines, None)  # its size
        if of_complex:
            return numpy.array([complex(*map(float, line.split())) for line in lines], dtype=numpy.complex128)
        return numpy.array(list(lines), dtype=numpy.float64)


def lie(system, report, x_path, rtol):
    """(why a claimed success is none, or "", what was measured, or None)."""
    if not x_path.is_file():
        return "no x was written", None
    found = system.measure(read_x(x_path))
    if found is None:
        return "x has the wrong length, or is not finite", None
    told = report["relative_residual"]
    if report["method"] == "lu":
        if not found.componentwise <= COMPONENTWISE_LIMIT * (1 + 1e-6):
            return f"componentwise backward error {found.componentwise:.1e}", found
    elif not found.residual <= rtol * (1 + 1e-6):
        return f"true residual {found.residual:.2e} above {rtol:g}", found
    if not (told is not None and abs(told - found.residual) <= 1e-6 * found.residual + found.rounding):
        return f"reported residual {told}, true {found.residual:.2e}", found
    return "", found

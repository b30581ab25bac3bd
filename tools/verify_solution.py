"""Judges x without ilux: A read by SciPy, residuals in extended precision.

    verify_solution.py MATRIX REPORT.json X [--rhs FILE] [--rtol R]    of `ilux solve MATRIX --rhs FILE --json --out X`

REPORT.json holds what --json printed; without --rhs b is A1. Several right-hand sides are columns of FILE and X."""
import argparse
import dataclasses
import gzip
import json
import math
import pathlib
import sys
import warnings

import numpy
import scipy.io
import scipy.sparse

EXTENDED = numpy.longdouble
EXTENDED_COMPLEX = numpy.clongdouble
COMPONENTWISE_LIMIT = 1e-12  # a direct solution's success rule over the rows that count, docs/design/apps.md
LEAST_UNKNOWN = 1e-12  # a row counts as far as its terms are not small beside this share of the largest unknown


@dataclasses.dataclass
class Measures:
    residual: float  # ‖b − A x‖₂ / ‖b‖₂
    componentwise: float  # max_i |b − A x|_i / (|A||x| + |b|)_i
    counting: float  # the same with r held against 1e-12 Σ_j |a_ij| ‖x‖∞ where that is larger
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


def read_matrix(path):
    """Of a Matrix Market file, or of SciPy or NumPy."""
    if path.suffix in (".npz", ".npy"):
        return scipy.sparse.load_npz(path) if path.suffix == ".npz" else numpy.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scipy.io.mmread(gzip.open(path) if path.suffix == ".gz" else path)


class System:
    """A x = b, real or complex, b being the row sums of A, each rounded once, or the columns of a file."""

    def __init__(self, path, rhs=None):
        A = scipy.sparse.coo_array(read_matrix(path))
        order = numpy.argsort(A.row, kind="stable")
        self.n, self.row, self.col = A.shape[0], A.row[order], A.col[order]
        self.complex = numpy.iscomplexobj(A.data)
        self.val = A.data[order].astype(numpy.complex128 if self.complex else numpy.float64)
        self.begin = numpy.searchsorted(self.row, numpy.arange(self.n + 1))
        if rhs is None:
            self.b = numpy.array([rounded_once(self.val[p:q]) for p, q in zip(self.begin, self.begin[1:])])
        else:
            B = read_matrix(rhs)
            self.b = (B.toarray() if scipy.sparse.issparse(B) else B).squeeze()

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

    def measure(self, x, column=None):
        """None when x has another length or holds NaN or Inf. column: of b, where there are several."""
        b = self.b if column is None else self.b[:, column]
        if len(x) != self.n or not numpy.isfinite(x).all():
            return None
        terms = extended(self.val) * extended(x)[self.col]
        r = numpy.abs(extended(b) - self.sums(terms))
        size = self.sums(numpy.abs(terms)) + numpy.abs(extended(b))
        norm = norm2(b)
        norm = norm if norm > 0 else EXTENDED(1)
        residual = numpy.sqrt(numpy.sum(r**2)) / norm
        lengths = numpy.diff(self.begin) + 2
        rounding = numpy.finfo(float).eps * numpy.sqrt(numpy.sum((lengths * size) ** 2)) / norm
        counted = numpy.maximum(size, LEAST_UNKNOWN * self.sums(numpy.abs(extended(self.val))) * numpy.abs(x).max(initial=0))
        relative, counting = (numpy.where(r == 0, EXTENDED(0), r / numpy.where(of == 0, EXTENDED(1), of)) for of in (size, counted))
        forward = numpy.abs(x - 1).max(initial=0)
        return Measures(float(residual), float(relative.max(initial=0)), float(counting.max(initial=0)), float(forward), float(rounding))


def read_x(path):
    """n values, or n x k for several columns."""
    if path.suffix == ".npy":
        return numpy.load(path)
    with open(path) as file:
        of_complex = file.readline().split()[3:4] == ["complex"]
        lines = (line for line in file if not line.startswith("%"))
        rows, columns = map(int, next(lines).split())
        if of_complex:
            values = numpy.array([complex(*map(float, line.split())) for line in lines], dtype=numpy.complex128)
        else:
            values = numpy.array(list(lines), dtype=numpy.float64)
    return values if columns == 1 else values.reshape((rows, columns), order="F")


def lie(system, report, x_path, rtol):
    """(why a claimed success is none, or "", what was measured, or None); of several columns of the first lie, or the worst."""
    if not x_path.is_file():
        return "no x was written", None
    x = read_x(x_path)
    if "columns" not in report:
        return lie_of_one(system, report, x, rtol)
    if x.ndim != 2 or x.shape[1] != len(report["columns"]):
        return f"x is of shape {x.shape}, and {len(report['columns'])} columns were reported", None
    worst = None
    for k, column in enumerate(report["columns"]):
        if column["outcome"] != "converged":
            continue
        why, found = lie_of_one(system, column, x[:, k], rtol, k)
        if why:
            return f"column {k + 1} (counted from 1): {why}", found
        worst = found if worst is None or found.residual > worst.residual else worst
    return "", worst


def lie_of_one(system, report, x, rtol, column=None):
    found = system.measure(x, column)
    if found is None:
        return "x has the wrong length, or is not finite", None
    told = report["relative_residual"]
    if report["method"] == "lu":
        if not found.counting <= COMPONENTWISE_LIMIT * (1 + 1e-6):
            return f"componentwise backward error {found.counting:.1e} over the rows that count", found
    elif not found.residual <= rtol * (1 + 1e-6):
        return f"true residual {found.residual:.2e} above {rtol:g}", found
    if not (told is not None and abs(told - found.residual) <= 1e-6 * found.residual + found.rounding):
        return f"reported residual {told}, true {found.residual:.2e}", found
    return "", found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrix", type=pathlib.Path)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("x", type=pathlib.Path)
    parser.add_argument("--rhs", type=pathlib.Path)
    parser.add_argument("--rtol", type=float, default=1e-8)
    args = parser.parse_args()
    why, found = lie(System(args.matrix, args.rhs), json.loads(args.report.read_text()), args.x, args.rtol)
    print(f"refuted: {why}" if why else "verified", found or "")
    return 1 if why else 0


if __name__ == "__main__":
    sys.exit(main())

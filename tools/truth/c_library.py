"""libilux.so by its C interface: single systems, series and batches."""

import ctypes
import json

import numpy

CONVERGED = "converged"


class Csr(ctypes.Structure):
    _fields_ = [
        ("n", ctypes.c_int64),
        ("row_ptr", ctypes.c_void_p),
        ("row_ptr_bits", ctypes.c_int32),
        ("memory", ctypes.c_int32),
        ("col", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
    ]


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path))
        self.lib.ilux_report.restype = ctypes.c_char_p
        self.lib.ilux_message.restype = ctypes.c_char_p
        self.lib.ilux_version.restype = ctypes.c_char_p
        for name in ("ilux_message", "ilux_destroy"):
            getattr(self.lib, name).argtypes = [ctypes.c_void_p]
        self.lib.ilux_report.argtypes = [ctypes.c_void_p, ctypes.c_int64]


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


class Solver:
    """One ilux_solver, for matrices of A's pattern."""

    def __init__(self, library, A, options, systems=1):
        self.lib, self.handle = library.lib, ctypes.c_void_p()
        self.dtype = complex if numpy.iscomplexobj(A.data) else float
        self.n = A.shape[0]
        self.row_ptr, self.col = A.indptr.astype(numpy.int64), A.indices.astype(numpy.int32)
        self.values = numpy.ascontiguousarray(A.data, dtype=self.dtype)
        if self.lib.ilux_create(int(self.dtype is complex), ctypes.byref(self.handle)) != 0:
            raise RuntimeError("ilux_create")
        for name, value in options.items():
            self.require(self.lib.ilux_set(self.handle, name.encode(), value.encode()))
        csr = Csr(self.n, address(self.row_ptr), 64, 0, address(self.col), address(self.values))
        self.require(self.lib.ilux_analyse(self.handle, ctypes.byref(csr), ctypes.c_double(systems), ctypes.c_double(1)))

    def message(self):
        return self.lib.ilux_message(self.handle).decode()

    def require(self, status):
        if status != 0:
            raise RuntimeError(f"status {status}: {self.message()}")

    def factor(self, values=None):
        """The status of the first factors, or of those of further values."""
        if values is None:
            return self.lib.ilux_factor(self.handle, None)
        values = numpy.ascontiguousarray(values, dtype=self.dtype)
        return self.lib.ilux_refactor(self.handle, address(values))

    def report(self, column=0):
        text = self.lib.ilux_report(self.handle, column)
        return json.loads(text) if text else {"outcome": "refused", "warning": "", "detail": self.message()}

    def solve(self, b):
        """x and the report."""
        b, x = numpy.ascontiguousarray(b, dtype=self.dtype), numpy.zeros(self.n, dtype=self.dtype)
        n = ctypes.c_int64(self.n)
        self.lib.ilux_solve(self.handle, 0, ctypes.c_int64(1), address(b), n, address(x), n)
        return x, self.report()

    def solve_batch(self, values, B):
        """A list of x and report, a pair a member."""
        values, B = numpy.ascontiguousarray(values, dtype=self.dtype), numpy.ascontiguousarray(B, dtype=self.dtype)
        X = numpy.zeros_like(B)
        self.lib.ilux_solve_batch(self.handle, ctypes.c_int64(len(B)), address(values), address(B), address(X))
        return [(X[k], self.report(k)) for k in range(len(B))]

    def close(self):
        self.lib.ilux_destroy(self.handle)
        self.handle = ctypes.c_void_p()


def solve_one(library, system, options):
    solver = Solver(library, system.A, options)
    try:
        solver.factor()
        return [solver.solve(system.b)]
    finally:
        solver.close()


def solve_series(library, members, options):
    """As a client does: analyse and factor the first, refactor for each further one, solve each."""
    solver, done = Solver(library, members[0].A, options, systems=len(members)), []
    try:
        for k, member in enumerate(members):
            solver.factor(member.A.data if k else None)
            done.append(solver.solve(member.b))
        return done
    finally:
        solver.close()


def solve_batch(library, members, options, factor_first):
    """All at once; by factors of the first member that are there before, or that the batch makes."""
    solver = Solver(library, members[0].A, options, systems=len(members))
    try:
        if factor_first:
            solver.factor()
        return solver.solve_batch(numpy.array([m.A.data for m in members]), numpy.array([m.b for m in members]))
    finally:
        solver.close()

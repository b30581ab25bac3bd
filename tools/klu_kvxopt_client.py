"""kvxopt.klu on random real and complex matrices: prints sums, determinants and residuals."""
import random

import kvxopt
from kvxopt import klu, matrix, spmatrix

random.seed(1)


def number(kind):
    return complex(random.uniform(-1, 1), random.uniform(-1, 1)) if kind == "z" else random.uniform(-1, 1)


def system(n, kind):
    places = {(k, k): 4 + number(kind) for k in range(n)}
    for _ in range(4 * n):
        places[random.randrange(n), random.randrange(n)] = 4 * number(kind)
    rows, columns = zip(*places)
    return spmatrix(list(places.values()), list(rows), list(columns), (n, n), kind)


def shown(value):
    return f"{value.real:.8e} {value.imag:.8e}" if isinstance(value, complex) else f"{value:.8e}"


for kind in "dz":
    for n in (1, 2, 33, 2000, 2001, 2002):
        A = system(n, kind)
        b = matrix([number(kind) for _ in range(2 * n)], (n, 2), kind)
        for trans in "NTC":
            x = +b
            klu.linsolve(A, x, trans)
            r = matrix(b)
            kvxopt.base.gemm(A, x, r, transA=trans, alpha=-1.0, beta=1.0)
            print(kind, n, trans, shown(sum(x)), max(abs(v) for v in r) < 1e-9 * max(abs(v) for v in x))
        F = klu.symbolic(A)
        N = klu.numeric(A, F)
        x = +b
        klu.solve(A, F, N, x)
        print("solve", shown(sum(x)))
        if n > 100:
            continue
        print("det", shown(klu.get_det(A, F, N)))
        L, U, P, Q, R, Fs, r = klu.get_numeric(A, F, N)
        inverse = spmatrix([1 / v for v in R.V], R.I, R.J, R.size, R.typecode)
        # P and Q are what takes L U + F to A or the other way, and R is of A's rows or of the pivots': one of these fits.
        ways = [(S, rows * A * columns) if by_pivot else (rows * S, A * columns) for S in (R, inverse) for rows in (P, P.T)
                for columns in (Q, Q.T) for by_pivot in (True, False)]
        small = min(max([abs(v) for v in (L * U + Fs - one * other).V] + [0]) for one, other in ways)
        print("factors", small < 1e-10, len(r))

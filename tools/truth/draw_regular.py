"""Kinds s1 (an unknown tiny or huge beside others), units (units of rows and columns far apart) and plain (nothing is wrong)."""

import numpy
import scipy.sparse as sparse

from truth import exact
from truth.systems import (System, box, csr, drawn, flow, grid_edges, in_complex, in_units, integers, laplacian, order, powers, reordered,
                           row_sums, spread, tree_and_more, weights, whole_numbers, with_ball_solution, with_product)  # fmt: skip


def wide_block(rng, k, decades):
    """A k × k matrix with few entries, numbers of any size within so many decades, and a b of such numbers."""
    span = int(decades * 3.32 / 2)
    fill = rng.random((k, k)) < rng.choice([0.2, 0.5, 1])
    fill[rng.permutation(k), rng.permutation(k)] = True
    if rng.random() < 0.4:
        fill |= fill.T
    A = numpy.where(fill, rng.choice([-1, 1], (k, k)) * powers(rng, (k, k), -span, span) * rng.integers(1, 10, (k, k)), 0)
    if rng.random() < 0.4:
        A = numpy.tril(A) + numpy.tril(A, -1).T
    if rng.random() < 0.3:
        A = A * (1 + 1j * rng.integers(-2, 3, (k, k))) if rng.random() < 0.5 else A + 1j * numpy.diag(abs(A).max(axis=1))
    if rng.random() < 0.5:
        b = powers(rng, k, -span, span) * rng.choice([-1, 1], k)
    else:  # the rounded product with an x of ordinary or wide size
        b = A @ (rng.integers(1, 5, k) * (powers(rng, k, -30, 30) if rng.random() < 0.5 else 1.0))
    return csr(A), b.astype(A.dtype)


def small(rng):
    A, b = wide_block(rng, int(rng.integers(2, 8)), float(rng.choice([10, 30, 60, 90])))
    return with_ball_solution(A, b, "wide block")


def hidden(rng):
    """An unknown whose terms drown in the rounding of every row but its own, or of that, too."""
    n = int(rng.integers(2, 9))
    base = wide_block(rng, n, float(rng.choice([4, 20, 60])))[0].toarray() if rng.random() < 0.6 else dominant(rng, n, 1.5).toarray()
    q, x = int(rng.integers(n)), rng.integers(1, 5, n) * rng.choice([-1, 1], n) * 1.0
    base[:, q] *= 2.0 ** -int(rng.integers(30, 90))
    base[q] *= 2.0 ** -int(rng.integers(0, 120))
    if rng.random() < 0.5:
        base[q, q] = 0
    x[q] *= 2.0 ** int(rng.integers(-20, 60))
    A = csr(base)
    return with_ball_solution(A, (A @ x).astype(A.dtype), "hidden unknown")


def block(rng):
    return beside_grid(rng, box(rng, order(rng, 40, 0.15)))


def large_block(rng):
    """The same of some thousand points, where an iteration is chosen by itself."""
    system = beside_grid(rng, (int(rng.integers(12, 20)),) * 3)
    system.known_regular = True
    return system


def beside_grid(rng, shape):
    """A good grid in its own units beside a wide block."""
    nasty = drawn(small if rng.random() < 0.5 else hidden, rng)
    edges, _ = grid_edges(shape)
    n = int(edges.max()) + 1
    good = csr(laplacian(n, edges, numpy.ones(len(edges))) + sparse.identity(n) * float(rng.choice([0.5, 0.125])))
    s = 2.0 ** int(rng.integers(-3, 4)) * 2.0 ** numpy.round(numpy.log2(abs(nasty.A.data).max() if rng.random() < 0.5 else 1))
    grid = with_product(good * s, integers(rng, n, False) * (2.0 ** int(rng.integers(-40, 41)) if rng.random() < 0.3 else 1.0), "")
    A = csr(sparse.block_diag([grid.A, nasty.A]))
    b, x = numpy.r_[grid.b, nasty.b], numpy.r_[grid.x.astype(numpy.longdouble), nasty.x]
    p = rng.permutation(len(b)) if rng.random() < 0.5 else numpy.arange(len(b))
    return System(csr(A[p][:, p]), b[p], x[p], "grid beside a wide block")


def columns(rng):
    """An ordinary matrix in units of 10 to 60 decades, and a b that makes some unknowns tiny beside others."""
    n = order(rng, 40, 0)
    A = reordered(rng, in_complex(rng, dominant(rng, n, rng.choice([1.0, 1.5, 4]))))
    rows, cols = in_units(rng, A, float(rng.choice([10, 30, 60])))
    A = exact.scaled(A, rows, cols)
    b = exact.scaled(sparse.identity(n, format="csr"), rows * rng.integers(-4, 5, n), powers(rng, n, -20, 0)).diagonal()
    b[rng.integers(n)] = rows.max()
    return with_ball_solution(A, b.astype(A.dtype), "columns in other units")


def cancel(rng):
    """Blocks [1 1; 1 1+g] in an ordinary matrix: some unknowns are differences of nearly equal numbers."""
    n = order(rng, 40, 0.05)
    A = dominant(rng, n, 2.0).tolil()
    for _ in range(int(rng.integers(1, 4))):
        i, j = rng.choice(n, 2, replace=False) if n > 1 else (0, 0)
        g = 2.0 ** -int(rng.integers(10, 49))
        for k in (i, j):
            A[k, :] = 0
        A[i, i], A[i, j], A[j, i], A[j, j] = 1, 1, 1, 1 + g
    A = reordered(rng, in_complex(rng, csr(A)))
    system = with_product(A, integers(rng, n, numpy.iscomplexobj(A.data)), "nearly equal rows")
    if not system.regular:
        raise exact.Inexact("singular")
    return system


def graded(rng):
    """Entries that fall off from corner to corner, triangles of one size, Hilbert matrices: hopeless for most unknowns, not for all."""
    n, kind = int(rng.integers(3, 17)), rng.integers(3)
    i, j = numpy.indices((n, n))
    if kind == 0:
        A = rng.choice([-1, 1], (n, n)) * rng.integers(1, 8, (n, n)) * 2.0 ** -((i + j) * int(rng.choice([1, 3, 8])))
    elif kind == 1:
        A = numpy.where(i == j, 1.0, numpy.where(j > i, -float(rng.choice([0.5, 1, 2])), 0))
        A[n - 1, 0] = 2.0 ** -int(rng.integers(0, 30))
    else:
        A = 1 / (i + j + 1.0)
    b = A @ numpy.ones(n) if rng.random() < 0.5 else rng.integers(-4, 5, n).astype(float) + (numpy.arange(n) == 0) * 9
    return with_ball_solution(csr(A), b, ("graded", "triangle", "Hilbert")[kind])


def dominant(rng, n, excess):
    """Random integers with a dominant diagonal."""
    per_row = int(rng.integers(1, 5))
    A = whole_numbers(rng, n, n, per_row / n, 9, signs=True).tolil()
    if rng.random() < 0.4:
        A = (A + A.T).tolil()
    A.setdiag(numpy.ceil(row_sums(A) * excess) + 1)
    return csr(A)


def grid(rng):
    edges, axis = grid_edges(box(rng, order(rng)))
    n = int(edges.max()) + 1
    again = lambda: csr(laplacian(n, edges, (2.0 ** rng.integers(-3, 4, 3))[axis]) + sparse.identity(n) * float(rng.choice([0.125, 1, 4])))
    A = again()
    if rng.random() < 0.4:
        A = csr(A + flow(n, edges, numpy.zeros(len(edges)), numpy.ones(len(edges))) * float(rng.integers(1, 9)))
    return in_complex(rng, A, again)


def indefinite(rng):
    """[L B; Bᵀ 0] with L positive definite, and shifted rotations: regular, zero or small diagonals."""
    n, m = int(rng.integers(2, 30)), int(rng.integers(1, 10))
    m = min(m, n)
    L = dominant(rng, n, 1.2)
    B = sparse.vstack([sparse.identity(m), whole_numbers(rng, n - m, m, 0.3, 3)])
    return in_complex(rng, csr(sparse.bmat([[(L + L.T), B], [B.T, None]])))


BASES = {"grid": grid, "dominant": lambda rng: in_complex(rng, dominant(rng, order(rng), rng.choice([1.0, 1.1, 3]))), "indefinite": indefinite}


def plain(rng):
    name = str(rng.choice(list(BASES)))
    A = reordered(rng, BASES[name](rng))
    make_x = integers if rng.random() < 0.5 else spread
    system = with_product(A, make_x(rng, A.shape[0], numpy.iscomplexobj(A.data)), name)
    if not system.regular:
        raise exact.Inexact("singular")
    return system


def unit_changes(rng):
    """An ordinary system whose rows and columns have units 40 to 80 decades apart."""
    base = plain(rng)
    rows, cols = in_units(rng, base.A, float(rng.choice([10, 40, 60, 80])))
    A = exact.scaled(base.A, rows, cols)
    return System(A, base.b * rows, base.x / cols, f"{base.note} in units", (base.A, base.x))


def transformer(rng):
    """G + jωC of coupled coils with windings that hang on next to nothing, from 10^-3 to 10^9 Hz."""
    G, C, names = [], [], {}

    def node(name):
        return names.setdefault(name, len(names))

    def stamp(where, p, q, v):
        for i, j, s in ((p, p, 1), (q, q, 1), (p, q, -1), (q, p, -1)):
            if i is not None and j is not None:
                where.append((i, j, s * v))

    pairs = int(rng.integers(1, 5))
    coils = []
    for k in range(pairs):
        a, c, d = (node((k, name)) for name in "acd")
        source = node((k - 1, "d")) if k else node("in")
        stamp(G, source, a, 1 / 10 ** rng.uniform(-3, 2))
        stamp(G, c, None, 1 / 10 ** rng.uniform(9, 13))
        stamp(G, d, None, 1 / 10 ** rng.uniform(9, 13))
        stamp(G, c, d, 1 / 10 ** rng.uniform(-1, 4))
        stamp(C, a, None, 10 ** rng.uniform(-13, -8))
        coils.append(((a, None, 10 ** rng.uniform(-4, 1.5)), (c, d, 10 ** rng.uniform(-4, 1.5))))
    coupling = float(rng.choice([1.0, 0.999, 0.45]))
    n = len(names)
    for k, (first, second) in enumerate(coils):
        for at, (p, q, inductance) in enumerate((first, second)):
            row = n + 2 * k + at
            for i, s in ((p, 1.0), (q, -1.0)):
                if i is not None:
                    G += [(i, row, s), (row, i, s)]
            C.append((row, row, -inductance))
        m = coupling * numpy.sqrt(first[2] * second[2])
        C += [(n + 2 * k, n + 2 * k + 1, -m), (n + 2 * k + 1, n + 2 * k, -m)]
    v = n + 2 * pairs
    G += [(node("in"), v, 1.0), (v, node("in"), 1.0)]
    at = lambda T: csr(sparse.coo_matrix(([t[2] for t in T], ([t[0] for t in T], [t[1] for t in T])), shape=(v + 1, v + 1)))
    b = numpy.zeros(v + 1, dtype=complex)
    b[v] = 1
    f = 10.0 ** rng.integers(-3, 10)
    return with_ball_solution(csr(at(G) + 2j * numpy.pi * f * at(C)), b, f"coils at {f:g} Hz, coupling {coupling}")


def bernoulli(t):
    return numpy.where(abs(t) < 1e-9, 1 - t / 2, t / numpy.expm1(numpy.where(t == 0, 1, t)))


def diode(rng):
    """A Jacobian of drift and diffusion in SI units: potential, electrons, holes, 10^2 to 10^24 per m³."""
    n, q, eps, thermal, ni, mobility = int(rng.integers(5, 20)), 1.6e-19, 1.04e-10, 0.02585, 1e16, 0.1
    bias, low, high = float(rng.uniform(-5, 0.6)), 10 ** rng.uniform(20, 23), 10 ** rng.uniform(21, 24)
    x = numpy.linspace(0, 1e-6, n)
    h, doping = x[1] - x[0], numpy.where(x < 5e-7, -low, high)
    psi = thermal * numpy.arcsinh(doping / (2 * ni)) + bias * (x < 5e-7)
    nn, pp = (ni * numpy.exp(numpy.clip(s * psi / thermal, -35, 32)) for s in (1, -1))
    rows, b = [], numpy.zeros(3 * n)
    put = lambda i, j, value: rows.append((i, j, value))
    for i in range(n):
        first = 3 * i
        if i in (0, n - 1):
            for k in range(3):
                put(first + k, first + k, 1.0)
            b[first] = 1e-3
            continue
        for j, value in ((first, 2 * eps / h), (first - 3, -eps / h), (first + 3, -eps / h), (first + 1, q * h), (first + 2, -q * h)):
            put(first, j, value)
        b[first] = q * h * (doping[i] - nn[i] + pp[i])
        for k, sign, density in ((first + 1, 1, nn), (first + 2, -1, pp)):
            flux, D = 0.0, q * mobility * thermal / h
            for s in (-1, 1):
                t = sign * (psi[i + s] - psi[i]) / thermal
                flux += D * (density[i] * bernoulli(t) - density[i + s] * bernoulli(-t))
                slope = D * (density[i] + density[i + s]) / 2 * sign / thermal
                for j, value in ((k, D * bernoulli(t)), (k + 3 * s, -D * bernoulli(-t)), (first + 3 * s, -slope), (first, slope)):
                    put(k, j, float(value))
            put(k, k, q * h * 1e7)
            b[k] = -flux
    A = sparse.coo_matrix(([r[2] for r in rows], ([r[0] for r in rows], [r[1] for r in rows])), shape=(3 * n, 3 * n))
    return with_ball_solution(csr(A), b, f"diode at {bias:.2f} V")


def transport(rng):
    """Upwind transport, nilpotent and growing bidiagonals, cyclic shifts."""
    n, kind = int(rng.integers(3, 60)), rng.integers(4)
    if kind == 3:
        A = csr(numpy.roll(numpy.eye(n), 1, axis=0) * powers(rng, n, -20, 20))
        return with_product(A, integers(rng, n, False), "shift")
    d, e = ((1.0, -0.999999), (10.0, 10.0), (1.0, -float(rng.choice([1.25, 1.5, 2.0, 4.0]))))[kind]
    A = sparse.diags([numpy.full(n, d), numpy.full(n - 1, e)], [0, int(rng.choice([-1, 1]))])
    b = numpy.r_[1.0, numpy.zeros(n - 1)] if rng.random() < 0.5 else numpy.ones(n)
    return with_ball_solution(csr(A), b, ("upwind", "nilpotent", "growing")[kind])


def circuit(rng):
    """Nodes with conductances of 10^-12 to 10^3, gmin at each, and voltage sources."""
    n, sources = int(rng.integers(3, 45)), int(rng.integers(1, 4))
    edges = tree_and_more(rng, numpy.arange(n), rng.choice([0.2, 1]))
    g = 10.0 ** rng.uniform(-12, 3, len(edges)) if rng.random() < 0.7 else weights(rng, len(edges))
    G = flow(n, edges, g, g) + 1e-12 * sparse.identity(n)
    nodes = rng.choice(n, size=min(sources, n - 1), replace=False)
    S = sparse.coo_matrix((numpy.ones(len(nodes)), (nodes, range(len(nodes)))), shape=(n, len(nodes)))
    A = sparse.bmat([[G, S], [S.T, None]])
    b = numpy.r_[numpy.zeros(n), rng.integers(1, 6, len(nodes))].astype(float)
    if rng.random() < 0.3:
        diagonal = numpy.r_[10.0 ** rng.uniform(-15, -9, n), numpy.zeros(len(nodes))]
        A, b = A + 2j * numpy.pi * 10.0 ** rng.integers(0, 10) * sparse.diags(diagonal), b.astype(complex)
    return with_ball_solution(csr(A), b, "circuit")


S1 = {f.__name__: f for f in (small, hidden, block, columns, cancel, graded)}
UNITS = {"changes": unit_changes, "transformer": transformer, "diode": diode, "transport": transport, "circuit": circuit}

"""Kinds s3 (singular, b in the range), near (the same, grounded by next to nothing) and inconsistent (b outside the range)."""

import numpy
import scipy.sparse as sparse

from truth import exact
from truth.systems import (System, box, csr, flow, grid_edges, in_complex, in_units, incidence, integers, laplacian, order, reordered,
                           row_sums, tree_and_more, weights, whole_numbers, with_ball_solution, with_product)  # fmt: skip


def neumann(rng):
    """Grids in 1, 2, 3 dimensions with Neumann or periodic ends, isotropic or not."""
    edges, axis = grid_edges(box(rng, order(rng)), periodic=rng.random() < 0.2)
    n = int(edges.max()) + 1
    again = lambda: laplacian(n, edges, (2.0 ** rng.integers(-6, 7, 3) if rng.random() < 0.4 else numpy.ones(3))[axis])
    return in_complex(rng, again(), again)


def nets(rng):
    """Conductances of circuits that float, in one or several parts; some parts may be grounded."""
    n = order(rng)
    parts = min(int(rng.choice([1, 1, 2, 3, 5])), n)
    cuts = numpy.sort(rng.choice(numpy.arange(1, n), parts - 1, replace=False)) if parts > 1 else []
    pieces = numpy.split(rng.permutation(n), cuts)
    edges = [e for piece in pieces for e in tree_and_more(rng, piece, rng.choice([0, 0.5, 2]))]
    if not edges:
        raise exact.Inexact("no edges")
    again = lambda: laplacian(n, edges, weights(rng, len(edges)))
    A = in_complex(rng, again(), again)
    grounded = [piece[0] for piece in pieces[1:] if rng.random() < 0.5]
    return csr(A + sparse.coo_matrix((numpy.ones(len(grounded)), (grounded, grounded)), shape=A.shape))


def stokes(rng):
    """[L B; Bᵀ −s C] of a staggered grid with free pressure."""
    k, m = (int(v) for v in rng.integers(2, 5 if rng.random() < 0.85 else 12, 2))
    cells = k * m
    at = numpy.arange(cells).reshape(k, m)
    blocks, faces = [], []
    for first, second in ((at[:-1], at[1:]), (at[:, :-1], at[:, 1:])):
        edges, _ = grid_edges(first.shape)
        size = first.size
        blocks.append(laplacian(size, edges, numpy.ones(len(edges))) + sparse.identity(size) * float(rng.integers(1, 4)))
        faces.append(incidence(cells, numpy.c_[second.ravel(), first.ravel()], numpy.ones(size)))
    L, B = sparse.block_diag(blocks), sparse.vstack(faces) * 2.0 ** int(rng.integers(-4, 5))
    C = None
    if rng.random() < 0.3:
        edges, _ = grid_edges((k, m))
        C = -laplacian(cells, edges, numpy.full(len(edges), 2.0 ** -int(rng.integers(0, 12))))
    A = csr(sparse.bmat([[L, B], [B.T, C if C is not None else sparse.csr_matrix((cells, cells))]]))
    return in_complex(rng, A)


def normal(rng):
    """JᵀJ of observations that a translation, or another integer vector, does not change."""
    n = order(rng, 50, 0.06)
    rows = int(n * rng.choice([1, 1.5, 3])) + 1
    if rng.random() < 0.5:
        edges = tree_and_more(rng, numpy.arange(n), rng.choice([0, 1, 2]))
        w = weights(rng, len(edges))
        J = incidence(n, edges, w)
    else:
        t = rng.integers(1, 4, n) * rng.choice([-1, 1], n)
        J = sparse.lil_matrix((rows, n))
        for i in range(rows):  # of two unknowns j, k: t_k e_j − t_j e_k, so that J t = 0
            j, k = rng.choice(n, 2, replace=False)
            s = int(rng.integers(1, 4))
            J[i, j], J[i, k] = s * t[k], -s * t[j]
    J = sparse.csr_matrix(J)
    A = csr(J.T @ J)
    if numpy.any(abs(A.data) > 2.0**40) or numpy.any(abs(A.data[A.data != 0]) < 2.0**-40):
        raise exact.Inexact("spread")
    return in_complex(rng, A)


def convection(rng):
    """Zero row sums without symmetry: upwind convection and diffusion, chains of a Markov process, or their transposes."""
    n = order(rng)
    if rng.random() < 0.6:
        edges, axis = grid_edges(box(rng, n), periodic=rng.random() < 0.3)
        n = int(edges.max()) + 1
        forward, back = 1.0 + rng.integers(0, 9, 3)[axis], numpy.ones(len(edges))
    else:
        edges = numpy.array(tree_and_more(rng, numpy.arange(n), 1)).reshape(-1, 2)
        forward, back = weights(rng, len(edges)), weights(rng, len(edges))
    A = flow(n, edges, forward, back)
    if exact.rank(A) == n:
        raise exact.Inexact("row sums")
    return in_complex(rng, csr(A.T) if rng.random() < 0.3 else A)


def low_rank(rng):
    """Products of thin integer matrices, or integer rows of which one depends on others: arbitrary null vectors."""
    n = int(rng.integers(2, 31))
    if rng.random() < 0.5:
        r = max(1, n - int(rng.integers(1, 4)))
        left, right = (rng.integers(-3, 4, shape).astype(float) for shape in ((n, r), (r, n)))
        A = left @ right
    else:
        A = rng.integers(-4, 5, (n, n)).astype(float) * (rng.random((n, n)) < rng.choice([0.3, 1]))
        A[rng.integers(n)] = 0
        k = int(numpy.flatnonzero(~A.any(axis=1))[0])
        others = [i for i in range(n) if i != k]
        A[k] = rng.integers(-2, 3, n - 1) @ A[others]
    return in_complex(rng, csr(A))


def skew(rng):
    """Skew-symmetric matrices of odd order."""
    n = 2 * int(rng.integers(1, 20)) + 1
    A = sparse.triu(whole_numbers(rng, n, n, 4 / n, (1 << 20) - 1) * 2.0**-20, 1)
    return in_complex(rng, csr(A - A.T))


def truss(rng):
    """Bars between joints of a plane or of space that may move as a whole: translations and rotations cost nothing."""
    d = int(rng.integers(2, 4))
    joints = min(max(3, order(rng, 60, 0.1) // d), 100)
    at = rng.integers(-5, 6, (joints, d)) + 11 * numpy.arange(joints)[:, None] * (numpy.arange(d) == 0)
    bars = tree_and_more(rng, numpy.arange(joints), rng.choice([1, 2]))
    J = sparse.lil_matrix((len(bars), d * joints))
    for k, (i, j) in enumerate(bars):
        J[k, d * i : d * i + d], J[k, d * j : d * j + d] = at[i] - at[j], at[j] - at[i]
    J = sparse.csr_matrix(J)
    return in_complex(rng, csr(J.T @ sparse.diags(rng.integers(1, 5, len(bars)).astype(float)) @ J))


def curl(rng):
    """Cᵀ C of the edges and faces of a grid: every gradient is a null vector."""
    k, m = (int(v) for v in rng.integers(2, 6 if rng.random() < 0.85 else 13, 2))
    at = numpy.arange(k * m).reshape(k, m)
    edges, _ = grid_edges((k, m))
    number = {(int(i), int(j)): e for e, (i, j) in enumerate(edges)}
    faces = [(at[i, j], at[i + 1, j], at[i + 1, j + 1], at[i, j + 1]) for i in range(k - 1) for j in range(m - 1)]
    C = sparse.lil_matrix((len(faces), len(edges)))
    for f, (a, b, c, d) in enumerate(faces):
        C[f, number[a, b]], C[f, number[b, c]], C[f, number[d, c]], C[f, number[a, d]] = 1, 1, -1, -1
    C = sparse.csr_matrix(C)
    return in_complex(rng, csr(C.T @ sparse.diags(weights(rng, len(faces))) @ C))


def constraints(rng):
    """[H Cᵀ; C 0] with a constraint that follows from others."""
    n, m = int(rng.integers(4, 40)), int(rng.integers(2, 8))
    i, j = rng.integers(0, n, (2, 2 * n))
    H = sparse.coo_matrix((-numpy.ones(2 * n), (i, j)), shape=(n, n))
    H = csr(H + H.T)
    H = csr(H + sparse.diags(row_sums(H) + 1))
    C = rng.integers(-2, 3, (m, n)) * (rng.random((m, n)) < 0.3)
    C[m - 1] = rng.integers(-2, 3, m - 1) @ C[: m - 1]
    return in_complex(rng, csr(sparse.bmat([[H, C.T], [csr(C), None]])))


def structural(rng):
    """Rows with too few columns to go round, or none at all."""
    n = order(rng, 40, 0.05)
    A = whole_numbers(rng, n, n, 3 / n, 9).tolil()
    A.setdiag(rng.integers(10, 40, n))
    rows = rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False)
    column = int(rng.integers(n))
    for i in rows:
        A[i, :] = 0
        if len(rows) > 1:
            A[i, column] = float(rng.integers(1, 5))
    return in_complex(rng, csr(A))


FAMILIES = {f.__name__: f for f in (neumann, nets, stokes, normal, convection, low_rank, skew, truss, curl, constraints, structural)}


def beside_regular(rng, A):
    """A singular block beside a regular one, in a tenth of all draws."""
    if rng.random() > 0.1:
        return A
    k = int(rng.integers(2, 20))
    good = sparse.diags([numpy.full(k - 1, -1.0), numpy.full(k, 4.0), numpy.full(k - 1, -1.0)], [-1, 0, 1])
    return csr(sparse.block_diag([A, good]))


def in_other_units(rng, A, x):
    """A and x with units of rows and columns, in a third of all draws."""
    if rng.random() > 0.35:
        return A, x
    rows, columns = in_units(rng, A, float(rng.choice([2, 6, 20, 40])))
    if rng.random() < 0.4:
        rows = columns  # keeps symmetry
    return exact.scaled(A, rows, columns), x / columns


def consistent(family):
    def make(rng):
        A = reordered(rng, beside_regular(rng, FAMILIES[family](rng)))
        A, x = in_other_units(rng, A, integers(rng, A.shape[0], numpy.iscomplexobj(A.data)))
        system = with_product(A, x, family)
        if system.regular:
            raise exact.Inexact("regular")
        return system

    return make


def near(family):
    """One or a few diagonal entries of a singular matrix made larger by 2^-20 to 2^-50 of the largest: regular, but hopeless."""

    def make(rng):
        A = FAMILIES[family](rng)
        n, g = A.shape[0], 2.0 ** -int(rng.integers(20, 51))
        size = 2.0 ** numpy.round(numpy.log2(abs(A.data).max(initial=0) or 1.0))
        where = rng.choice(n, size=min(n, int(rng.choice([1, 1, 2, 5]))), replace=False)
        grounded = A.tolil()
        for i in where:
            grounded[i, i] += g * size
        A = reordered(rng, csr(grounded))
        A, x = in_other_units(rng, A, integers(rng, n, numpy.iscomplexobj(A.data)))
        system = with_product(A, x, f"{family} grounded by 2^{numpy.log2(g):.0f}")
        if not system.regular:
            raise exact.Inexact("singular")
        return system

    return make


def rounded(rng):
    """Conductances of any size whose sums are rounded: singular but for the rounding of its diagonal. b is rounded, too."""
    n = order(rng, 60, 0)
    edges = tree_and_more(rng, numpy.arange(n), rng.choice([0, 0.5, 2]))
    if not edges:
        raise exact.Inexact("no edges")
    g = 10.0 ** rng.uniform(*((-1, 1), (-6, 3))[int(rng.integers(2))], len(edges))
    A = flow(n, edges, g, g)
    if rng.random() < 0.3:
        A = csr(A * (1 + 0.3j))
    return with_ball_solution(A, A @ rng.uniform(-1, 1, n), "sums rounded")


def near_rounded(family):
    """As near, but for a b that is rounded, or any."""

    def make(rng):
        system = near(family)(rng)
        n = len(system.b)
        if n > 60:
            raise exact.Inexact("for ball arithmetic")
        b = system.A @ rng.uniform(-1, 1, n) if rng.random() < 0.7 else system.b + rng.integers(-4, 5, n) * abs(system.b).max()
        return with_ball_solution(system.A, b.astype(system.A.dtype), system.note + ", b rounded")

    return make


def inconsistent(family):
    def make(rng):
        system = consistent(family)(rng)
        n, b = len(system.b), system.b.copy()
        size = 2.0 ** numpy.round(numpy.log2(abs(b).max()))
        kind = rng.integers(5)
        if kind == 0:
            b[rng.integers(n)] += size * 2.0 ** -int(rng.integers(0, 31))
        elif kind == 1:
            b = b + size * 2.0 ** -int(rng.integers(0, 10))
        elif kind == 2:
            b = (system.A @ (system.x * rng.uniform(0.5, 1, n))).astype(b.dtype)
        else:
            b = b + size * rng.integers(-4, 5, n)
        if exact.rank(system.A, b) == exact.rank(system.A):
            raise exact.Inexact("in the range")
        return System(system.A, b, None, f"{family}, {('one row', 'constant', 'rounded', 'random', 'random')[kind]}")

    return make


def large(rng):
    """A net or Neumann grid of some thousand points, as it is or grounded by 2^-20 to 2^-46 at a node: where an iteration is chosen by itself."""
    kind = rng.integers(4)
    if kind == 0:
        n = int(rng.integers(2000, 6000))
        edges = numpy.array(tree_and_more(rng, numpy.arange(n), 1.0))
    else:
        side = int(rng.integers(12, 20)) if kind > 1 else int(rng.integers(45, 80))
        edges, _ = grid_edges((side,) * (3 if kind > 1 else 2))
        n = int(edges.max()) + 1
    g = 0.0 if rng.random() < 0.5 else 2.0 ** -int(rng.integers(20, 47))
    A = laplacian(n, edges, numpy.ones(len(edges)) if kind else rng.integers(1, 100, len(edges)))
    if kind and rng.random() < 0.3:  # upwind
        A = csr(A + flow(n, edges, numpy.zeros(len(edges)), numpy.ones(len(edges))))
    A = A.tolil()
    A[0, 0] += g
    A = csr(A) * (1 + 0.5j if rng.random() < 0.3 else 1.0)
    system = with_product(A, integers(rng, n, numpy.iscomplexobj(A.data)), f"{'grid' if kind else 'net'} grounded by {g:.1e}")
    system.known_regular = g != 0
    return system

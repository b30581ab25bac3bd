"""A system whose x is known exactly, and what generators of all kinds share: grids, graphs, values, units, integer solutions."""

import dataclasses
import functools

import numpy
import scipy.sparse as sparse

from truth import exact


@dataclasses.dataclass
class System:
    """A x = b in doubles. `x` is one solution, exactly or to 18 digits; it is the only one where A is regular."""

    A: sparse.csr_matrix
    b: numpy.ndarray
    x: numpy.ndarray  # None: b is outside the range of A
    note: str = ""
    unscaled: tuple = None  # (A, x) before units of rows and columns: the condition is the same
    known_regular: bool = None  # of a large system, by its construction

    @functools.cached_property
    def regular(self):
        return exact.rank(self.A) == self.A.shape[0] if self.known_regular is None else self.known_regular

    @functools.cached_property
    def hermitian(self):
        return (self.A != self.A.conj().T).nnz == 0

    @functools.cached_property
    def symmetric(self):
        return (self.A != self.A.T).nnz == 0

    @functools.cached_property
    def condition(self):
        """Skeel's condition; Inf where it is not known."""
        A, x = self.unscaled or (self.A, self.x)
        if A.shape[0] > 1000:
            return numpy.inf
        try:
            return exact.condition(A, x)
        except exact.Inexact:
            return numpy.inf


def csr(A):
    A = sparse.csr_matrix(A)
    A.sum_duplicates()
    A.sort_indices()
    return A


def with_product(A, x, note, unscaled=None):
    """The system whose x is given: b = A x, exactly."""
    A = csr(A)
    b = exact.product(A, x)
    if not abs(b).max() > 0:
        raise exact.Inexact("b = 0")
    return System(A, b, x, note, unscaled)


def with_ball_solution(A, b, note, unscaled=None):
    """The system whose b is given; x by ball arithmetic where A is regular and x within the range of doubles, else another is drawn."""
    A = csr(A)
    if exact.rank(A) < A.shape[0]:
        raise exact.Inexact("singular")
    x = exact.solve(A, b)
    size = abs(x)[exact.counted(x)]
    if not (size.min() > 1e-280 and size.max() < 1e280):
        raise exact.Inexact("range of x")
    return System(A, b, x, note, unscaled)


def order(rng, largest=60, often=0.1):
    """Mostly 2 to `largest` unknowns, now and then up to 400."""
    if rng.random() < often:
        return int(rng.integers(100, 401))
    if rng.random() < 0.5:
        return int(rng.integers(3, largest + 1))
    return int(numpy.exp(rng.uniform(numpy.log(2), numpy.log(largest))))


def powers(rng, n, low, high):
    return 2.0 ** rng.integers(low, high + 1, n)


def laplacian(n, edges, weights):
    """Σ w (e_i − e_j)(e_i − e_j)ᵀ; every row sums to 0 exactly, or Inexact."""
    i, j = numpy.array(edges, dtype=int).reshape(-1, 2).T
    w = numpy.asarray(weights, dtype=float)
    A = sparse.coo_matrix((numpy.r_[w, w, -w, -w], (numpy.r_[i, j, i, j], numpy.r_[i, j, j, i])), shape=(n, n))
    A = csr(A)
    if numpy.any(exact_zero(A, numpy.ones(n))):
        raise exact.Inexact("row sums")
    return A


def flow(n, edges, forward, back):
    """Σ e_i (forward (e_i − e_j))ᵀ + e_j (back (e_j − e_i))ᵀ: rows sum to 0, there is no symmetry."""
    i, j = numpy.array(edges, dtype=int).reshape(-1, 2).T
    data = numpy.r_[forward, back, -forward, -back]
    return csr(sparse.coo_matrix((data, (numpy.r_[i, j, i, j], numpy.r_[i, j, j, i])), shape=(n, n)))


def incidence(n, edges, w):
    """A row w (e_i − e_j)ᵀ for each edge."""
    i, j = numpy.array(edges, dtype=int).reshape(-1, 2).T
    rows = numpy.arange(len(i))
    return sparse.csr_matrix((numpy.r_[w, -w], (numpy.r_[rows, rows], numpy.r_[i, j])), shape=(len(i), n))


def whole_numbers(rng, rows, columns, density, largest, signs=False):
    """A sparse matrix of integers from 1 on."""
    some = lambda k: rng.integers(1, largest + 1, k).astype(float) * (rng.choice([-1, 1], k) if signs else 1.0)
    return sparse.random(rows, columns, density=min(1.0, density), random_state=rng, data_rvs=some)


def row_sums(A):
    """Σ_j |a_ij|"""
    return numpy.asarray(abs(A).sum(axis=1)).ravel()


def exact_zero(A, x):
    return [m for m, _ in exact.real_product(A, x)]


def grid_edges(shape, periodic=False):
    """Edges of neighbours in a box, and the axis of each."""
    at = numpy.arange(int(numpy.prod(shape))).reshape(shape)
    edges, axis = [], []
    for k, length in enumerate(shape):
        pairs = [(numpy.take(at, range(length - 1), k), numpy.take(at, range(1, length), k))]
        if periodic and length > 2:
            pairs.append((numpy.take(at, [length - 1], k), numpy.take(at, [0], k)))
        for p, q in pairs:
            edges += list(zip(p.ravel(), q.ravel()))
            axis += [k] * p.size
    return numpy.array(edges).reshape(-1, 2), numpy.array(axis, dtype=int)


def box(rng, n):
    """A shape in 1, 2 or 3 dimensions with about n points."""
    d = int(rng.integers(1, 4))
    side = max(2, round(n ** (1 / d)))
    return tuple(max(2, side + int(rng.integers(-1, 2))) if d > 1 else max(2, n) for _ in range(d))


def tree_and_more(rng, nodes, more):
    """Edges of a connected graph on these nodes."""
    nodes = rng.permutation(nodes)
    reach = int(rng.choice([1, 3, 1000]))
    edges = [(nodes[k], nodes[rng.integers(max(0, k - reach), k)]) for k in range(1, len(nodes))]
    if len(nodes) > 1:
        i, step = rng.integers(0, len(nodes), int(more * len(nodes))), rng.integers(1, len(nodes), int(more * len(nodes)))
        edges += zip(nodes[i], nodes[(i + step) % len(nodes)])
    return [(int(i), int(j)) for i, j in edges]


def weights(rng, count):
    kind = rng.integers(5)
    if kind == 0:
        return numpy.ones(count)
    if kind == 1:
        return rng.integers(1, 10, count).astype(float)
    if kind == 2:
        return rng.integers(1, 1 << 20, count) / 2.0**18
    span = [None, None, None, 5, 15][kind]
    return rng.integers(1, 4, count) * powers(rng, count, -span, span)


def integers(rng, n, complex_values):
    """An x of small integers, none of them all zero."""
    if rng.random() < 0.3:
        x = rng.choice([100, 1000, 4096]) + rng.integers(-4, 5, n).astype(float)
    else:
        x = rng.integers(-4, 5, n).astype(float)
        x[rng.integers(n)] = 3
    return x + 1j * rng.integers(-4, 5, n) if complex_values else x


def spread(rng, n, complex_values):
    """An x whose unknowns are powers of two apart, as far as they count."""
    deepest = int(rng.choice([5, 20, 36]))
    return integers(rng, n, complex_values) * powers(rng, n, -deepest, 0)


def in_complex(rng, A, again=None):
    """The same in complex numbers with the same null vectors up to units 1, i, −1, −i; A as it is in two of three draws.
    @param again  draws a further A of the same null vectors, or None"""
    if rng.random() < 0.65:
        return A
    kind = rng.integers(3)
    if kind == 0:
        return csr(A * complex(rng.choice([1 + 0.5j, 2j, 1 - 1j, 3 + 4j, -0.25 + 1j])))
    if kind == 1 and again is not None:
        return csr(A + 2.0 ** int(rng.integers(-8, 9)) * 1j * again())
    unit = numpy.array([1, 1j, -1, -1j])[rng.integers(0, 4, A.shape[0])]
    D = sparse.diags(unit)
    return csr(D.conj() @ A.astype(complex) @ D)


def reordered(rng, A):
    """Symmetrically permuted in half of all draws, by rows besides in one of eight."""
    if rng.random() < 0.5:
        p = rng.permutation(A.shape[0])
        A = csr(A[p][:, p])
        if rng.random() < 0.25:
            A = csr(A[rng.permutation(A.shape[0])])
    return A


def in_units(rng, A, decades):
    """D1, D2 of powers of two over this many decades, about."""
    span = int(decades * 3.32 / 2)
    n = A.shape[0]
    which = rng.integers(4)
    rows = powers(rng, n, -span, span) if which != 0 else numpy.ones(n)
    columns = powers(rng, n, -span, span) if which != 1 else numpy.ones(n)
    return (rows, 1 / rows) if which == 3 else (rows, columns)


def drawn(make, rng):
    """The first draw that is exact. The stream of numbers goes on, so that it depends on the seed alone."""
    for _ in range(200):
        try:
            return make(rng)
        except exact.Inexact:
            continue
    raise RuntimeError(f"{make.__name__}: no exact system in 200 draws")

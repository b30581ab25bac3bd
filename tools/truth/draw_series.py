"""Kind s2: systems of one pattern, some of them singular or nearly so, good ones before and after."""

import numpy
import scipy.sparse as sparse

from truth import exact
from truth.draw_regular import wide_block
from truth.draw_singular import FAMILIES
from truth.systems import (box, csr, flow, grid_edges, in_units, integers, laplacian, order, powers, tree_and_more, weights, with_ball_solution,
                           with_product)  # fmt: skip


def states(rng):
    """What each member is: good, near or singular; the bad ones in the middle, or from some member on."""
    members = int(rng.integers(4, 13))
    kind = rng.integers(4)
    bad = [str(s) for s in rng.choice(["near", "singular"] if kind else ["singular"], members)]
    first = int(rng.integers(0 if rng.random() < 0.25 else 1, members - 1))
    last = members if rng.random() < 0.4 else int(rng.integers(first + 1, members))
    if kind == 3:  # now and then
        return [s if rng.random() < 0.4 else "good" for s in bad]
    return [s if first <= k < last else "good" for k, s in enumerate(bad)]


def ground(rng, state):
    return {"good": float(rng.choice([0.5, 1, 2])), "singular": 0.0, "near": 2.0 ** -int(rng.integers(25, 48))}[state]


def on_pattern(A, pattern):
    """A with the zeros that the pattern has besides."""
    rows = numpy.repeat(numpy.arange(A.shape[0]), numpy.diff(pattern.indptr))
    return sparse.csr_matrix((numpy.asarray(A[rows, pattern.indices]).ravel(), pattern.indices.copy(), pattern.indptr.copy()), shape=A.shape)


def keep_pattern(system, pattern):
    system.A = on_pattern(system.A, pattern)
    return system


def grounded(rng):
    """A floating net, grid or flow whose ground goes; conductances change or stay."""
    n = order(rng, 60, 0.05)
    if rng.random() < 0.5:
        edges, _ = grid_edges(box(rng, n))
        n = int(numpy.max(edges)) + 1
        fixed = numpy.ones(len(edges))
    else:
        edges = tree_and_more(rng, numpy.arange(n), rng.choice([0, 0.5, 2]))
        fixed = weights(rng, len(edges))
    change, node = rng.random() < 0.5, int(rng.integers(n))
    forward = 1.0 + rng.integers(0, 9, len(edges)) if rng.random() < 0.3 else None  # convection: zero row sums
    factor = complex(rng.choice([1 + 0.5j, 2j, 1 - 1j])) if rng.random() < 0.3 else 1.0
    rows, columns = (numpy.ones(n), numpy.ones(n)) if rng.random() < 0.7 else in_units(rng, sparse.identity(n), 10)

    def member(state):
        w = fixed * powers(rng, len(edges), -2, 2) if change else fixed
        A = laplacian(n, edges, w)
        if forward is not None:
            A = csr(A + flow(n, edges, numpy.zeros(len(edges)), forward))
        A = csr(A + sparse.coo_matrix(([ground(rng, state)], ([node], [node])), shape=(n, n))) * factor
        A = exact.scaled(csr(A), rows, columns)
        return with_product(A, integers(rng, n, numpy.iscomplexobj(A.data)) / columns, f"grounded, {state}")

    return member


def dense(rng):
    """Small full matrices of integers; the bad ones have a row that depends on others."""
    n = int(rng.integers(3, 9))

    def member(state):
        A = rng.integers(1, 6, (n, n)).astype(float)
        if state != "good":
            k = int(rng.integers(n))
            A[k] = rng.integers(1, 3, n - 1) @ A[[i for i in range(n) if i != k]]
            if state == "near":
                A[k, int(rng.integers(n))] += 2.0 ** -int(rng.integers(25, 44))
        return with_product(A, integers(rng, n, False), f"dense, {state}")

    return member


def hilbert(rng):
    """Full matrices near Hilbert's, with an entry of any size."""
    n = int(rng.integers(8, 15))
    i, j = numpy.indices((n, n))

    def member(state):
        A = 1 / (i + j + 1.0) + (0 if state != "good" else numpy.eye(n))
        if rng.random() < 0.3:
            A[int(rng.integers(n)), int(rng.integers(n))] *= 2.0 ** int(rng.integers(-900, 600))
        return with_ball_solution(csr(A), A @ numpy.ones(n), f"Hilbert, {state}")

    return member


def wide(rng):
    """Blocks of numbers far apart, new ones in every member."""
    k, decades = int(rng.integers(3, 7)), float(rng.choice([4, 10, 30]))

    def member(state):
        A, b = wide_block(rng, k, decades if state != "good" else 2)
        return with_ball_solution(csr(A.real), b.real, f"wide, {state}")

    return member


def families(rng):
    """A singular matrix of any family, with entries added to its whole diagonal."""
    base = FAMILIES[str(rng.choice(list(FAMILIES)))](rng)
    n, size = base.shape[0], 2.0 ** numpy.round(numpy.log2(abs(base.data).max()))

    def member(state):
        g = ground(rng, state)
        some = numpy.full(n, g * size * 4) if state == "good" else numpy.where(numpy.arange(n) == rng.integers(n), g * size, 0)
        scale = 2.0 ** int(rng.integers(-3, 4))
        A = csr(base * scale + sparse.diags(some))
        return with_product(A, integers(rng, n, numpy.iscomplexobj(A.data)), f"family, {state}")

    return member


def sweep(rng):
    """G + jωC of a net that only capacitors ground, where ω goes to 0."""
    n = order(rng, 60, 0.1)
    edges = tree_and_more(rng, numpy.arange(n), rng.choice([0, 0.5, 2]))
    if not edges:
        raise exact.Inexact("no edges")
    G = laplacian(n, edges, weights(rng, len(edges)))
    between, grounds = rng.integers(0, 4, len(edges)), 1.0 * rng.integers(0, 4, n) * (rng.random(n) < 0.3)
    C = laplacian(n, edges, between) + sparse.diags(grounds + (numpy.arange(n) == 0))

    def member(state):
        A = csr(G + 1j * ground(rng, state) * C)
        return with_product(A, integers(rng, n, True), f"sweep, {state}")

    return member


SERIES = {f.__name__: f for f in (grounded, dense, hilbert, wide, families, sweep)}


def series(family):
    def make(rng):
        member, members = SERIES[family](rng), []
        for state in states(rng):
            for _ in range(20):
                try:
                    members.append(member(state))
                    break
                except exact.Inexact:
                    continue
        if len(members) < 3:
            raise exact.Inexact("too few members")
        union = csr(sum(abs(m.A) for m in members))
        return [keep_pattern(m, union) for m in members]

    return make

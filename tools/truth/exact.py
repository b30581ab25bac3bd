"""Exact arithmetic on sparse matrices of doubles: products, ranks, solutions, condition numbers. Nothing here asks the solver."""

import math

import flint
import numpy
import scipy.sparse

PRECISIONS = (400, 1600, 6400, 20000)  # bits of the ball arithmetic, until every unknown is known
LEAST_UNKNOWN = 1e-12  # an unknown below this share of the largest does not count


class Inexact(ValueError):
    """A product is no double: the system is to be drawn anew."""


def splitted(values):
    """Python integers m and exponents e of doubles, m 2^e."""
    mantissa, exponent = numpy.frexp(numpy.asarray(values, dtype=float))
    return [int(m) for m in numpy.ldexp(mantissa, 53)], [int(e) - 53 for e in exponent]


def to_double(number, exponent):
    """number 2^exponent, where a normal double or 0 is exactly that."""
    if number == 0:
        return 0.0
    shift = (number & -number).bit_length() - 1
    number, exponent = number >> shift, exponent + shift
    top = abs(number).bit_length() + exponent
    if abs(number).bit_length() > 53 or not -1020 < top < 1023:
        raise Inexact(f"{number} 2^{exponent}")
    return math.ldexp(number, exponent)


def real_product(A, x):
    """Pairs (integer, exponent) of A x; A is a CSR matrix of doubles."""
    a, ea = splitted(A.data)
    v, ev = splitted(x)
    out = []
    for i in range(A.shape[0]):
        terms = [(a[p] * v[j], ea[p] + ev[j]) for p, j in zip(range(A.indptr[i], A.indptr[i + 1]), A.indices[A.indptr[i] : A.indptr[i + 1]])]
        terms = [t for t in terms if t[0]]
        least = min((e for _, e in terms), default=0)
        out.append((sum(m << (e - least) for m, e in terms), least))
    return out


def combined(first, second, sign):
    """first + sign second, elementwise, of pairs (integer, exponent)."""
    out = []
    for (m, e), (k, f) in zip(first, second):
        least = min(e, f)
        out.append(((m << (e - least)) + sign * (k << (f - least)), least))
    return out


def parts(A):
    """Real and imaginary part with the same pattern."""
    real = scipy.sparse.csr_matrix((A.data.real.copy(), A.indices, A.indptr), shape=A.shape)
    imag = scipy.sparse.csr_matrix((A.data.imag.copy(), A.indices, A.indptr), shape=A.shape)
    return real, imag


def product(A, x):
    """A x, exactly. @throws Inexact where a number of it is no double"""
    if not (numpy.iscomplexobj(A.data) or numpy.iscomplexobj(x)):
        return numpy.array([to_double(*v) for v in real_product(A, x)])
    (re, im), x = parts(A), numpy.asarray(x, dtype=complex)
    real = combined(real_product(re, x.real), real_product(im, x.imag), -1)
    imag = combined(real_product(re, x.imag), real_product(im, x.real), 1)
    return numpy.array([complex(to_double(*v), to_double(*w)) for v, w in zip(real, imag)])


def scaled(A, rows, columns):
    """diag(rows) A diag(columns) for powers of two. @throws Inexact where an entry leaves the range"""
    at = numpy.repeat(numpy.arange(A.shape[0]), numpy.diff(A.indptr))
    data = A.data * rows[at] * columns[A.indices]
    size = numpy.abs(data[A.data != 0])
    if size.size and not (size.min() > 1e-290 and size.max() < 1e290):
        raise Inexact("range")
    return scipy.sparse.csr_matrix((data, A.indices.copy(), A.indptr.copy()), shape=A.shape)


def _modulus():
    """A prime p = 1 mod 4, so that i is a number mod p, and that number."""
    p = 2**61 + 1
    while not (p % 4 == 1 and flint.fmpz(p).is_probable_prime()):
        p -= 2
    a = next(a for a in range(2, 100) if pow(a, (p - 1) // 2, p) == p - 1)
    return p, pow(a, (p - 1) // 4, p)


P, ROOT = _modulus()


def residues(values):
    """Doubles mod P, complex ones with i as the root of −1."""
    values = numpy.asarray(values)
    m, e = splitted(values.real)
    powers = {k: pow(2, k, P) for k in set(e)}
    out = [a * powers[k] % P for a, k in zip(m, e)]
    if numpy.iscomplexobj(values):
        out = [(a + ROOT * c) % P for a, c in zip(out, residues(values.imag))]
    return out


def rank(A, b=None):
    """The rank of A, or of (A | b), mod P: full there is full; less is less but for a chance of 2^-55."""
    n, width = A.shape[0], A.shape[1] + (b is not None)
    flat = [0] * (n * width)
    at = numpy.repeat(numpy.arange(n), numpy.diff(A.indptr))
    for i, j, v in zip(at.tolist(), A.indices.tolist(), residues(A.data)):
        flat[i * width + j] = v
    if b is not None:
        for i, v in enumerate(residues(b)):
            flat[i * width + width - 1] = v
    return flint.nmod_mat(n, width, flat, P).rank()


def wide(ball):
    """The middle of a ball as an 80-bit number."""
    m, e = ball.mid().man_exp()
    m, e = int(m), int(e)
    cut = max(abs(m).bit_length() - 64, 0)
    return numpy.ldexp(numpy.longdouble(m >> cut), e + cut)


def ball_matrix(A):
    dense = A.toarray()
    if numpy.iscomplexobj(dense):
        return flint.acb_mat([[flint.acb(z.real, z.imag) for z in row] for row in dense.tolist()])
    return flint.arb_mat(dense.tolist())


def middles(M):
    """A flint matrix as an array of 80-bit numbers, and the radii, as upper bounds."""
    entries = M.entries()
    if isinstance(M, flint.acb_mat):
        mid = numpy.array([wide(z.real) + 1j * wide(z.imag) for z in entries], dtype=numpy.clongdouble)
        rad = numpy.array([wide(z.real.rad()) + wide(z.imag.rad()) for z in entries], dtype=numpy.longdouble)
    else:
        mid = numpy.array([wide(z) for z in entries], dtype=numpy.longdouble)
        rad = numpy.array([wide(z.rad()) for z in entries], dtype=numpy.longdouble)
    return mid.reshape(M.nrows(), M.ncols()), rad.reshape(M.nrows(), M.ncols())


def in_balls(A, work, tiny):
    """work(A as a matrix of balls) in growing precision until its numbers are known to 18 digits, or to `tiny` times the largest of the column."""
    for bits in PRECISIONS:
        flint.ctx.prec = bits
        try:
            mid, rad = middles(work(ball_matrix(A)))
        except ZeroDivisionError:
            continue
        if numpy.all(rad <= numpy.maximum(1e-18 * abs(mid), tiny * abs(mid).max(axis=0))):
            return mid
    raise Inexact("not solved by ball arithmetic")


def solve(A, b):
    """A⁻¹ b for a regular A, right to 18 digits."""
    right = ball_matrix(scipy.sparse.csr_matrix(b.astype(A.dtype).reshape(-1, 1)))
    return in_balls(A, lambda M: M.solve(right), 1e-30)[:, 0]


def counted(x):
    """The unknowns that count."""
    return abs(x) > LEAST_UNKNOWN * abs(x).max()


def condition(A, x):
    """Skeel's: the largest (|A⁻¹||A||x|)_i / |x_i| of the unknowns that count. It does not depend on units of rows and columns."""
    n = A.shape[0]
    x = numpy.asarray(x, dtype=numpy.clongdouble if numpy.iscomplexobj(x) else numpy.longdouble)
    if n <= 64:
        inverse = in_balls(A, lambda M: M.inv(), numpy.longdouble("1e-100"))
    else:
        try:
            inverse = numpy.linalg.inv(A.toarray())
        except numpy.linalg.LinAlgError:  # singular in working precision
            return math.inf
        if not abs(inverse @ A.toarray() - numpy.eye(n)).sum(axis=1).max() < 1e-2:
            return math.inf
    size = abs(A) @ abs(x).astype(float) if n > 64 else abs(A.toarray()).astype(numpy.longdouble) @ abs(x)
    c = counted(x)
    return float(((abs(inverse) @ size)[c] / abs(x)[c]).max())

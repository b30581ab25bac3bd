"""What the tests of the Python package share."""
import numpy as np
import pytest
import scipy.sparse as sparse

import ilux
from gpu_libraries import CuPy, Torch


def relative_residual(A, x, b):
    """Per column the largest, by SciPy's product."""
    r, b = np.atleast_2d((b - A @ x).T), np.atleast_2d(b.T)
    return max((np.linalg.norm(one) / np.linalg.norm(of) for one, of in zip(r, b)), default=0.0)


def random_vector(shape, is_complex=False, seed=1):
    draw = np.random.default_rng(seed)
    v = draw.uniform(-1, 1, shape)
    return v + 1j * draw.uniform(-1, 1, shape) if is_complex else v


@pytest.fixture(params=["real", "complex"])
def system(request):
    """(A, b): unsymmetric, real and complex."""
    A = ilux.gallery("convdiff2d:n=20")
    if request.param == "complex":
        A = A + 0.3j * sparse.diags_array(np.linspace(0, 1, A.shape[0])) if hasattr(sparse, "diags_array") else A + 0.3j * sparse.diags(np.linspace(0, 1, A.shape[0]))
        A = sparse.csr_array(A)
    return A, random_vector(A.shape[0], request.param == "complex")


@pytest.fixture(params=[Torch, CuPy])
def library(request):
    return request.param()

"""Matrices and vectors of NumPy, SciPy, CuPy, PyTorch and JAX as the compiled module takes them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from .errors import InvalidInput

OPS = {"N": 0, "T": 1, "H": 2, 0: 0, 1: 1, 2: 2}
_REAL, _COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)


@dataclass
class Csr:
    """An n × n matrix by rows: `row_ptr` of int32 or int64, `col` of int32, `values` of float64 or complex128. Arrays that already
    are so are not copied."""

    n: int
    row_ptr: Any
    col: Any
    values: Any
    converted: bool = False  # from another format, so the order of its values is ours

    @cached_property
    def is_complex(self) -> bool:
        return "complex" in type_name(self.values.dtype)

    @cached_property
    def on_device(self) -> bool:
        return is_on_device(self.values)


@lru_cache(maxsize=64)
def type_name(dtype: Any) -> str:
    """float64 for both numpy.float64 and torch.float64."""
    return str(dtype).split(".")[-1]


@lru_cache(maxsize=64)
def _library_of_class(kind: Any) -> str:
    """The library that a class, or one that it is derived of, comes from; of none that is known here ""."""
    packages = (base.__module__.split(".")[0] for base in kind.__mro__)
    return next((name for name in packages if name in ("numpy", "torch", "cupy", "jax", "jaxlib")), "")


def _library_of(array: Any) -> str:
    kind: Any = type(array)
    return _library_of_class(kind)


def is_on_device(array: Any) -> bool:
    """Whether it lies in a GPU's memory, by what the array itself says."""
    library = _library_of(array)
    if library == "numpy":
        return False
    if library == "torch":
        return bool(array.is_cuda)
    if library == "cupy" or hasattr(array, "__cuda_array_interface__"):
        return True
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and int(device()[0]) == 2


def packed_on_device(array: Any) -> Any:
    """The array, or a copy, in one piece."""
    library = _library_of(array)
    if library == "torch":
        return array.resolve_conj().resolve_neg().contiguous()
    if library == "cupy":
        return array if array.flags.c_contiguous else array.copy(order="C")
    strides = getattr(array, "__cuda_array_interface__", {}).get("strides")
    return array if strides is None else array.copy(order="C")


def is_of_jax(array: Any) -> bool:
    return _library_of(array).startswith("jax")


def current_stream(array: Any) -> "tuple[int, int, Any]":
    """The device of the array, and the stream that its library works on now: its address and what keeps it alive; of another
    library the device's default stream."""
    library = _library_of(array)
    if library == "torch":
        import torch

        stream = torch.cuda.current_stream(array.get_device())  # of a number it is found sooner than of array.device
        return stream.device_index, stream.cuda_stream, stream
    if library == "cupy":
        import cupy

        device = array.data.device_id
        stream = cupy.cuda.get_current_stream(device)
        return device, stream.ptr, stream
    told = getattr(array, "__dlpack_device__", None)
    return (int(told()[1]) if told else 0), 0, None


def handed(array: Any) -> Any:
    """What the compiled module takes an array as: of a GPU's a DLPack capsule, which no stream waits for, since the module has been told
    the stream."""
    library = _library_of(array)
    if library == "cupy":
        return array.__dlpack__(stream=-1)
    if library == "torch" and array.is_cuda and not array.requires_grad:
        import torch.utils.dlpack

        return torch.utils.dlpack.to_dlpack(array)
    return array


def device_of(A: Csr) -> int:
    """The number of the GPU that its values are on; -1: the host."""
    return current_stream(A.values)[0] if A.on_device else -1


def _same_indices(a: Any, b: Any) -> bool:
    if len(a) != len(b):
        return False
    library = _library_of(a)
    if library != _library_of(b):
        b = importlib.import_module(library).from_dlpack(b)
    return bool((a == b).all())


def same_pattern(A: Csr, B: Csr) -> bool:
    """Whether both, which are on one device, have the same positions in the same order. Of a GPU's arrays one number each crosses
    to the host."""
    return A.n == B.n and _same_indices(A.row_ptr, B.row_ptr) and _same_indices(A.col, B.col)


def columns_on_device(b: Any) -> Any:
    """b of n × k as k × n in one piece, a column after another; b of n as it is."""
    return packed_on_device(b if b.ndim == 1 else b.T)


def refuse_masked(array: Any) -> None:
    """@raises InvalidInput for a masked array: what its mask hides would be taken for numbers"""
    if isinstance(array, np.ma.MaskedArray):
        raise InvalidInput("a masked array: pass array.filled(number), or leave the masked rows and columns out")


def column_count(b: Any) -> int:
    """The right-hand sides in b, of n numbers or n × k, for an analysis: at least 1."""
    shape = b.shape if hasattr(b, "shape") else np.shape(b)
    return max(1, shape[1]) if len(shape) == 2 else 1


def parts_of(b: Any) -> Any:
    """Real parts of its columns, then their imaginary parts, n × 2k; None stays so."""
    if b is None:
        return None
    b = host_array(b)
    return np.column_stack([b.real, b.imag])


def joined(parts: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """What parts_of took apart, in that shape."""
    k = parts.shape[1] // 2
    return (parts[:, :k] + 1j * parts[:, k:]).reshape(shape)


def zeros_on_device(like: Any) -> Any:
    """A new array of its shape, type and device."""
    if _library_of(like) == "torch":
        return like.new_zeros(like.shape)
    import cupy

    with like.device:
        return cupy.zeros(like.shape, like.dtype)


def empty_on_device(like: Any) -> Any:
    """The same of any numbers, for what fills it."""
    if _library_of(like) == "torch":
        return like.new_empty(like.shape)
    import cupy

    with like.device:
        return cupy.empty(like.shape, like.dtype)


def _columns32(col: Any) -> np.ndarray:
    col = np.asarray(col)
    if col.dtype.kind not in "iu":
        raise InvalidInput(f"columns of type {col.dtype} are no indices")
    if col.dtype != np.int32 and col.size and (col.max() >= 2**31 or col.min() < 0):
        raise InvalidInput("a column is out of range")
    return np.ascontiguousarray(col, dtype=np.int32)


def op_of(trans: Any) -> int:
    """"N", "T" or "H" as the C interface counts them."""
    if trans not in OPS:
        raise InvalidInput(f'trans is {trans!r}, not "N", "T" or "H"')
    return OPS[trans]


def _host_values(data: Any) -> np.ndarray:
    refuse_masked(data)
    data = np.asarray(data)
    if data.dtype.kind not in "biufc":
        raise InvalidInput(f"values of type {data.dtype} are no numbers")
    return np.ascontiguousarray(data, dtype=np.complex128 if data.dtype.kind == "c" else np.float64)


def _cast(array: Any, wanted: str) -> Any:
    """The array of a GPU as that type, not copied where it is so."""
    if wanted == type_name(array.dtype):
        return array
    if hasattr(array, "astype"):
        return array.astype(wanted)
    import torch

    return array.to(dtype=getattr(torch, wanted))


def _on_device(n: int, row_ptr: Any, col: Any, values: Any) -> Csr:
    types = [type_name(index.dtype) for index in (row_ptr, col)]
    if any("int" not in one for one in types):
        raise InvalidInput(f"row pointers of type {row_ptr.dtype} and columns of {col.dtype}: both must be integers")
    if types[1] != "int32":  # what is out of range stays so, and is refused with the pattern
        col = _cast(_cast(col, "int64").clip(-1, 2**31 - 1), "int32")
    if types[0] not in ("int32", "int64"):
        row_ptr = _cast(row_ptr, "int64")
    values = _cast(values, "complex128" if "complex" in type_name(values.dtype) else "float64")
    return Csr(n, packed_on_device(row_ptr), packed_on_device(col), packed_on_device(values))


def _pointers(row_ptr: Any) -> np.ndarray:
    row_ptr = np.asarray(row_ptr)
    return np.ascontiguousarray(row_ptr, dtype=row_ptr.dtype if row_ptr.dtype in (np.int32, np.int64) else np.int64)


def _require_square(shape: Any) -> int:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidInput(f"a matrix of shape {tuple(shape)}: a system needs a square one")
    return int(shape[0])


def snapshot(A: Any) -> Csr:
    """A in arrays of its own, which do not follow later changes; those of a GPU the library copies by itself."""
    csr = as_csr(A)
    return csr if csr.on_device else Csr(csr.n, csr.row_ptr.copy(), csr.col.copy(), csr.values.copy(), csr.converted)


def complex_csr(A: Any) -> Csr:
    """A with complex numbers."""
    csr = as_csr(A)
    return Csr(csr.n, csr.row_ptr, csr.col, _cast(csr.values, "complex128"), csr.converted)


def as_csr(A: Any) -> Csr:
    """A matrix of SciPy (any format), CuPy, PyTorch (sparse CSR or COO) or JAX (BCSR), or a dense array."""
    if isinstance(A, Csr):
        return A
    if hasattr(A, "crow_indices") or type(A).__module__.split(".")[0] == "torch":
        return _of_torch(A)
    if is_of_jax(A):
        n = _require_square(A.shape)
        return _on_host(n, A.indptr, A.indices, A.data)  # whose arrays cannot be written to, so b and x are of the host
    if type(A).__module__.startswith("cupyx"):
        A = A.tocsr()
        return _on_device(_require_square(A.shape), A.indptr, A.indices, A.data)
    refuse_masked(A)
    if not hasattr(A, "tocsr"):
        import scipy.sparse

        A = scipy.sparse.csr_array(np.atleast_2d(np.asarray(A)))
    n = _require_square(A.shape)
    converted = getattr(A, "format", "csr") != "csr"
    A = A.tocsr()
    csr = _on_host(n, A.indptr, A.indices, A.data)
    csr.converted = converted
    return csr


def _on_host(n: int, row_ptr: Any, col: Any, values: Any) -> Csr:
    return Csr(n, _pointers(row_ptr), _columns32(col), _host_values(values))


def _of_torch(A: Any) -> Csr:
    import torch

    n = _require_square(A.shape)
    if A.layout == torch.strided or A.layout == torch.sparse_coo:
        A = A.to_sparse_csr()
    elif A.layout != torch.sparse_csr:
        raise InvalidInput(f"a torch tensor of layout {A.layout}: sparse_csr, sparse_coo or strided")
    A = A.detach()
    return torch_csr(n, A.crow_indices(), A.col_indices(), A.values())


def torch_csr(n: int, row_ptr: Any, col: Any, values: Any) -> Csr:
    """The arrays of a sparse CSR tensor, on its device."""
    if not row_ptr.device == col.device == values.device:
        raise InvalidInput(f"row pointers, columns and values are on {row_ptr.device}, {col.device} and {values.device}: all must be on one device")
    if values.is_cuda:
        return _on_device(n, row_ptr, col, values)
    return _on_host(n, row_ptr.numpy(), col.numpy(), values.resolve_conj().numpy())


def is_sparse(b: Any) -> bool:
    """Whether it is a sparse matrix or array of SciPy's."""
    return type(b).__module__.startswith("scipy.sparse") and hasattr(b, "toarray")


def host_array(b: Any) -> np.ndarray:
    """b as NumPy has it, a sparse one of SciPy's dense. @raises InvalidInput for one on a GPU, but JAX's, which is copied"""
    refuse_masked(b)
    if is_sparse(b):
        return b.toarray()
    if is_on_device(b) and not is_of_jax(b):
        raise InvalidInput("an array is on a GPU where one of the host is needed: pass b.get() of CuPy, b.cpu() of PyTorch")
    return np.asarray(b)


def vector_values(b: Any, is_complex: bool) -> np.ndarray:
    """b on the host, of the type that A has. @raises InvalidInput for a complex b of a real A"""
    wanted = _COMPLEX if is_complex else _REAL
    if type(b) is np.ndarray and b.dtype == wanted:
        return b
    b = host_array(b)
    if b.dtype.kind == "c" and not is_complex:
        raise InvalidInput("b is complex and A is real: solve for its parts, or make A complex")
    if b.dtype.kind not in "biufc":
        raise InvalidInput(f"b of type {b.dtype} is no vector of numbers")
    return np.asarray(b, dtype=wanted)

"""PyTorch and CuPy under one set of names, for tests that hold for both; each skips where it finds no GPU."""
import json
import pathlib
import tempfile

import numpy as np
import pytest


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("torch finds no GPU")

    def array(self, host):
        return self.torch.from_numpy(host).cuda()

    def host(self, array):
        assert array.is_cuda
        return array.cpu().numpy()

    def matrix(self, A, index=np.int32):
        ptr, col = self.array(A.indptr.astype(index)), self.array(A.indices.astype(index))
        return self.torch.sparse_csr_tensor(ptr, col, self.array(A.data), A.shape, check_invariants=False)

    def cast(self, array, name):
        return array.to(getattr(self.torch, name))

    def odd_views(self, b):
        """Arrays with the numbers of b that do not lie in one piece, or have them only by a mark."""
        views = [self.torch.stack((b, b), -1)[..., 1], b.repeat_interleave(2, 0)[::2], self.torch._neg_view(-b)]
        return views + [b.conj().resolve_conj().conj()] if b.is_complex() else views

    def stream(self):
        return self.torch.cuda.stream(self.torch.cuda.Stream())

    def busy(self):
        """Work of some milliseconds on the current stream."""
        self.torch.cuda._sleep(20_000_000)


class CuPy:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        try:
            self.cupy.cuda.runtime.getDeviceCount()
        except Exception as error:  # noqa: BLE001
            pytest.skip(f"CuPy finds no GPU: {error}")

    def array(self, host):
        return self.cupy.asarray(host)

    def host(self, array):
        assert isinstance(array, self.cupy.ndarray)
        return self.cupy.asnumpy(array)

    def matrix(self, A, index=np.int32):
        sparse = pytest.importorskip("cupyx.scipy.sparse")
        made = sparse.csr_matrix((self.array(A.data), self.array(A.indices), self.array(A.indptr)), shape=A.shape)
        made.indptr, made.indices = made.indptr.astype(index), made.indices.astype(index)  # what it was made of it makes narrow
        return made

    def cast(self, array, name):
        return array.astype(name)

    def odd_views(self, b):
        """Arrays with the numbers of b that do not lie in one piece, or run backwards."""
        return [self.cupy.stack((b, b), -1)[..., 1], self.cupy.repeat(b, 2, 0)[::2], b[::-1].copy()[::-1]]

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def busy(self):
        a = self.cupy.ones((4000, 4000))
        for _ in range(5):
            a = a @ a / 4000


def crossed(torch, work):
    """Bytes that were copied between host and device while `work` ran, of whichever library."""
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        work()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        prof.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    copies = [one for one in events if one.get("cat") == "gpu_memcpy" and ("HtoD" in one["name"] or "DtoH" in one["name"])]
    return sum(one["args"]["bytes"] for one in copies), any(one.get("cat") == "kernel" for one in events)

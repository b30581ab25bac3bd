"""LinearSolver: forms of matrices, transposes, series, batches, reports, refusals. x is measured by SciPy's products."""
import gc
import threading
import weakref

import numpy as np
import pytest
import scipy.sparse as sparse

import ilux
from conftest import random_vector, relative_residual

FORMS = {
    "csr_array": sparse.csr_array, "csc_array": sparse.csc_array, "coo_array": sparse.coo_array,
    "csr_matrix": sparse.csr_matrix, "csc_matrix": sparse.csc_matrix, "lil_matrix": sparse.lil_matrix, "dense": lambda A: A.toarray(),
}


def solver_of(A, **options):
    return ilux.LinearSolver(threads=1, device="cpu", **options).analyse(A).factor()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["lu", "gmres", "auto"])
def test_every_form_of_a_matrix(system, form, method):
    A, b = system
    x = solver_of(FORMS[form](A), method=method).solve(b)
    assert relative_residual(A, x, b) <= 1e-8


@pytest.mark.parametrize("trans", ["N", "T", "H"])
@pytest.mark.parametrize("method", ["lu", "gmres", "bicg"])
def test_transposes(system, trans, method):
    A, b = system
    turned = {"N": A, "T": A.T, "H": A.conj().T}[trans]
    assert relative_residual(turned, solver_of(A, method=method).solve(b, trans), b) <= 1.01e-8


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns(system, order):
    A, _ = system
    B = np.array(random_vector((A.shape[0], 5), A.dtype.kind == "c"), order=order)
    X = solver_of(A).solve(B)
    assert X.shape == B.shape
    assert relative_residual(A, X, B) <= 1e-8
    assert solver_of(A).solve(B[:, :0]).shape == (A.shape[0], 0)


def test_vectors_of_any_layout():
    A = ilux.gallery("convdiff2d:n=8")
    b = random_vector(A.shape[0])
    locked = b.copy()
    locked.flags.writeable = False
    solver = solver_of(A)
    for same in (locked, b.astype(">f8"), np.repeat(b, 2)[::2], b[::-1].copy()[::-1], b.tolist(), b[:, None]):
        x, z = solver.solve(same), solver.precondition(same)
        assert type(x) is type(z) is np.ndarray and x.shape == z.shape == np.shape(same)
        assert x.flags.writeable and x.dtype.isnative
        assert relative_residual(A, x.ravel(), b) <= 1e-8 and relative_residual(A, z.ravel(), b) <= 1e-8
        assert np.array_equal(solver.solve(same, x0=np.zeros(np.shape(same))), x)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("number", [np.float32, np.float64, np.complex64, np.complex128, np.int64])
def test_types(index, number):
    A = ilux.gallery("poisson2d:n=8")
    B = sparse.csr_array(A.astype(number))
    B.indptr, B.indices = B.indptr.astype(index), B.indices.astype(index)
    b = np.ones(A.shape[0], dtype=np.float32)
    x = solver_of(B).solve(b)
    assert x.dtype == (np.complex128 if np.dtype(number).kind == "c" else np.float64)
    assert relative_residual(A, x, b) <= 1e-7


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33])
def test_small_orders(n):
    A = sparse.csr_array(np.eye(n) * 3 - np.eye(n, k=1))
    x = solver_of(A).solve(np.ones(n))
    assert x.shape == (n,)
    if n:
        assert relative_residual(A, x, np.ones(n)) <= 1e-8


def test_rows_in_any_order_and_entries_twice():
    A = sparse.csr_array((np.array([1.0, 3.0, 1.0, -1.0, 2.0]), np.array([1, 0, 0, 1, 1]), np.array([0, 3, 5])), shape=(2, 2))
    before = A.indices.copy()
    b = np.array([1.0, 2.0])
    solver = solver_of(A, method="lu")
    np.testing.assert_allclose(A.toarray() @ solver.solve(b), b, atol=1e-12)
    np.testing.assert_array_equal(A.indices, before)
    A.data *= 2
    np.testing.assert_allclose(A.toarray() @ solver.refactor(A).solve(b), b, atol=1e-12)


def test_nothing_is_copied_that_is_right_already():
    A = ilux.gallery("poisson2d:n=8")
    csr = ilux.arrays.as_csr(A)
    for ours, given in ((csr.row_ptr, A.indptr), (csr.col, A.indices), (csr.values, A.data)):
        assert np.shares_memory(ours, given)


def test_a_series(system):
    A, b = system
    solver = ilux.LinearSolver(method="lu").analyse(A, systems=4).factor()
    for k in range(4):
        A = A.copy()
        A.data *= 1 + 0.01 * np.arange(A.nnz) % 3
        assert relative_residual(A, solver.refactor(A).solve(b), b) <= 1e-8
    assert relative_residual(A, solver.refactor(A.data).solve(b), b) <= 1e-8
    moved = A.copy()
    moved.indices[moved.indptr[1] - 1] = A.shape[0] - 1
    for wrong in (A.data[:-1], A[:-1, :-1], sparse.csr_array(A + sparse.eye(A.shape[0], k=7)), moved):
        with pytest.raises(ilux.InvalidInput):
            solver.refactor(wrong)
    assert relative_residual(A, solver.solve(b), b) <= 1e-8


def test_sequence(system):
    A, b = system
    matrices = [A, A * 2.0, A * 3.0]
    for M, (x, report) in zip(matrices, ilux.sequence(matrices, [b] * 3)):
        assert report.converged
        assert relative_residual(M, x, b) <= 1e-8


@pytest.fixture
def ahead(monkeypatch):
    """What analyses were told, one after another: (systems, columns)."""
    told = []
    analyse = ilux.LinearSolver.analyse

    def listening(self, A, systems=1, columns=1):
        told.append((systems, columns))
        return analyse(self, A, systems, columns)

    monkeypatch.setattr(ilux.LinearSolver, "analyse", listening)
    return told


def test_every_column_has_its_report(system):
    A, b = system
    solver = ilux.LinearSolver(threads=1)
    with pytest.raises(ilux.InvalidInput):
        solver.reports
    solver.analyse(A).factor().solve(np.stack([b, 2 * b, 0 * b], axis=1))
    assert [report.outcome for report in solver.reports] == ["converged"] * 3
    assert len(solver.reports[0].decisions) > len(solver.reports[2].decisions)  # the choice of the method stands in the first
    assert solver.reports[2].steps == 0
    solver.solve(np.zeros((A.shape[0], 0)))
    assert solver.reports == []
    solver.solve(b)
    assert len(solver.reports) == 1 and solver.reports[0].relative_residual == solver.report.relative_residual


@pytest.mark.parametrize("shape, columns", [((), 1), ((1,), 1), ((5,), 5), ((0,), 1)])
def test_an_analysis_counts_with_the_columns_of_b(system, ahead, shape, columns):
    A, _ = system
    b = random_vector((A.shape[0], *shape), A.dtype.kind == "c")
    assert ilux.solve(A, b).shape == b.shape
    assert ilux.spsolve(A, b.tolist()).shape == (b.shape if shape != (1,) else b.shape[:1])  # a column is a vector to SciPy
    assert ahead == [(1, columns)] * 2


def test_the_analysis_of_a_series_counts_with_systems_and_columns(system, ahead):
    A, _ = system
    B = random_vector((A.shape[0], 5), A.dtype.kind == "c")
    matrices = [A, A * 2.0]
    assert len(list(ilux.sequence(matrices, [B, B[:, 0]]))) == 2
    assert len(list(ilux.sequence(iter(matrices), iter([B[:, 0], B])))) == 2
    assert len(list(ilux.sequence(matrices, [B, B], systems=7))) == 2
    assert ahead == [(2, 5), (100, 1), (7, 5)]
    with pytest.raises(ilux.InvalidInput, match="systems"):
        next(ilux.sequence(matrices, [B, B], systems=0))


def test_many_columns_speak_for_a_direct_solution():
    """Forecasts of this matrix on one thread: LU 440 ms, of which a right-hand side 25; an iteration 310 ms, of which 77."""
    A = ilux.gallery("convdiff3d:n=32")
    B = random_vector((A.shape[0], 30))
    methods = {}
    for columns in (1, 30):
        ((X, report),) = ilux.sequence([A], [B[:, :columns]], threads=1, device="cpu")
        assert relative_residual(A, X, B[:, :columns]) <= 1e-8
        methods[columns] = report["method"]
    assert methods == {1: "gmres", 30: "lu"}
    solver = ilux.LinearSolver(threads=1, device="cpu").analyse(A, systems=3, columns=100).factor()
    solver.solve(B[:, 0])
    assert "for 3 systems of 100 right-hand sides each" in solver.report.decisions[0]


@pytest.mark.parametrize("wrong", [0, -1, 0.5, np.nan, np.inf])
@pytest.mark.parametrize("name", ["systems", "columns"])
def test_counts_that_are_none_are_refused(system, name, wrong):
    with pytest.raises(ilux.InvalidInput, match=f"{name} is "):
        ilux.LinearSolver().analyse(system[0], **{name: wrong})


def test_a_batch(system):
    A, b = system
    values = np.array([A.data * (1 + 0.1 * m) for m in range(5)])
    solver = ilux.LinearSolver(method="lu").analyse(A).factor()
    X = solver.solve_batch(values, np.array([b] * 5))
    for m in range(5):
        assert relative_residual(sparse.csr_array((values[m], A.indices, A.indptr), shape=A.shape), X[m], b) <= 1e-8
    assert [report.outcome for report in solver.reports] == ["converged"] * 5


def test_report_and_history(system):
    A, b = system
    solver = solver_of(A, method="gmres", history=True)
    with pytest.raises(ilux.InvalidInput):
        solver.report
    x = solver.solve(b)
    report = solver.report
    assert report.converged and report["outcome"] == "converged"
    assert report.relative_residual == pytest.approx(relative_residual(A, x, b), rel=1e-3)
    assert report.history[0][1] == pytest.approx(1) and report.history[-1][1] <= 1e-8
    assert len(report.history) >= report.steps
    assert "converged" in report._repr_html_() and "converged" in repr(report)
    assert report.decisions and "steps" in dict(report)


def test_history_is_plotted(system):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    A, b = system
    solver = solver_of(A, method="gmres", history=True)
    solver.solve(b)
    axes = solver.report.plot(pyplot.figure().gca())
    assert len(axes.lines[0].get_xdata()) == len(solver.report.history)


def test_options():
    solver = ilux.LinearSolver(method="gmres", precond={"drop_tol": 1e-4}, retry=False, **{"krylov.restart": 17})
    options = solver.options
    assert options["precond"]["drop_tol"] == 1e-4 and options["krylov"]["restart"] == 17 and options["retry"] is False
    with pytest.raises(ilux.InvalidOption, match="method"):
        ilux.LinearSolver(methd="gmres")
    with pytest.raises(ValueError):
        ilux.LinearSolver(krylov={"rtol": -1})
    assert ilux.LinearSolver(method=None, krylov={"rtol": None}).options == ilux.LinearSolver().options
    for name, value in (("method", "lu\0"), ("method\0", "lu"), ("plan", "A.plan\0")):  # C would take what stands before
        with pytest.raises(ilux.InvalidInput, match="zero byte"):
            ilux.LinearSolver(**{name: value})


def test_what_is_refused(system):
    A, b = system
    with pytest.raises(ilux.InvalidInput, match="analyse"):
        ilux.LinearSolver().solve(b)
    with pytest.raises(ilux.InvalidInput, match="square"):
        solver_of(A[:3])
    solver = solver_of(A)
    for wrong in (b[:-1], np.ones((3, 3, 3)), np.full(A.shape[0], np.nan), np.array(["a"] * A.shape[0])):
        with pytest.raises(ilux.InvalidInput):
            solver.solve(wrong)
    with pytest.raises(ilux.InvalidInput, match="trans"):
        solver.solve(b, "X")
    broken = A.copy()
    broken.data[3] = np.inf
    with pytest.raises(ilux.InvalidInput):
        solver_of(broken)


def test_failures_have_x_and_report(system):
    A, b = system
    solver = solver_of(A, method="gmres", precond={"kind": "none"}, retry=False, krylov={"max_steps": 3})
    with pytest.raises(ilux.NotConverged) as caught:
        solver.solve(b)
    assert caught.value.x.shape == b.shape and caught.value.report.outcome == "max_steps"
    assert relative_residual(A, caught.value.x, b) < 1
    solver.solve(b, check=False)
    assert solver.report.outcome == "max_steps"
    with pytest.raises(ilux.SingularMatrix):
        solver_of(sparse.csr_array(np.ones((3, 3))), method="lu")


def test_progress_and_exceptions_of_the_callers(system):
    A, b = system
    seen = []
    solver = solver_of(A, method="gmres", progress=lambda *told: seen.append(told))
    solver.solve(b)
    assert {phase for phase, *_ in seen} == {"setup", "solve"}

    def refuse(phase, done, total, residual):
        if phase == "solve" and done >= 2:
            raise KeyError("enough")

    solver = solver_of(A, method="gmres", precond={"kind": "none"}, progress=refuse)
    with pytest.raises(KeyError, match="enough"):
        solver.solve(b)


def test_other_threads_run_meanwhile():
    """A Python thread counts on while a solve of some tenths of a second goes on."""
    A = ilux.gallery("convdiff3d:n=30")
    solver = ilux.LinearSolver(threads=1, method="gmres", device="cpu").analyse(A)
    count, stop = 0, threading.Event()

    def counting():
        nonlocal count
        while not stop.wait(0.001):
            count += 1

    thread = threading.Thread(target=counting)
    thread.start()
    solver.factor().solve(random_vector(A.shape[0]))
    stop.set()
    thread.join()
    assert count > 5


def test_one_solver_refuses_a_second_thread():
    A = ilux.gallery("poisson2d:n=20")
    errors = []
    solver = None

    def progress(phase, done, total, residual):
        if phase == "solve" and not errors:
            thread = threading.Thread(target=second)
            thread.start()
            thread.join()

    def second():
        try:
            solver.solve(np.ones(A.shape[0]))
        except ilux.InvalidInput as error:
            errors.append(str(error))

    solver = ilux.LinearSolver(method="gmres", device="cpu", progress=progress).analyse(A).factor()
    solver.solve(np.ones(A.shape[0]))
    assert errors and "thread" in errors[0]


def test_nothing_is_left_behind():
    A = ilux.gallery("poisson2d:n=8")
    solver = ilux.LinearSolver(history=True, method="gmres").analyse(A).factor()
    solver.solve(np.ones(64))
    alive = weakref.ref(solver)
    del solver
    gc.collect()
    assert alive() is None


def test_gallery_and_files(tmp_path):
    with pytest.raises(ilux.IluxError, match="convdiff2d"):
        ilux.gallery("convdif2d")
    assert ilux.gallery("helmholtz2d_open:n=8").dtype == np.complex128
    (tmp_path / "A.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 2 5\n")
    np.testing.assert_array_equal(ilux.read(tmp_path / "A.mtx").toarray(), [[4, 0], [0, 5]])
    with pytest.raises(ilux.InvalidInput):
        ilux.read(tmp_path / "none.mtx")


def test_values_of_a_converted_matrix_are_refused(system):
    A, b = system
    C = sparse.csc_array(A)
    lu = ilux.splu(C)
    with pytest.raises(ilux.InvalidInput, match="converted"):
        lu.refactor(C.data)
    assert relative_residual(A, lu.refactor(C * 2.0).solve(b) * 2, b) <= 1e-8


def test_the_analysed_numbers_can_be_factored_again(system):
    A, b = system
    solver = solver_of(A, method="lu").refactor(A * 2.0)
    assert relative_residual(A, solver.factor().solve(b), b) <= 1e-8


def test_arrays_that_do_not_fit_are_refused():
    A = ilux.gallery("poisson2d:n=8")
    broken = A.copy()
    broken.data = broken.data[:-5]
    with pytest.raises(ilux.InvalidInput):
        ilux.solve(broken, np.ones(64))
    solver = solver_of(A)
    core = solver._ready()[0]
    B = np.ones((64, 3))
    for b, x in ((B[:, 0], np.zeros(64)), (np.ones(63), np.zeros(64)), (np.ones(64), np.zeros(63)), (np.ones(64, np.float32), np.zeros(64))):
        with pytest.raises(ilux._core.Failed):
            core.solve(0, 1, b, 64, x, 64)


def test_a_refused_solve_has_no_report(system):
    A, b = system
    solver = solver_of(A)
    solver.solve(b)
    with pytest.raises(ilux.InvalidInput):
        solver.solve(b * np.nan)
    with pytest.raises(ilux.InvalidInput):
        solver.report


def test_ctrl_c_ends_a_factorization():
    import signal
    import subprocess
    import sys
    import time

    program = ("import ilux; A = ilux.gallery('convdiff3d:n=48'); s = ilux.LinearSolver(method='lu', threads=1, device='cpu').analyse(A);"
               "print('ready', flush=True); s.factor()")
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    begun = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in told and time.perf_counter() - begun < 20

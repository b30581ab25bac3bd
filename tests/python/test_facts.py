"""info, compare and the model problems. What is told of a matrix is counted again by NumPy and SciPy."""
import html.parser
import pathlib
import xml.etree.ElementTree

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.csgraph as csgraph

import ilux
from conftest import random_vector, relative_residual

CPU = {"device": "cpu", "threads": 1}


def matrices():
    draw = np.random.default_rng(3)
    random = sparse.csr_array(sparse.random(40, 40, density=0.1, random_state=draw, format="csr") + sparse.eye(40))
    blocks = sparse.block_diag([random, sparse.eye(3) * 2, sparse.csr_array([[1.0, 2.0], [2.0, 1.0]])])
    return {"convection": ilux.gallery("convdiff2d:n=12"), "poisson": ilux.gallery("poisson2d", n=12), "random": random,
            "blocks": sparse.csr_array(blocks), "complex": ilux.gallery("helmholtz2d_open", n=9),
            "hermitian": sparse.csr_array(np.array([[3, 1j], [-1j, 3]])), "one": sparse.csr_array([[2.0]])}


@pytest.mark.parametrize("name", matrices())
def test_info_is_what_scipy_counts(name):
    A = sparse.csr_array(matrices()[name])
    info, dense, n = ilux.info(A), A.toarray(), A.shape[0]
    assert (info.n, info.nnz, info.is_complex) == (n, A.nnz, A.dtype.kind == "c")
    assert info.symmetric == np.array_equal(dense, dense.T)
    assert info.hermitian == np.array_equal(dense, dense.conj().T)
    sizes = np.abs(dense)
    dominant = 2 * np.diag(sizes) >= sizes.sum(1) * (1 - 1e-14)
    assert abs(info.dominant_rows - dominant.sum()) <= np.sum(np.isclose(2 * np.diag(sizes), sizes.sum(1)))
    assert info.structural_rank == csgraph.structural_rank(A)
    assert info["bandwidth"]["lower"] == max(i - j for i, j in zip(*A.nonzero()))
    assert info["values"]["largest"] == pytest.approx(sizes.max(), rel=1e-14)


def test_blocks_are_those_of_the_strongly_connected_graph():
    A = matrices()["blocks"]  # with a full diagonal: the blocks are its strongly connected parts
    count, label = csgraph.connected_components(A, connection="strong")
    info = ilux.info(A)
    assert (info.blocks, info.largest_block) == (count, np.bincount(label).max())


@pytest.mark.parametrize("name", ["poisson2d:n=8", "poisson3d:n=14", "convdiff3d:n=14"])
def test_the_recommended_method_is_taken(name):
    A = ilux.gallery(name)
    solver = ilux.LinearSolver().analyse(A).factor()
    solver.solve(random_vector(A.shape[0]))
    assert ilux.info(A).recommended == solver.report["attempts"][0]["method"]


def test_a_singular_matrix_has_no_blocks_and_no_method():
    info = ilux.info(sparse.csr_array([[1.0, 0.0], [1.0, 0.0]]))
    assert (info.structural_rank, info.blocks, info.recommended, info.reasons) == (1, None, None, [])
    assert "singular" in info._repr_html_()


def test_info_of_levels_and_as_a_dict():
    A = ilux.gallery("convdiff2d:n=8")
    assert ilux.info(A)["lu"]["levels"] is None
    tree = dict(ilux.info(A, levels=True))
    assert sum(tree["lu"]["levels"]["sizes"]) == 64
    with pytest.raises(ilux.InvalidInput):
        ilux.info(np.ones((2, 3)))


def test_gallery_by_name_and_parameters():
    by_text = ilux.gallery("convdiff2d:n=9,peclet=3")
    for other in (ilux.gallery("convdiff2d", n=9, peclet=3), ilux.gallery("convdiff2d:n=9", peclet=3)):
        assert (other != by_text).nnz == 0
    with pytest.raises(ilux.InvalidOption):
        ilux.gallery("convdiff2d", size=9)


def test_compare_solves_by_each_strategy(system):
    A, b = system
    found = ilux.compare(A, b, **CPU)
    assert [row["name"] for row in found] == ["direct", "iterative"]
    for row in found:
        assert row["outcome"] == "converged" and row["relative_residual"] <= 1e-8
        assert row["seconds"]["total"] == pytest.approx(row["seconds"]["setup"] + row["seconds"]["solve"])
    least = min(found, key=lambda row: row["seconds"]["total"])
    assert found.winner is least and found["direct"] is found[0] and len(found) == 2
    with pytest.raises(KeyError):
        found["cusp"]


def test_compare_tells_the_residual_of_the_same_solution(system):
    A, b = system
    row = ilux.compare(A, b, ["gmres"], **CPU)[0]
    x = ilux.LinearSolver(method="gmres", **CPU).analyse(A).factor().solve(b)
    assert row["relative_residual"] == pytest.approx(relative_residual(A, x, b), rel=1e-2)
    assert row["method"] == "gmres"


def test_compare_runs_mode_auto_by_its_name(system):
    A, b = system
    found = ilux.compare(A, b, "direct,iterative,auto", **CPU)
    assert [row["strategy"] for row in found] == ["direct", "iterative", "auto"]
    assert found["auto"]["outcome"] == "converged" and found["auto"]["began_with"] in ("direct", "iterative")
    rows = ilux.compare(A, b, {"plain": {}, "cg": {"method": "gmres"}}, mode="auto", **CPU)
    assert [row["strategy"] for row in rows] == ["auto", "iterative"]


def test_a_strategy_of_two_devices_is_found_by_its_name():
    rows = [{"name": f"LU, {device}", "device": device, "outcome": outcome, "seconds": {"total": seconds}}
            for device, outcome, seconds in (("cpu", "converged", 2.0), ("gpu", "converged", 1.0))]
    found = ilux.Comparison(rows, 1e-8)
    assert found["LU"] is rows[1] and found["LU, cpu"] is rows[0] and found["LU, gpu"] is rows[1]
    rows[1]["outcome"] = "limit"
    assert found["LU"] is rows[0]
    rows[0]["outcome"] = "limit"
    assert found["LU"] is rows[0] and found.winner is None
    with pytest.raises(KeyError):
        found["L"]


def test_compare_by_own_names_and_options():
    A = ilux.gallery("poisson2d:n=30")
    b = random_vector(900)
    found = ilux.compare(A, b, {"LU": {"method": "lu"}, "few": {"method": "cg", "precond": {"kind": "none"}, "krylov.max_steps": 2},
                                "cg": {"method": "cg"}}, retry=False, **CPU)
    assert [row["outcome"] for row in found] == ["converged", "max_steps", "converged"]
    assert found["few"]["steps"] == 2 and found.winner["name"] != "few"
    none = ilux.compare(A, b, {"few": {"method": "gmres", "precond.kind": "none", "krylov.max_steps": 2}}, retry=False, **CPU)
    assert none.winner is None and "none of them" in none._repr_html_()


@pytest.mark.parametrize("wrong", [dict(b=np.ones(3)), dict(b=np.ones(64) * 1j), dict(b=np.full(64, np.nan)), dict(strategies=["cgg"]), dict(strategies=[]),
                                   dict(repeats=0), dict(krylov={"rtol": -1})])
def test_compare_refuses(wrong):
    given = {"b": np.ones(64), **wrong}
    with pytest.raises(ValueError):
        ilux.compare(ilux.gallery("poisson2d:n=8"), given.pop("b"), **{**CPU, **given})


class Tags(html.parser.HTMLParser):
    """Whether every tag is closed by its own."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def shown():
    A = ilux.gallery("poisson2d:n=12")
    b = random_vector(144)
    solver = ilux.LinearSolver(method="cg", history=True, **CPU).analyse(A).factor()
    solver.solve(b)
    return {"report": solver.report, "info": ilux.info(A), "compare": ilux.compare(A, b, {"<b> & \"c\"": {"method": "cg"}}, **CPU)}


@pytest.mark.parametrize("what", ["report", "info", "compare"])
def test_html_is_sound_and_escaped(what):
    text = shown()[what]._repr_html_()
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    xml.etree.ElementTree.fromstring(f"<div>{text.replace('<br>', '<br/>')}</div>")
    assert "<b>" not in text
    for colour in ("color:", "background"):  # the page's own, light or dark
        assert colour not in text


def test_plots():
    pytest.importorskip("matplotlib").use("agg")
    found = ilux.compare(ilux.gallery("poisson2d:n=12"), np.ones(144), {"LU": {"method": "lu"}, "none": {
        "method": "gmres", "precond.kind": "none", "krylov.max_steps": 1}}, retry=False, **CPU)
    ax = found.plot()
    widths = [bar.get_width() for bar in ax.containers[0]], [bar.get_width() for bar in ax.containers[1]]
    assert (widths[0][0], widths[1][0], widths[0][1]) == pytest.approx((found[0]["seconds"]["setup"], found[0]["seconds"]["solve"], 0))
    assert any(text.get_text() == "max_steps" for text in ax.texts)
    assert "max_steps" in str(found) and "LU" in repr(found)


def test_the_types_are_sound(monkeypatch):
    api = pytest.importorskip("mypy.api")
    package = pathlib.Path(ilux.__file__).parent
    if not (package / "_core.pyi").exists():
        pytest.skip("there is no stub of the compiled module")
    if package.parent.name != "site-packages":
        monkeypatch.setenv("MYPYPATH", str(package.parent))
    out, err, status = api.run(["--no-incremental", "--cache-dir", "/dev/null", "--ignore-missing-imports", "-p", "ilux"])
    assert status == 0, out + err

"""The code of docs/python.md runs as it stands there, one block after another."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_the_page_runs(capsys, tmp_path, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    names: dict = {}
    monkeypatch.chdir(tmp_path)  # where files of the page go
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    told = capsys.readouterr().out
    assert "converged" in told and "plan: written" in told and "plan: loaded" in told

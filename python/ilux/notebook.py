"""Tables as a notebook shows them: in the colours that the page has, light or dark, and never wider than their cell."""

from __future__ import annotations

import html
from typing import Any, Iterable, Sequence

# Notebooks style tables by rules of their own; what is not said here, alignment and wrapping, they would decide.
_LEFT = "text-align:left;vertical-align:top;white-space:normal;overflow-wrap:break-word"
_HEAD = "text-align:left;vertical-align:top;white-space:nowrap;font-weight:600;padding-right:1em"
_NUMBER = "text-align:right;vertical-align:top;white-space:nowrap;font-variant-numeric:tabular-nums"


def text(value: Any) -> str:
    """A value for people, escaped: numbers short, what is unknown as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    if isinstance(value, dict):
        return "<br>".join(f"{html.escape(str(key))}: {text(one)}" for key, one in value.items()) or "–"
    if isinstance(value, (list, tuple)):
        return "<br>".join(text(one) for one in value) or "–"
    return html.escape(str(value))


def _framed(table: str) -> str:
    return f'<div style="max-width:100%;overflow-x:auto">{table}</div>'


def facts(rows: Iterable[tuple[str, Any]]) -> str:
    """A table of two columns: what, and its value."""
    lines = "".join(f'<tr><th scope="row" style="{_HEAD}">{html.escape(name)}</th><td style="{_LEFT}">{text(value)}</td></tr>'
                    for name, value in rows)
    return _framed(f'<table class="ilux"><tbody>{lines}</tbody></table>')


def grid(columns: Sequence[str], rows: Iterable[Sequence[Any]], bold: int | None = None) -> str:
    """A table with a head; numbers stand on the right. @param bold  number of the row that is set off"""
    def cell(value: Any, strong: bool) -> str:
        style = _NUMBER if value is None or isinstance(value, (int, float)) else _LEFT
        return f'<td style="{style}{";font-weight:600" if strong else ""}">{text(value)}</td>'

    head = "".join(f'<th scope="col" style="text-align:left;white-space:nowrap">{html.escape(name)}</th>' for name in columns)
    lines = "".join(f'<tr>{"".join(cell(value, number == bold) for value in row)}</tr>' for number, row in enumerate(rows))
    return _framed(f'<table class="ilux"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>')

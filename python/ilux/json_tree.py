"""What the library tells as JSON, as a mapping."""

from __future__ import annotations

import json
from typing import Any, Iterator, Mapping


class JsonTree(Mapping[str, Any]):
    """The keys of one JSON object, read-only; dict(tree) copies it."""

    def __init__(self, text: str) -> None:
        self._tree: dict[str, Any] = json.loads(text)

    def __getitem__(self, key: str) -> Any:
        return self._tree[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tree)

    def __len__(self) -> int:
        return len(self._tree)

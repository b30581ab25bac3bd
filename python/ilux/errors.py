"""What ilux raises. Every class also is the built-in one that programs catch already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    from .report import Report


class IluxError(Exception):
    """Whatever ilux raises."""


class InvalidOption(IluxError, ValueError):
    """An option that does not exist, or makes no sense. The message names the nearest one."""


class InvalidInput(IluxError, ValueError):
    """A matrix, a vector or a file that cannot be used, or a call that comes too early."""


class OutOfMemory(IluxError, MemoryError):
    """Memory, or the limit of memory that was set."""


class DeviceError(IluxError, RuntimeError):
    """There is no such GPU, or it failed."""


class InternalError(IluxError, RuntimeError):
    """A fault of ilux itself; please report it."""


class NotConverged(IluxError, ArithmeticError):
    """There is no x that meets the tolerance. `x` is the best there is, `report` says what was tried."""

    x: Any = None
    report: "Report | None" = None


class SingularMatrix(NotConverged, RuntimeError):
    """A is singular, or the method broke down. SciPy raises RuntimeError for it."""


class Cancelled(NotConverged):
    """The call was cancelled."""


_BY_STATUS: dict[int, type[IluxError]] = {
    1: InvalidOption, 2: InvalidInput, 3: NotConverged, 4: SingularMatrix, 5: OutOfMemory, 6: DeviceError, 7: InternalError,
    130: Cancelled,
}


def error_of(status: int, message: str) -> IluxError:
    """The exception for a status of the C interface."""
    return _BY_STATUS.get(status, InternalError)(message)


class _Translated:
    """Turns what the compiled module raises into the classes above. A class of its own: a generator takes several times as long, in
    every call of a solver."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, raised: Any, _: Any) -> None:
        if kind is _core.Failed:
            status, message = raised.args
            raise error_of(status, message) from None


_translated = _Translated()


def translated() -> _Translated:
    return _translated

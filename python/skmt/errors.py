"""Errors of the library as exceptions.

Every exception of this package is an `Error`, except a `TypeError` for an
argument of the wrong type. Where Python has an exception for the same case, the
subclass is also that exception: `except OSError` catches a file that cannot be
read.
"""
import enum
from typing import Dict, Optional, Type

__all__ = ["Status", "Error", "OutOfMemoryError", "FileError", "FormatError",
           "VersionError", "ArgumentError", "TextError", "LimitError",
           "CanceledError", "DeadlineError", "DeviceError", "ClosedError",
           "LibraryError"]


class Status(enum.IntEnum):
    """The statuses of the library (skmt_status)."""
    OK = 0
    NOMEM = 1
    IO = 2
    FORMAT = 3
    VERSION = 4
    ARGUMENT = 5
    TEXT = 6
    LIMIT = 7
    CANCELED = 8
    DEADLINE = 9
    DEVICE = 10


class Error(Exception):
    """An error of skmt. `message` is a sentence without its final period, and
    `status` is a `Status`, or the number of a status that this version of the
    package does not know."""

    status: int = Status.ARGUMENT

    def __init__(self, message: str, status: Optional[int] = None,
                 index: Optional[int] = None):
        super().__init__(message)
        self.message = message
        if status is not None:
            self.status = status
        #: The number of the text that failed, if several were translated.
        self.index = index

    def __str__(self) -> str:
        return self.message


class OutOfMemoryError(Error, MemoryError):
    """Out of memory."""
    status = Status.NOMEM


class FileError(Error, OSError):
    """A file could not be read or written."""
    status = Status.IO


class FormatError(Error, ValueError):
    """A file is damaged or has the wrong format."""
    status = Status.FORMAT


class VersionError(Error):
    """A file, or the library, is of another version."""
    status = Status.VERSION


class ArgumentError(Error, ValueError):
    """An argument or an option is invalid."""
    status = Status.ARGUMENT


class TextError(Error, ValueError):
    """A text is not valid UTF-8, or contains a NUL."""
    status = Status.TEXT


class LimitError(Error):
    """A limit was exceeded."""
    status = Status.LIMIT


class CanceledError(Error):
    """A translation or an operation was canceled."""
    status = Status.CANCELED


class DeadlineError(Error, TimeoutError):
    """The deadline of a request has passed."""
    status = Status.DEADLINE


class DeviceError(Error):
    """The device that runs the model failed."""
    status = Status.DEVICE


class ClosedError(ArgumentError):
    """An object was used after it was closed."""


class LibraryError(Error, ImportError):
    """The library libskmt.so was not found, or does not fit this package."""
    status = Status.IO


_CLASSES: Dict[int, Type[Error]] = {
    Status.NOMEM: OutOfMemoryError, Status.IO: FileError,
    Status.FORMAT: FormatError, Status.VERSION: VersionError,
    Status.ARGUMENT: ArgumentError, Status.TEXT: TextError,
    Status.LIMIT: LimitError, Status.CANCELED: CanceledError,
    Status.DEADLINE: DeadlineError, Status.DEVICE: DeviceError}


def error_of(status: int, message: str, index: Optional[int] = None) -> Error:
    """The exception for a status of the library."""
    known = Status(status) if status in _CLASSES else status
    return _CLASSES.get(status, Error)(message, known, index)

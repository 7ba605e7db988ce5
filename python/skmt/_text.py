"""Strings for the library, and byte offsets as indices of a str."""
import os
from typing import Any, List, Optional

from .errors import TextError


def encode(text: str, what: str = "a text") -> bytes:
    """A str as UTF-8. Bytes that Python could not decode (surrogate escapes)
    become those bytes again, so that option `invalid` decides about them."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    if "\0" in text:
        raise TextError(f"{what} cannot contain a NUL character")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def encode_optional(text: Optional[str], what: str = "a text"
                    ) -> Optional[bytes]:
    return None if text is None else encode(text, what)


def encode_path(path: Any) -> bytes:
    """The name of a file: str, bytes or os.PathLike."""
    raw = os.fsencode(path)
    if b"\0" in raw:
        raise TextError("a file name cannot contain a NUL character")
    return raw


def as_seen(raw: bytes) -> str:
    """The text as the library sees it: each byte that is not valid UTF-8 is
    replaced by U+FFFD."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "surrogateescape")
        return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c
                       for c in text)


class Offsets:
    """Maps byte offsets in the UTF-8 form of a text to indices of the str. A
    span that begins or ends inside a character includes the character."""

    def __init__(self, text: str):
        self._begin: Optional[List[int]] = None
        if text.isascii():
            return
        self._begin = []
        self._end = []
        for i, c in enumerate(text):
            n = len(c.encode("utf-8", "surrogatepass"))
            self._begin += [i] * n
            self._end += [i] + [i + 1] * (n - 1)
        self._begin.append(len(text))
        self._end.append(len(text))

    def begin(self, offset: int) -> int:
        return offset if self._begin is None else self._begin[offset]

    def end(self, offset: int) -> int:
        return offset if self._begin is None else self._end[offset]

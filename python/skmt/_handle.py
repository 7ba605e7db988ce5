"""Objects of the library that are freed exactly once, and in the right order.

A `Native` is a pointer of the library. It counts the natives that need it, and
is freed when it was released and none is left; so Python may drop its objects in
any order. A `Handle` is a Python object with a native. Closing a handle closes
the handles that need it first.

After a fork, threads and open memories belong to the parent. The child neither
uses nor frees them.
"""
import contextlib
import os
import threading
import weakref
from typing import (Any, Callable, Iterator, List, Optional, Sequence, Type,
                    TypeVar)

from .errors import ClosedError

_counts = threading.RLock()     # protects the counts of all natives


class Native:
    __slots__ = ("pointer", "free", "needs", "users", "released", "keep",
                 "graves", "pid", "__weakref__")

    def __init__(self, pointer: int, free: Callable[[int], Any],
                 needs: Sequence["Native"] = (), keep: Any = None):
        self.pointer: Optional[int] = pointer
        self.free = free
        self.needs = list(needs)
        self.users = 0
        self.released = False
        self.pid = os.getpid()
        self.keep = keep        # what must live as long, such as a callback
        # Natives that the garbage collector found while another thread might
        # use this one; see Handle._bury.
        self.graves: List["Native"] = []
        with _counts:
            for n in self.needs:
                n.users += 1


def release(native: Native) -> None:
    """Free a native as soon as no other one needs it."""
    with _counts:
        native.released = True
        if native.users or native.pointer is None:
            return
        pointer, native.pointer = native.pointer, None
    if native.pid != os.getpid():
        return
    for grave in list(native.graves):
        release(grave)
    native.free(pointer)
    native.keep = None
    for n in native.needs:
        with _counts:
            n.users -= 1
            last = n.released and not n.users
        if last:
            release(n)


def bury(native: Native, parent: Native) -> None:
    """Leave it to the next user of `parent` to free `native`: the garbage
    collector runs in any thread, and a memory is for one thread at a time."""
    if native.pointer is not None:
        parent.graves.append(native)
        # The parent is waited for by its graves only.
        with _counts:
            parent.users -= 1
            native.needs.remove(parent)
            last = parent.released and not parent.users
        if last:
            release(parent)


H = TypeVar("H", bound="Handle")


class Handle:
    """An object of the library. One thread uses it at a time: the others wait.
    It can be closed with `close` or by a `with` statement, and is closed when
    nothing refers to it any more."""

    _what = "object"
    _survives_fork = False
    _native: Native

    def _own(self, pointer: int, free: Callable[[int], Any],
             parents: Sequence["Handle"] = (), keep: Any = None,
             buried_in: Optional[Native] = None) -> None:
        self._lock = threading.RLock()
        self._children: "weakref.WeakSet[Handle]" = weakref.WeakSet()
        self._parents = list(parents)
        self._native = Native(pointer, free, [p._native for p in parents],
                              keep)
        if buried_in is None:
            self._finalizer = weakref.finalize(self, release, self._native)
        else:
            self._finalizer = weakref.finalize(self, bury, self._native,
                                               buried_in)
        for parent in parents:
            parent._children.add(self)

    @property
    def closed(self) -> bool:
        """Whether the object was closed."""
        native = getattr(self, "_native", None)
        return native is None or native.released

    @property
    def _pointer(self) -> int:
        """The pointer for a call. The caller holds the lock."""
        native: Optional[Native] = getattr(self, "_native", None)
        if native is None or native.released or native.pointer is None:
            for parent in getattr(self, "_parents", ()):
                if parent.closed:
                    raise ClosedError(f"this {self._what} is closed, because "
                                      f"its {parent._what} was closed")
            raise ClosedError(f"this {self._what} is closed")
        if native.pid != os.getpid() and not self._survives_fork:
            raise ClosedError(f"this {self._what} belongs to the parent of "
                              "this process; make a new one")
        return native.pointer

    @contextlib.contextmanager
    def _pinned(self) -> Iterator[Optional[int]]:
        """The pointer for a call that may run beside one of another thread, or
        None if the object is closed. It is not freed meanwhile."""
        native = self._native
        with _counts:
            if native.released or native.pid != os.getpid():
                pointer = None
            else:
                pointer = native.pointer
                native.users += 1
        try:
            yield pointer
        finally:
            if pointer is not None:
                with _counts:
                    native.users -= 1
                    last = native.released and not native.users
                if last:
                    release(native)

    def close(self) -> None:
        """Close the object, and those that need it. Waits for calls of other
        threads. Closing twice is fine."""
        if self.closed:
            return
        with self._lock:
            for child in list(self._children):
                child.close()
            self._finalizer.detach()
            release(self._native)

    def __enter__(self: H) -> H:
        self._pointer
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Any,
                 trace: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return (f"<skmt.{type(self).__name__}"
                f"{' (closed)' if self.closed else ''}>")

    def __reduce__(self) -> Any:
        raise TypeError(f"a {self._what} cannot be copied or pickled")

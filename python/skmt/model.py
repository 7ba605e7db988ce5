"""Models, sessions and streams: translating."""
import contextlib
import os
import queue
import threading
import weakref
from collections import deque
from ctypes import byref, c_char_p, c_int64, c_size_t, c_void_p
from typing import (Any, Callable, Deque, Dict, Generic, Iterable, Iterator,
                    List, Mapping, Optional, Sequence, Tuple, TypeVar, Union,
                    overload)

from ._handle import Handle, Native
from ._library import (CError, CSimilar, STREAM_FN, facts_of, lib,
                       new_struct, text_of)
from ._text import encode, encode_optional, encode_path
from .errors import ArgumentError, ClosedError, Error, error_of
from .memory import Memory, Path, _Progress
from .options import Options, keyword, normal
from .results import Result, read_result
from .store import find_model

__all__ = ["Model", "Session", "Stream", "Keys"]

#: A pair that the caller gives: (source, target) or with its similarity.
SimilarPair = Union[Tuple[str, str], Tuple[str, str, float]]
#: A text of a stream: the text, or (text, prefix).
StreamText = Union[str, Tuple[str, Optional[str]]]
#: Several texts. (A str is an Iterable[str] too, but is one text.)
Texts = Union[List[str], Tuple[str, ...], Iterator[str]]
T = TypeVar("T", str, Result)

# Texts of a list that are translated by one call, so that Ctrl-C does not have
# to wait for all of them.
CHUNK = 256
# Sessions that a model keeps for the next call of translate.
IDLE = 4


class _Pool:
    """Idle sessions by what they were made with."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: List[Tuple[Any, "Session"]] = []

    def take(self, key: Any) -> Optional["Session"]:
        with self._lock:
            for i, (k, s) in enumerate(self._idle):
                if k == key and not s.closed:
                    del self._idle[i]
                    return s
        return None

    def put(self, key: Any, session: "Session") -> None:
        with self._lock:
            self._idle.insert(0, (key, session))
            old = self._idle[IDLE:]
            del self._idle[IDLE:]
        for _, s in old:
            s.close()


class Model(Handle):
    """A model file.

    >>> model = skmt.Model()
    >>> model.translate("Guten Morgen!")
    'Good morning!'

    `path` is a file, or the name of a model. Without it, the languages choose
    the model (`from_="en", to="fr"`), or else it is the default; see
    `find_model`. `from_` and `to` also choose the languages of a model that has
    several. Any number of threads may use a model at the same time. The options
    are those of group "model". Sessions and streams may be used after the model
    was closed.
    """

    _what = "model"
    _survives_fork = True

    def __init__(self, path: Optional[Path] = None, *,
                 from_: Optional[str] = None, to: Optional[str] = None,
                 **options: Any):
        #: The name of the file.
        self.path: str = find_model(path, from_, to)
        with Options(normal({"from_": from_, "to": to, **options})) as o:
            self._own(lib().make("model_open_with", encode_path(self.path),
                                 o._pointer), lib().model_close)
        self._pool = _Pool()
        self._pooled: "weakref.WeakSet[Session]" = weakref.WeakSet()
        self._facts = self._read_facts()

    def _read_facts(self) -> Dict[str, str]:
        facts: Dict[str, str] = {}
        value = c_char_p()
        i = 0
        while True:
            name = lib().model_fact(self._pointer, i, byref(value))
            if name is None:
                return facts
            facts[text_of(name)] = text_of(value.value)
            i += 1

    def close(self) -> None:
        if self.closed:
            return
        for session in list(self._pooled):
            session.close()
        super().close()

    def __repr__(self) -> str:
        return f"<skmt.Model {self.path!r}{' (closed)' if self.closed else ''}>"

    # ---- what the model is

    @property
    def facts(self) -> Dict[str, str]:
        """Facts about the model, as printed by `skmt info`: name, source_lang,
        target_lang, type, checksum, d_model .."""
        return dict(self._facts)

    @property
    def name(self) -> str:
        return self._facts.get("name", "")

    @property
    def source_lang(self) -> str:
        return self._facts.get("source_lang", "")

    @property
    def target_lang(self) -> str:
        return self._facts.get("target_lang", "")

    def options(self, steered: bool = False,
                **options: Any) -> Dict[str, str]:
        """The values of all options that a translation with these options
        uses, as text: automatic values are replaced. `steered`: with a
        memory."""
        from .options import options as describe
        with self._lock, Options(normal(options)) as o:
            return {i.name: o.in_force(self._pointer, steered,
                                       i.name.rstrip("_").replace("_", "-"))
                    or "" for i in describe()}

    # ---- translating

    @overload
    def translate(self, text: str, *, memory: Union[None, Path, Memory] = ...,
                  prefix: Optional[str] = ...,
                  pairs: Optional[Sequence[SimilarPair]] = ...,
                  **options: Any) -> str: ...

    @overload
    def translate(self, text: Texts, *,
                  memory: Union[None, Path, Memory] = ...,
                  prefix: Union[None, str, Sequence[Optional[str]]] = ...,
                  pairs: Optional[Sequence[SimilarPair]] = ...,
                  **options: Any) -> List[str]: ...

    def translate(self, text: Any, *, memory: Union[None, Path, Memory] = None,
                  prefix: Any = None,
                  pairs: Optional[Sequence[SimilarPair]] = None,
                  **options: Any) -> Any:
        """Translate a text, or a list of texts. `memory` is the name of a
        memory file, or a Memory. The translation begins with `prefix`. `pairs`
        are used instead of a search. The options are those of `options()`.

        The model keeps the sessions of the last calls, so calling this again
        with the same options is fast."""
        with self._session(memory, options) as session:
            return session.translate(text, prefix=prefix, pairs=pairs)

    @overload
    def result(self, text: str, *, memory: Union[None, Path, Memory] = ...,
               prefix: Optional[str] = ...,
               pairs: Optional[Sequence[SimilarPair]] = ...,
               **options: Any) -> Result: ...

    @overload
    def result(self, text: Texts, *,
               memory: Union[None, Path, Memory] = ...,
               prefix: Union[None, str, Sequence[Optional[str]]] = ...,
               pairs: Optional[Sequence[SimilarPair]] = ...,
               **options: Any) -> List[Result]: ...

    def result(self, text: Any, *, memory: Union[None, Path, Memory] = None,
               prefix: Any = None,
               pairs: Optional[Sequence[SimilarPair]] = None,
               **options: Any) -> Any:
        """Translate like `translate`, and return all that is known: scores,
        sentences, tokens, n-best lists (nbest=3), stored pairs and their votes
        (explain=True), attention (attention=True)."""
        with self._session(memory, options) as session:
            return session.result(text, prefix=prefix, pairs=pairs)

    def session(self, memory: Union[None, Path, Memory] = None,
                keys: Optional["Keys"] = None, **options: Any) -> "Session":
        """Make a session."""
        return Session(self, memory, keys, **options)

    def stream(self, texts: Iterable[StreamText],
               memory: Union[None, Path, Memory] = None,
               keys: Optional["Keys"] = None, *, ahead: Optional[int] = None,
               errors: str = "raise", **options: Any) -> "Stream[str]":
        """Translate the texts of an iterator; see Stream."""
        return Stream(self, texts, memory, keys, ahead=ahead, errors=errors,
                      full=False, options=options)

    def stream_results(self, texts: Iterable[StreamText],
                       memory: Union[None, Path, Memory] = None,
                       keys: Optional["Keys"] = None, *,
                       ahead: Optional[int] = None, errors: str = "raise",
                       **options: Any) -> "Stream[Result]":
        """The same, with results instead of texts."""
        return Stream(self, texts, memory, keys, ahead=ahead, errors=errors,
                      full=True, options=options)

    @contextlib.contextmanager
    def _session(self, memory: Union[None, Path, Memory],
                 options: Mapping[str, Any]) -> Iterator["Session"]:
        """An idle session with these options, or a new one."""
        self._pointer
        key: Any = (os.getpid(), self._native, None,
                    tuple(sorted(normal(options).items())))
        pool = self._pool
        if isinstance(memory, Memory):
            if memory._pool is None:
                memory._pool = _Pool()
            pool = memory._pool
        elif memory is not None:
            # Another file of this name is another memory.
            try:
                now = os.stat(memory)
                file = now.st_dev, now.st_ino
            except OSError:
                file = None     # the library says what is wrong with it
            key = (*key[:2], (os.path.abspath(os.fsdecode(memory)), file),
                   key[3])
        session = pool.take(key) or Session(self, memory, **options)
        self._pooled.add(session)
        try:
            yield session
        except ClosedError:
            session.close()
            raise
        finally:
            if not session.closed and not self.closed:
                pool.put(key, session)


def _open_memory(memory: Union[None, Path, Memory]) -> Optional[Memory]:
    if memory is None or isinstance(memory, Memory):
        return memory
    return Memory(memory, "read")


class _Steered(Handle):
    """What sessions and streams have in common: they may use a memory."""

    _memory: Optional[Memory] = None
    _opened = False             # the memory was opened for this object

    def close(self) -> None:
        super().close()
        opened, self._opened = self._opened, False
        if opened and self._memory is not None:
            self._memory.close()

    def _init(self, model: Model, memory: Union[None, Path, Memory],
              keys: Optional["Keys"], o: Options,
              make: Callable[[int], int], free: Callable[[int], Any],
              use: str, keep: Any = None) -> None:
        mine = _open_memory(memory)
        try:
            self._start(model, mine, mine is not memory, keys, o, make, free,
                        use, keep)
        except BaseException:
            self.close()
            if mine is not None and mine is not memory:
                mine.close()
            raise

    def _start(self, model: Model, mine: Optional[Memory], opened: bool,
               keys: Optional["Keys"], o: Options,
               make: Callable[[int], int], free: Callable[[int], Any],
               use: str, keep: Any) -> None:
        with contextlib.ExitStack() as stack:
            tm = stack.enter_context(mine._in_use()) if mine else None
            stack.enter_context(model._lock)
            if keys is not None:
                stack.enter_context(keys._lock)
            cache = None if keys is None else keys._pointer
            parents = [h for h in (mine, keys) if h is not None]
            self._own(make(model._pointer), free, parents, keep)
            self._memory = mine
            self._opened = opened
            if opened:
                lib().call("tm_use_with", tm, model._pointer, None, 0,
                           o._pointer)
            if parents:
                lib().call(use, self._pointer, tm, cache)

    @contextlib.contextmanager
    def _in_use(self) -> Iterator[int]:
        """The pointer, for this thread only; with the memory, which is always
        locked first."""
        with contextlib.ExitStack() as stack:
            if self._memory is not None and not self.closed:
                stack.enter_context(self._memory._in_use())
            stack.enter_context(self._lock)
            yield self._pointer


class Session(_Steered):
    """Translates texts one after another, and keeps its buffers and the keys of
    stored pairs.

    >>> with model.session(memory="my.tm", explain=True) as session:
    ...     result = session.result("Guten Morgen!")

    `memory` is the name of a memory file, or a Memory. If it is closed, the
    session is closed too. Threads may share a session; they wait for each
    other.
    """

    _what = "session"

    def __init__(self, model: Model,
                 memory: Union[None, Path, Memory] = None,
                 keys: Optional["Keys"] = None, **options: Any):
        with Options(normal(options)) as o:
            self._init(model, memory, keys, o,
                       lambda m: lib().make("session_new", m, o._pointer),
                       lib().session_free, "session_use")

    @property
    def memory(self) -> Optional[Memory]:
        """The memory that the session uses. A pair that is added to it takes
        effect at once."""
        return self._memory

    def correct(self, source: str, target: str,
                memory: Optional[str] = None) -> int:
        """Add a pair to the memory of the session, and return its id. The next
        translation can use it. If the session was made with the name of a
        file, the file is opened for writing for this call."""
        if self._memory is None:
            raise ArgumentError("this session has no memory")
        path = self._memory.path
        try:
            return self._memory.add(source, target, memory)
        except ArgumentError:
            if self._memory.closed:
                raise
            with Memory(path, "write") as writer:
                return writer.add(source, target, memory)

    @overload
    def translate(self, text: str, *, prefix: Optional[str] = ...,
                  pairs: Optional[Sequence[SimilarPair]] = ...) -> str: ...

    @overload
    def translate(self, text: Texts, *,
                  prefix: Union[None, str, Sequence[Optional[str]]] = ...,
                  pairs: Optional[Sequence[SimilarPair]] = ...
                  ) -> List[str]: ...

    def translate(self, text: Any, *, prefix: Any = None,
                  pairs: Optional[Sequence[SimilarPair]] = None) -> Any:
        """Translate a text, or a list of texts; see Model.translate."""
        return self._run(text, prefix, pairs, _read_text)

    @overload
    def result(self, text: str, *, prefix: Optional[str] = ...,
               pairs: Optional[Sequence[SimilarPair]] = ...) -> Result: ...

    @overload
    def result(self, text: Texts, *,
               prefix: Union[None, str, Sequence[Optional[str]]] = ...,
               pairs: Optional[Sequence[SimilarPair]] = ...
               ) -> List[Result]: ...

    def result(self, text: Any, *, prefix: Any = None,
               pairs: Optional[Sequence[SimilarPair]] = None) -> Any:
        """Translate a text, or a list of texts; see Model.result."""
        return self._run(text, prefix, pairs, read_result)

    def cancel(self) -> None:
        """Make a translation that another thread has begun with this session
        fail soon, with a CanceledError."""
        with self._pinned() as pointer:
            if pointer is not None:
                lib().session_cancel(pointer)

    def stats(self) -> Dict[str, int]:
        """Counts of the work done so far; see skmt_session_stat."""
        with self._in_use() as pointer:
            return dict(facts_of(lib().session_stat, pointer))

    def _run(self, text: Any, prefix: Any,
             pairs: Optional[Sequence[SimilarPair]],
             read: Callable[[int, bytes], Any]) -> Any:
        self._pointer
        if isinstance(text, str):
            return self._one(text, prefix, pairs, read)
        if isinstance(text, bytes) or not hasattr(text, "__iter__"):
            raise TypeError("a text must be a str or a list of str, not "
                            f"{type(text).__name__}")
        texts = list(text)
        if prefix is None or isinstance(prefix, str):
            prefixes: List[Optional[str]] = [prefix] * len(texts)
        else:
            prefixes = list(prefix)
        if len(prefixes) != len(texts):
            raise ArgumentError(f"there are {len(texts)} texts and "
                                f"{len(prefixes)} prefixes")
        if pairs is not None:
            return [self._one(t, p, pairs, read)
                    for t, p in zip(texts, prefixes)]
        out: List[Any] = []
        for i in range(0, len(texts), CHUNK):
            out += self._many(i, texts[i:i + CHUNK], prefixes[i:i + CHUNK],
                              read)
        return out

    def _one(self, text: str, prefix: Optional[str],
             pairs: Optional[Sequence[SimilarPair]],
             read: Callable[[int, bytes], Any]) -> Any:
        raw = encode(text)
        start = encode_optional(prefix, "a prefix")
        given = None if pairs is None else _similar(pairs)
        with self._in_use() as pointer:
            if given is None:
                r = lib().produce("session_translate", pointer, raw, start)
            else:
                r = lib().produce("session_translate_with", pointer, raw,
                                  start, given, len(pairs or ()))
        try:
            return read(r, raw)
        finally:
            lib().result_free(r)

    def _many(self, first: int, texts: Sequence[str],
              prefixes: Sequence[Optional[str]],
              read: Callable[[int, bytes], Any]) -> List[Any]:
        n = len(texts)
        raws = [encode(t) for t in texts]
        starts = [encode_optional(p, "a prefix") for p in prefixes]
        results = (c_void_p * n)()
        error = CError()
        with self._in_use() as pointer:
            status = lib().session_translate_many(
                pointer, (c_char_p * n)(*raws), (c_char_p * n)(*starts), n,
                results, byref(error))
        try:
            if status:
                failed = [i for i in range(n) if not results[i]]
                raise error_of(status, text_of(error.message),
                               first + failed[0] if failed else None)
            return [read(r or 0, raw) for r, raw in zip(results, raws)]
        finally:
            for r in results:
                if r:
                    lib().result_free(r)


def _read_text(pointer: int, raw: bytes) -> str:
    return text_of(lib().result_text(pointer, 0))


def _similar(pairs: Sequence[SimilarPair]) -> Any:
    array = (CSimilar * max(len(pairs), 1))()
    for i, pair in enumerate(pairs):
        array[i] = new_struct(
            CSimilar, source=encode(pair[0]), target=encode(pair[1]),
            similarity=pair[-1] if len(pair) == 3 else 0.0)
    return array


class _Delivery:
    """What the callback of a stream knows. It does not know the stream, so that
    the stream is freed when its user drops it."""

    def __init__(self, full: bool):
        self.read = read_result if full else _read_text
        self.raws: Deque[bytes] = deque()       # texts that are not delivered
        self.queue: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self.thread: Optional[int] = None       # that runs the callback
        self.fn = STREAM_FN(self.deliver)

    def deliver(self, user: Any, number: int, result: Optional[int],
                error: Any) -> int:
        self.thread = threading.get_ident()
        try:
            raw = self.raws.popleft()
            if result:
                self.queue.put(self.read(result, raw))
            else:
                e = error.contents
                self.queue.put(error_of(e.status, text_of(e.message), number))
            return 0
        except BaseException as e:      # such as MemoryError
            self.queue.put(e)
            return 1
        finally:
            self.thread = None

    def free(self, pointer: int) -> None:
        """Free the stream, which waits for its callback. The garbage collector
        may run inside the callback; then another thread has to wait."""
        if self.thread == threading.get_ident():
            threading.Thread(target=lib().stream_free, args=(pointer,)).start()
        else:
            lib().stream_free(pointer)


class Stream(_Steered, Generic[T]):
    """Translates the texts of an iterator on several threads, and is an
    iterator over the translations, in the same order.

    >>> with open("letter.txt") as lines:
    ...     for english in model.stream(map(str.rstrip, lines), threads=4):
    ...         print(english)

    A text may be a pair of the text and a prefix. The stream is lazy: it takes
    texts only while it is asked for translations, at most `ahead` more than it
    has returned (default: 4 * batch * threads). A text sees what was in the
    memory when it was taken. If a text cannot be translated, its error is
    raised, or with errors="return" returned; the next call goes on with the
    next text. `close`, the end of a `with` statement, and dropping the stream
    cancel what is not finished.
    """

    _what = "stream"

    def __init__(self, model: Model, texts: Iterable[StreamText],
                 memory: Union[None, Path, Memory] = None,
                 keys: Optional["Keys"] = None, *,
                 ahead: Optional[int] = None, errors: str = "raise",
                 full: bool = True,
                 options: Optional[Mapping[str, Any]] = None):
        if errors not in ("raise", "return"):
            raise ArgumentError("errors must be raise or return, not "
                                f"{errors!r}")
        if ahead is not None and ahead < 1:
            raise ArgumentError("ahead must be at least 1")
        if isinstance(texts, (str, bytes)):
            raise TypeError("the texts must be an iterator over str")
        self._texts: Optional[Iterator[StreamText]] = iter(texts)
        self._errors = errors
        self._pending = 0       # texts taken and not returned
        self._done = False
        # Threads take turns. The lock of the handle is free while one waits for
        # a text or a translation, so that another one can close the stream.
        self._turn = threading.RLock()
        d = self._delivery = _Delivery(full)
        with Options(normal(options or {})) as o:
            self._ahead = ahead or 4 * int(o.get("batch") or 1) * \
                int(o.get("threads") or 1)
            self._init(model, memory, keys, o,
                       lambda m: lib().make("stream_new", m, o._pointer, d.fn,
                                            None),
                       d.free, "stream_use", d)

    def __iter__(self) -> "Stream[T]":
        return self

    def __next__(self) -> T:
        with self._turn:
            return self._advance()

    def _advance(self) -> T:
        taken = 0
        while True:
            if self._done:
                raise StopIteration
            self._pointer
            if self._texts is not None and self._pending < self._ahead and \
                    (taken < 2 or self._delivery.queue.empty()):
                self._take()
                taken += 1
            elif self._pending:
                return self._next()
            else:
                self._done = True
                self.close()

    def _take(self) -> None:
        """Take the next text and push it."""
        assert self._texts is not None
        try:
            item = next(self._texts)
        except StopIteration:
            self._texts = None
            return
        text, prefix = (item, None) if isinstance(item, str) else item
        raw = encode(text)
        start = encode_optional(prefix, "a prefix")
        with self._in_use() as pointer:
            self._delivery.raws.append(raw)
            try:
                lib().call("stream_push", pointer, raw, start)
            except BaseException:
                if self._delivery.raws:
                    self._delivery.raws.pop()
                raise
        self._pending += 1

    def _next(self) -> T:
        item = self._delivery.queue.get()
        if item is None:        # closed by another thread
            self._delivery.queue.put(None)
            self._pointer
            raise ClosedError("this stream is closed")
        self._pending -= 1
        if isinstance(item, BaseException):
            if self._errors == "raise" or not isinstance(item, Error):
                raise item
        return item             # type: ignore[no-any-return]

    def close(self) -> None:
        """Cancel the stream and free it."""
        if self.closed:
            return
        with self._pinned() as pointer:
            if pointer is not None:
                lib().stream_cancel(pointer)
        self._texts = None
        super().close()
        self._delivery.queue.put(None)

    def stats(self) -> Dict[str, int]:
        """Counts of the work done so far; see skmt_stream_stat."""
        with self._pinned() as pointer:
            if pointer is None:
                raise ClosedError("this stream is closed")
            return dict(facts_of(lib().stream_stat, pointer))


class Keys(Handle):
    """A cache of the keys of stored pairs, which sessions and streams can
    share. With `file`, the keys are also kept in a file."""

    _what = "cache of keys"

    def __init__(self, model: Model, file: Optional[Path] = None,
                 **options: Any):
        self._options = normal(options)
        with model._lock, Options(self._options) as o:
            self._own(lib().make("keys_new", model._pointer, o._pointer,
                                 None if file is None else encode_path(file)),
                      lib().keys_free)

    def stats(self) -> Dict[str, int]:
        """Counts: hits, misses, pairs, bytes ..; see skmt_keys_stat."""
        with self._lock:
            return dict(facts_of(lib().keys_stat, self._pointer))

    def warm(self, memory: Memory,
             progress: Optional[Callable[[str, int, int, int], Any]] = None
             ) -> int:
        """Compute the missing keys of all pairs that the memory uses, and
        return their number."""
        made = c_int64()
        with memory._on_progress(progress), Options(self._options) as o:
            with memory._in_use() as tm, self._lock:
                lib().call("keys_warm", self._pointer, tm, o._pointer,
                           byref(made))
        return made.value

    def drop_others(self, memory: Memory) -> int:
        """Remove from the key file the keys of all pairs that are not in the
        memory, and return their number."""
        removed = c_int64()
        with memory._in_use() as tm, self._lock:
            lib().call("keys_drop_others", self._pointer, tm, byref(removed))
        return removed.value

"""Translation memories: files with named memories, which contain pairs."""
import contextlib
import os
from ctypes import (byref, c_char, c_char_p, c_int, c_int64, c_size_t,
                    string_at)
from dataclasses import dataclass
from typing import (Any, Callable, Dict, Iterable, Iterator, List, Optional,
                    Sequence, Tuple, Union)

from ._handle import Handle, release
from ._library import (CMatch, CONTRADICTION_FN, CPair, CRecovery, CTmInfo,
                       CTmState, EDIT_FN, PROBLEM_FN, PROGRESS_FN, REJECT_FN,
                       facts_of, lib, new_struct, text_of)
from ._text import Offsets, as_seen, encode, encode_optional, encode_path
from .errors import ArgumentError, CanceledError
from .options import Options, normal

__all__ = ["Memory", "Pair", "Match", "Difference", "MemoryInfo", "MemoryState",
           "StoredTranslation", "Contradiction", "Recovery", "Rejected",
           "compare", "recover", "Path"]

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
MODES = {"read": 0, "write": 1, "create": 2}


@dataclass(frozen=True)
class Pair:
    """A stored source and its translation. Texts with inline tags also have a
    tagged form, an XML fragment."""
    id: int
    memory: str
    source: str
    target: str
    source_tagged: Optional[str]
    target_tagged: Optional[str]
    source_lang: str
    target_lang: str
    origin: str                 # the file it was imported from, or ""
    document: str
    unit: str                   # the id of its unit in that file, or ""
    author: str
    extra: str                  # JSON, or ""
    position: int               # in that file, from 1; 0: not imported
    created: int                # seconds since 1970, UTC
    changed: int


@dataclass(frozen=True)
class Difference:
    """A span of a word-by-word comparison. `kind` is "=" for words in both
    texts, "-" for words only in the stored one, and "+" for words only in the
    other one. begin and end are indices of the stored text, or for "+" of the
    other one."""
    kind: str
    begin: int
    end: int
    text: str


@dataclass(frozen=True)
class Match:
    """A stored text that a search has found."""
    pair: Pair                  # the oldest pair with this text
    similarity: float           # 0 to 1
    score: float                # BM25
    occurrences: int            # pairs that share this text
    differences: Tuple[Difference, ...]

    @property
    def source(self) -> str:
        return self.pair.source

    @property
    def target(self) -> str:
        return self.pair.target


@dataclass(frozen=True)
class MemoryInfo:
    """A named memory of a file. The counts are -1 if they were not wanted."""
    name: str
    source_lang: str
    target_lang: str
    priority: int
    keep_duplicates: bool
    created: int
    pairs: int
    texts: int
    source_bytes: int
    target_bytes: int


@dataclass(frozen=True)
class MemoryState:
    """Numbers that identify the content of a file."""
    identity: int
    last_change: int
    pairs: int
    texts: int


@dataclass(frozen=True)
class StoredTranslation:
    """One of several translations of a source."""
    pair: Pair                  # the pair that was confirmed last
    confirmed: int
    occurrences: int
    priority: int


@dataclass(frozen=True)
class Contradiction:
    """A source with different translations, in order of precedence."""
    source: str
    translations: Tuple[StoredTranslation, ...]


@dataclass(frozen=True)
class Recovery:
    """What `recover` has saved. `lost` is -1 if it is not known."""
    pairs: int
    doubtful: int
    lost: int


@dataclass(frozen=True)
class Rejected:
    """A unit that an import has skipped."""
    file: str
    line: int
    column: int
    why: str
    raw: bytes


def _read_pair(p: CPair) -> Pair:
    return Pair(
        p.id, text_of(p.memory), text_of(p.source), text_of(p.target),
        None if p.source_tagged is None else text_of(p.source_tagged),
        None if p.target_tagged is None else text_of(p.target_tagged),
        text_of(p.source_lang), text_of(p.target_lang), text_of(p.origin),
        text_of(p.document), text_of(p.unit), text_of(p.author),
        text_of(p.extra), p.position, p.created, p.changed)


class _Progress:
    """A progress function of the caller. An exception stops the operation, and
    is raised when it has stopped."""

    def __init__(self, fn: Callable[[str, int, int, int], Any]):
        self.error: Optional[BaseException] = None

        def call(user: Any, what: bytes, done: int, total: int,
                 units: int) -> int:
            try:
                return 1 if fn(text_of(what), done, total, units) else 0
            except BaseException as e:
                self.error = e
                return 1

        self.fn = PROGRESS_FN(call)


class Memory(Handle):
    """A memory file.

    >>> with skmt.Memory("my.tm") as memory:
    ...     memory.add("Guten Tag", "Good day")
    ...     memory.search("Guten Tag!")

    `mode` is "create" (the file is created when it does not exist), "write" or
    "read". `use` names the memories of the file that searches and translations
    use; default: all. `relaxed` does not wait for the disk after each change.

    When a method that changes the file returns, the next search and the next
    translation use the change, in this and in all other processes. Threads may
    share a Memory; they wait for each other. A thread that wants not to wait
    opens the file again.
    """

    _what = "memory"

    def __init__(self, path: Path, mode: str = "create", *,
                 use: Union[None, str, Sequence[str]] = None,
                 relaxed: bool = False):
        if mode not in MODES:
            raise ArgumentError(f"mode must be {', '.join(MODES)}, not "
                                f"{mode!r}")
        raw = encode_path(path)
        #: The name of the file.
        self.path: str = os.fsdecode(raw)
        self._busy = False
        self._pool: Any = None  # idle sessions that use this memory
        self._own(lib().make("tm_open", raw, MODES[mode]), lib().tm_close)
        try:
            if relaxed:
                lib().tm_set_relaxed(self._pointer, 1)
            if use is not None:
                self.use(*([use] if isinstance(use, str) else use))
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def _in_use(self) -> Iterator[int]:
        """The pointer, for this thread only."""
        with self._lock:
            pointer = self._pointer
            if self._busy:
                raise ArgumentError("a function that a memory calls cannot use "
                                    "the memory")
            while self._native.graves:
                release(self._native.graves.pop())
            self._busy = True
            try:
                yield pointer
            finally:
                self._busy = False

    def close(self) -> None:
        with self._lock:
            if not self.closed and self._busy:
                raise ArgumentError("a function that a memory calls cannot "
                                    "close it")
            super().close()

    def __repr__(self) -> str:
        return f"<skmt.Memory {self.path!r}{' (closed)' if self.closed else ''}>"

    # ---- named memories

    def use(self, *names: str) -> None:
        """Use only these memories from now on; without names, all."""
        array = (c_char_p * max(len(names), 1))(*[
            encode(n, "a name of a memory") for n in names])
        with self._in_use() as tm:
            lib().call("tm_use", tm, array, len(names))

    def use_with(self, model: Any, *names: str,
                 any_language: bool = False) -> None:
        """Use only these memories from now on; without names, all that have
        the languages of the model or none. It is an error if one of the names
        is of a memory in other languages, or if no memory fits, unless
        any_language is set.

        A session that opens a memory file by its name does this itself."""
        array = (c_char_p * max(len(names), 1))(*[
            encode(n, "a name of a memory") for n in names])
        with self._in_use() as tm, model._lock:
            if any_language:
                lib().call("tm_use", tm, array, len(names))
            else:
                lib().call("tm_use_with", tm, model._pointer, array,
                           len(names), None)

    def memories(self, count: bool = True) -> List[MemoryInfo]:
        """Describe the memories of the file. Counting takes about a second for
        a million pairs."""
        n = c_int()
        info = new_struct(CTmInfo)
        out = []
        with self._in_use() as tm:
            lib().call("tm_count", tm, byref(n))
            for i in range(n.value):
                lib().call("tm_get_info" if count else "tm_get_settings", tm,
                           i, byref(info))
                out.append(MemoryInfo(
                    text_of(info.name), text_of(info.source_lang),
                    text_of(info.target_lang), info.priority,
                    bool(info.keep_duplicates), info.created, info.pairs,
                    info.texts, info.source_bytes, info.target_bytes))
        return out

    def create(self, name: str, source_lang: str = "", target_lang: str = "",
               priority: int = 0, keep_duplicates: bool = False) -> None:
        """Create a memory in the file."""
        info = new_struct(CTmInfo, name=encode(name, "a name of a memory"),
                          source_lang=encode(source_lang, "a language"),
                          target_lang=encode(target_lang, "a language"),
                          priority=priority, keep_duplicates=keep_duplicates)
        with self._in_use() as tm:
            lib().call("tm_create", tm, byref(info))

    def configure(self, memory: Optional[str] = None, *,
                  name: Optional[str] = None, priority: Optional[int] = None,
                  source_lang: Optional[str] = None,
                  target_lang: Optional[str] = None) -> None:
        """Change properties of a memory; all of them or none."""
        changes = [("priority", None if priority is None else str(priority)),
                   ("source-lang", source_lang), ("target-lang", target_lang),
                   ("name", name)]
        with self.transaction():
            for key, value in changes:
                if value is not None:
                    with self._in_use() as tm:
                        lib().call("tm_set", tm, encode_optional(memory),
                                   key.encode(), encode(value))

    def drop(self, memory: str) -> None:
        """Delete a memory with all its pairs."""
        with self._in_use() as tm:
            lib().call("tm_drop", tm, encode(memory, "a name of a memory"))

    def state(self) -> MemoryState:
        """Numbers that identify the content of the file."""
        s = new_struct(CTmState)
        with self._in_use() as tm:
            lib().call("tm_get_state", tm, byref(s))
        return MemoryState(s.identity, s.last_change, s.pairs, s.texts)

    def stats(self) -> Dict[str, int]:
        """Sizes of the file and its index; see skmt_tm_stat."""
        with self._in_use() as tm:
            return dict(facts_of(lib().tm_stat, tm))

    def __len__(self) -> int:
        """The number of pairs in all memories of the file."""
        return self.state().pairs

    def __bool__(self) -> bool:
        return True

    # ---- pairs

    def add(self, source: str, target: str, memory: Optional[str] = None, *,
            source_tagged: Optional[str] = None,
            target_tagged: Optional[str] = None,
            source_lang: Optional[str] = None,
            target_lang: Optional[str] = None, document: Optional[str] = None,
            unit: Optional[str] = None, author: Optional[str] = None,
            extra: Optional[str] = None, created: int = 0,
            changed: int = 0) -> int:
        """Add a pair and return its id. Without `memory`, it is added to the
        only memory of the file, or to "main"."""
        pair = new_struct(
            CPair, source=encode(source), target=encode(target),
            source_tagged=encode_optional(source_tagged),
            target_tagged=encode_optional(target_tagged),
            source_lang=encode_optional(source_lang),
            target_lang=encode_optional(target_lang),
            document=encode_optional(document), unit=encode_optional(unit),
            author=encode_optional(author), extra=encode_optional(extra),
            created=created, changed=changed)
        id = c_int64()
        with self._in_use() as tm:
            lib().call("tm_add_pair", tm, encode_optional(memory), byref(pair),
                       byref(id))
        return id.value

    def add_all(self, pairs: Iterable[Tuple[str, str]],
                memory: Optional[str] = None) -> int:
        """Add many pairs as one transaction. Returns their number."""
        n = 0
        with self.transaction():
            for source, target in pairs:
                self.add(source, target, memory)
                n += 1
        return n

    def get(self, id: int) -> Pair:
        """The pair with this id."""
        pair = new_struct(CPair)
        with self._in_use() as tm:
            lib().call("tm_get", tm, id, byref(pair))
            return _read_pair(pair)

    def replace(self, id: int, source: Optional[str] = None,
                target: Optional[str] = None) -> None:
        """Replace the source or the target of a pair, or both."""
        with self._in_use() as tm:
            lib().call("tm_replace", tm, id, encode_optional(source),
                       encode_optional(target))

    def delete(self, id: int) -> None:
        """Delete a pair."""
        with self._in_use() as tm:
            lib().call("tm_delete", tm, id)

    def delete_where(self, memory: Optional[str] = None, *,
                     origin: Optional[str] = None,
                     document: Optional[str] = None,
                     source: Optional[str] = None,
                     target: Optional[str] = None) -> int:
        """Delete all pairs that match, and return their number. At least one
        of origin, document, source and target must be given."""
        n = c_int64()
        with self._in_use() as tm:
            lib().call("tm_delete_where", tm, encode_optional(memory),
                       encode_optional(origin), encode_optional(document),
                       encode_optional(source), encode_optional(target),
                       byref(n))
        return n.value

    def find_unit(self, unit: str, memory: Optional[str] = None,
                  after: int = 0) -> Optional[int]:
        """The smallest id above `after` of a pair whose unit has this id."""
        id = c_int64()
        with self._in_use() as tm:
            lib().call("tm_find_unit", tm, encode_optional(memory),
                       encode(unit), after, byref(id))
        return id.value or None

    def pairs(self, memory: Optional[str] = None,
              after: int = 0) -> Iterator[Pair]:
        """Iterate over the pairs of a memory, or of all memories of the file,
        by ascending id, as they are when the iteration of the memory begins."""
        names = [memory] if memory is not None else \
            [m.name for m in self.memories(count=False)]
        for name in names:
            with _Cursor(self, name, after) as cursor:
                yield from cursor

    __iter__ = pairs

    @contextlib.contextmanager
    def transaction(self) -> Iterator["Memory"]:
        """Make several changes at once, or none if an exception is raised:

        >>> with memory.transaction():
        ...     memory.delete(1)
        ...     memory.add("Guten Tag", "Good day")

        Other threads that share the Memory wait until its end. Transactions
        may be nested; the outermost one stores the changes."""
        with self._lock:
            with self._in_use() as tm:
                lib().call("tm_begin", tm)
            try:
                yield self
            except BaseException:
                if not self.closed:
                    with self._in_use() as tm:
                        lib().tm_rollback(tm)
                raise
            with self._in_use() as tm:
                lib().call("tm_commit", tm)

    # ---- searching

    def search(self, text: str, model: Any = None,
               **options: Any) -> List[Match]:
        """Find the stored texts whose sources are most similar to `text`, best
        first. Similarity is computed over the pieces of `model`, or over words
        without one. Options are those of group "search": matches=5,
        min_similarity=0.5 .."""
        raw = encode(text)
        locked = contextlib.nullcontext() if model is None else model._lock
        with Options(normal(options)) as o, self._in_use() as tm, locked:
            found = lib().produce("tm_search", tm, raw, o._pointer,
                                  None if model is None else model._pointer)
            try:
                searched = Offsets(as_seen(raw))
                return [self._match(found, i, as_seen(raw), searched)
                        for i in range(lib().matches_count(found))]
            finally:
                lib().matches_free(found)

    @staticmethod
    def _match(found: int, i: int, text: str, searched: Offsets) -> Match:
        m = new_struct(CMatch)
        lib().matches_get(found, i, byref(m))
        pair = _read_pair(m.pair.contents)
        stored = Offsets(pair.source)
        kind, begin, end = c_char(), c_size_t(), c_size_t()
        spans: List[Difference] = []
        while lib().matches_edit(found, i, len(spans), byref(kind),
                                 byref(begin), byref(end)):
            spans.append(_difference(kind.value, begin.value, end.value,
                                     pair.source, stored, text, searched))
        return Match(pair, m.similarity, m.score, m.occurrences, tuple(spans))

    def contradictions(self) -> List[Contradiction]:
        """The sources that have different translations in the memories that
        are used."""
        out: List[Contradiction] = []

        def collect(user: Any, source: bytes, items: Any, n: int) -> int:
            out.append(Contradiction(text_of(source), tuple(
                StoredTranslation(_read_pair(items[i].contents.pair.contents),
                                  items[i].contents.confirmed,
                                  items[i].contents.occurrences,
                                  items[i].contents.priority)
                for i in range(n))))
            return 0

        fn = CONTRADICTION_FN(collect)
        with self._in_use() as tm:
            lib().call("tm_contradictions", tm, fn, None, None)
        return out

    # ---- files and maintenance

    def import_files(self, *paths: Path, memory: Optional[str] = None,
                     rejected: Optional[Callable[[Rejected], Any]] = None,
                     progress: Optional[Callable[[str, int, int, int],
                                                 Any]] = None,
                     **settings: Any) -> Dict[str, int]:
        """Import files into a memory: all pairs become visible at once, or
        none. Returns the counts: pairs, texts, empty ..

        `settings` are those of skmt_import_set: format, source_lang,
        target_lang, target_file, source_column, header, fuzzy, skip_bad ..
        `rejected` is called for each unit that is skipped because of skip_bad.
        `progress` is called with (what, done, total, units); a true result of
        either stops the import."""
        array = (c_char_p * max(len(paths), 1))(*map(encode_path, paths))
        with _Import(settings, rejected) as how, self._on_progress(progress):
            with self._in_use() as tm:
                try:
                    lib().call("tm_import", tm, encode_optional(memory), array,
                               len(paths), how._pointer)
                except CanceledError:
                    if how.error is not None:
                        raise how.error
                    raise
            return dict(facts_of(lib().import_stat, how._pointer))

    def export(self, path: Path, memory: Optional[str] = None, *,
               format: Optional[str] = None,
               target_path: Optional[Path] = None) -> int:
        """Write a memory to a file and return the number of pairs. Without
        `format`, the ending of the name decides. With format "text", the
        targets are written to `target_path`."""
        n = c_int64()
        with self._in_use() as tm:
            lib().call("tm_export", tm, encode_optional(memory),
                       encode_path(path), encode_optional(format),
                       None if target_path is None else
                       encode_path(target_path), byref(n))
        return n.value

    def check(self) -> List[str]:
        """Check the file and its index. Returns a sentence for each problem."""
        out: List[str] = []
        fn = PROBLEM_FN(lambda user, sentence: out.append(text_of(sentence)))
        with self._in_use() as tm:
            lib().call("tm_check", tm, fn, None, None)
        return out

    def rebuild(self) -> None:
        """Make the index again from the memory file."""
        with self._in_use() as tm:
            lib().call("tm_rebuild", tm)

    def compact(self) -> None:
        """Make the file and its index smaller."""
        with self._in_use() as tm:
            lib().call("tm_compact", tm)

    @contextlib.contextmanager
    def _on_progress(self, fn: Optional[Callable[[str, int, int, int], Any]]
                     ) -> Iterator[None]:
        if fn is None:
            yield
            return
        progress = _Progress(fn)
        with self._lock:
            lib().tm_on_progress(self._pointer, progress.fn, None)
            try:
                yield
            except CanceledError:
                if progress.error is not None:
                    raise progress.error
                raise
            finally:
                lib().tm_on_progress(self._pointer, None, None)


class _Cursor(Handle):
    """An iterator over the pairs of a memory."""

    _what = "iterator"

    def __init__(self, memory: Memory, name: Optional[str], after: int):
        self._memory = memory
        with memory._in_use() as tm:
            pointer = lib().make("tm_cursor_open_after", tm,
                                 encode_optional(name), after)
            self._own(pointer, lib().tm_cursor_close, [memory],
                      buried_in=memory._native)
        self._pair = new_struct(CPair)

    def __iter__(self) -> "_Cursor":
        return self

    def __next__(self) -> Pair:
        found = c_int()
        with self._memory._lock:
            cursor = self._pointer
            with self._memory._in_use():
                lib().call("tm_cursor_next", cursor, byref(self._pair),
                           byref(found))
                if found.value:
                    return _read_pair(self._pair)
        raise StopIteration

    def close(self) -> None:
        with self._memory._lock:
            super().close()


class _Import(Handle):
    """The settings of an import."""

    _what = "import"

    def __init__(self, settings: Dict[str, Any],
                 rejected: Optional[Callable[[Rejected], Any]]):
        self.error: Optional[BaseException] = None
        self._own(lib().make("import_new"), lib().import_free)
        for key, value in normal(settings).items():
            lib().call("import_set", self._pointer, encode(key), encode(value))
        if rejected is None:
            return
        mine = rejected

        def call(user: Any, file: bytes, line: int, column: int, why: bytes,
                 raw: Any, n: int) -> int:
            try:
                return 1 if mine(Rejected(
                    text_of(file), line, column, text_of(why),
                    string_at(raw, n) if raw else b"")) else 0
            except BaseException as e:
                self.error = e
                return 1

        self._reject = REJECT_FN(call)
        lib().import_on_reject(self._pointer, self._reject, None)


def _difference(kind: bytes, begin: int, end: int, stored: str,
                stored_offsets: Offsets, text: str,
                text_offsets: Offsets) -> Difference:
    whole, offsets = (text, text_offsets) if kind == b"+" else \
        (stored, stored_offsets)
    b, e = offsets.begin(begin), offsets.end(end)
    return Difference(kind.decode(), b, e, whole[b:e])


def compare(stored: str, text: str) -> List[Difference]:
    """Compare two texts word by word."""
    out: List[Difference] = []
    stored_offsets, text_offsets = Offsets(stored), Offsets(text)

    def collect(user: Any, kind: bytes, begin: int, end: int) -> int:
        out.append(_difference(kind, begin, end, stored, stored_offsets, text,
                               text_offsets))
        return 0

    lib().call("compare", encode(stored), encode(text), EDIT_FN(collect), None)
    return out


def recover(old_path: Path, new_path: Path) -> Recovery:
    """Copy all that is readable in a damaged memory file to a new file."""
    out = new_struct(CRecovery)
    lib().call("tm_recover", encode_path(old_path), encode_path(new_path),
               None, None, byref(out))
    return Recovery(out.pairs, out.doubtful, out.lost)

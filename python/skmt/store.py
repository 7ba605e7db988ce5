"""The models of the user, and conversion of models of other projects."""
import os
from ctypes import byref, c_char_p, c_int, c_void_p, cast
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from ._handle import Handle
from ._library import CONVERSION_FN, PACKAGE, lib, text_of
from ._text import encode, encode_optional, encode_path
from .errors import Error
from .options import normal

__all__ = ["ModelInfo", "ModelStore", "convert", "find_model"]

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
#: Gets the bytes done and their total. True stops the operation.
Progress = Callable[[int, int], Any]


def _model_folders() -> Iterator[str]:
    """Folders of the models that came with skmt."""
    yield os.path.join(PACKAGE, "_native")
    tree = os.path.dirname(os.path.dirname(PACKAGE))
    if os.path.exists(os.path.join(tree, "include", "skmt.h")):
        yield os.path.join(tree, "models")
    library = os.path.dirname(os.path.realpath(lib().path))
    for up in "..", "../..":
        yield os.path.normpath(os.path.join(library, up, "models"))
        yield os.path.normpath(os.path.join(library, up, "share/skmt/models"))
    yield "/usr/local/share/skmt/models"
    yield "/usr/share/skmt/models"


class _Watch:
    """A progress function of the caller. An exception stops the operation, and
    is raised when it has stopped."""

    def __init__(self, fn: Optional[Progress]):
        self.error: Optional[BaseException] = None

        def call(user: Any, done: int, total: int) -> int:
            try:
                return 1 if fn and fn(done, total) else 0
            except BaseException as e:
                self.error = e
                return 1

        self.fn = CONVERSION_FN(call)

    def call(self, name: str, *args: Any) -> None:
        """Call a function whose last arguments are those of progress."""
        try:
            lib().call(name, *args, cast(self.fn, c_void_p), None)
        except Error:
            if self.error is not None:
                raise self.error from None
            raise
        if self.error is not None:
            raise self.error


class _Conversion(Handle):
    _what = "conversion"

    def __init__(self, path: Path, settings: Dict[str, Any]):
        self._own(lib().make("conversion_new"), lib().conversion_free)
        for key in ("tokenizer", "target_tokenizer"):
            if settings.get(key) is not None:
                settings = {**settings, key: os.fsdecode(settings[key])}
        for key, value in normal(settings).items():
            lib().call("conversion_set", self._pointer, encode(key),
                       encode(value))
        lib().call("conversion_open", self._pointer, encode_path(path))
        self.report = text_of(lib().conversion_report(self._pointer))


def convert(path: Path, output: Optional[Path] = None, *,
            progress: Optional[Progress] = None, **settings: Any) -> str:
    """Make a model file of a model of another project: of a folder, or of an
    archive. Returns what was found: lines, some of which begin with "note: " or
    "warning: ". Without `output`, nothing is written.

    >>> print(skmt.convert("opus-2020-02-26.zip", "de-en.skmt"))

    The settings are the options of `skmt convert`: type ("int8", "bf16" or
    "f32"), source_lang, target_lang, tokenizer, target_tokenizer, family, heads,
    positions, checkpoint. `progress` gets the bytes done and their total; if it
    returns True, the conversion stops.
    """
    with _Conversion(path, settings) as c:
        if output is not None:
            _Watch(progress).call("conversion_write", c._pointer,
                                  encode_path(output))
        return c.report


@dataclass(frozen=True)
class ModelInfo:
    """A model of a store. The facts are those of `Model.facts`, as far as the
    header of the file has them: family, license, origin, source_lang,
    target_lang, languages, type, bytes, checksum. `problem` says what is wrong
    with a file that cannot be read; it has no facts then."""
    name: str
    path: str
    installed: bool             # it came with skmt, and cannot be removed
    facts: Dict[str, str]
    problem: str = ""

    @property
    def source_lang(self) -> str:
        return self.facts.get("source_lang", "")

    @property
    def target_lang(self) -> str:
        return self.facts.get("target_lang", "")

    @property
    def languages(self) -> List[str]:
        """The languages of a model that has many; else empty."""
        listed = self.facts.get("languages", "")
        return listed.split(",") if listed else []


def _info(name: str, path: str, installed: bool) -> ModelInfo:
    facts: Dict[str, str] = {}
    value = c_char_p()
    try:
        card = lib().make("card_open", encode_path(path))
    except Error as e:
        return ModelInfo(name, path, installed, facts, e.message)
    try:
        while True:
            key = lib().card_fact(card, len(facts), byref(value))
            if key is None:
                return ModelInfo(name, path, installed, facts)
            facts[text_of(key)] = text_of(value.value)
    finally:
        lib().card_close(card)


class ModelStore:
    """The models of the user, as `skmt model` shows them.

    >>> store = skmt.ModelStore()
    >>> store.add("opus-mt-en-fr/")
    >>> [m.name for m in store.models()]
    >>> skmt.Model(from_="en", to="fr")

    `folder` is the folder of the models; by default that of the user:
    $SKMT_HOME/models, $XDG_DATA_HOME/skmt/models or ~/.local/share/skmt/models.
    Each call looks at the files as they are now, so other processes may change
    them meanwhile.
    """

    def __init__(self, folder: Optional[Path] = None):
        self._folder = folder

    def _open(self) -> "_Store":
        return _Store(self._folder)

    @property
    def folder(self) -> Optional[str]:
        """The folder; None if the variables do not name one."""
        with self._open() as s:
            raw = lib().store_folder(s._pointer)
            return None if raw is None else os.fsdecode(raw)

    def models(self) -> List[ModelInfo]:
        """All models: first those of the user, then those that came with
        skmt."""
        with self._open() as s:
            lib().call("store_check", s._pointer)
            return [_info(*m) for m in s.models()]

    def find(self, name: Optional[Path] = None, from_: Optional[str] = None,
             to: Optional[str] = None) -> str:
        """The file of the model that is meant by a name, or by languages; see
        find_model."""
        with self._open() as s:
            return s.find(name, from_, to)

    def add(self, path: Path, name: Optional[str] = None, *,
            replace: bool = False, progress: Optional[Progress] = None,
            **settings: Any) -> str:
        """Add a model: a .skmt file is copied, anything else is converted with
        the settings of `convert`. The name is that of the file or folder if none
        is given. Returns the name."""
        text = os.fsdecode(path)
        if name is None:
            base = os.path.basename(os.path.abspath(text))
            if not os.path.isdir(text):
                base = base.rsplit(".", 1)[0] if "." in base[1:] else base
            name = "-".join(base.split())
        key = encode(name, "a name")
        with self._open() as s:
            if os.path.isfile(text) and not _is_foreign(text):
                if settings:
                    raise TypeError(f"{text} is converted already; "
                                    f"{', '.join(settings)} has no effect")
                _Watch(progress).call("store_add", s._pointer, key,
                                      encode_path(path), int(replace))
            else:
                with _Conversion(path, settings) as c:
                    _Watch(progress).call("store_convert", s._pointer, key,
                                          c._pointer, int(replace))
        return name

    def remove(self, name: str) -> None:
        """Delete a model of the user, and the defaults that name it."""
        with self._open() as s:
            lib().call("store_remove", s._pointer, encode(name))

    def defaults(self) -> Dict[Optional[Tuple[str, str]], str]:
        """The names of the default models by (source, target) language; that
        for everything has the key None."""
        with self._open() as s:
            lib().call("store_check", s._pointer)
            return dict(s.defaults())

    def set_default(self, name: Optional[str], from_: Optional[str] = None,
                    to: Optional[str] = None) -> None:
        """Choose the model that is used if none is named: for everything, or
        for a pair of languages. None removes a default."""
        with self._open() as s:
            lib().call("store_set_default", s._pointer,
                       encode_optional(name), encode_optional(from_),
                       encode_optional(to))


def _is_foreign(path: str) -> bool:
    """Whether a file must be converted: ours begin with these bytes."""
    with open(path, "rb") as f:
        return f.read(8) != b"SKMTMODL"


class _Store(Handle):
    _what = "store"

    def __init__(self, folder: Optional[Path]):
        self._own(lib().make("store_open", None if folder is None else
                             encode_path(folder)), lib().store_close)
        for path in dict.fromkeys(_model_folders()):
            lib().call("store_add_folder", self._pointer, encode_path(path))

    def models(self) -> Iterator[Tuple[str, str, bool]]:
        path, removable, i = c_char_p(), c_int(), 0
        while True:
            name = lib().store_model(self._pointer, i, byref(path),
                                     byref(removable))
            if name is None:
                return
            yield (text_of(name), os.fsdecode(path.value or b""),
                   not removable.value)
            i += 1

    def defaults(self) -> Iterator[Tuple[Optional[Tuple[str, str]], str]]:
        source, target, i = c_char_p(), c_char_p(), 0
        while True:
            name = lib().store_default(self._pointer, i, byref(source),
                                       byref(target))
            if name is None:
                return
            pair = text_of(source.value), text_of(target.value)
            yield (pair if pair[0] else None), text_of(name)
            i += 1

    def find(self, name: Optional[Path], from_: Optional[str],
             to: Optional[str]) -> str:
        out = c_void_p()
        lib().call("store_find", self._pointer,
                   None if name is None else encode_path(name),
                   encode_optional(from_), encode_optional(to), byref(out))
        try:
            return os.fsdecode(cast(out, c_char_p).value or b"")
        finally:
            lib().free(out)


def find_model(name: Optional[Path] = None, from_: Optional[str] = None,
               to: Optional[str] = None) -> str:
    """The file of the model that is meant, in this order: a path, or the name of
    a model of the user or of one that came with skmt; $SKMT_MODEL, unless it is
    for other languages; the default for these languages, or the model that
    fits them best; the default for everything; "de-en"."""
    return ModelStore().find(name, from_, to)

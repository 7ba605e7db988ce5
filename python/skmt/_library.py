"""Finds libskmt.so, checks its version and declares its functions.

The library is loaded when it is first needed. It is looked for in this order:

  1. $SKMT_LIBRARY, the name of a file
  2. the copy in this package (pip install makes one)
  3. build/libskmt.so, if this package lies in the source tree
  4. the installed library (make install), as the system finds libraries
"""
import ctypes
import os
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p,
                    c_double, c_float, c_int, c_int32, c_int64, c_size_t,
                    c_uint64, c_void_p, sizeof)
from typing import Any, Iterator, List, Optional, Tuple, Type, TypeVar

from .errors import LibraryError, error_of

PACKAGE = os.path.dirname(os.path.abspath(__file__))
#: The first and the last version of the library that this package works with.
#: Before 1.0, a new minor version may change the interface.
OLDEST, NEWEST = (0, 1, 0), (0, 1, 99)


class CError(Structure):
    _fields_ = [("status", c_int32), ("message", c_char * 500),
                ("reserved", c_int32 * 2)]


S = TypeVar("S", bound=Structure)


def new_struct(kind: Type[S], **fields: Any) -> S:
    """A struct that begins with its size."""
    out = kind(**fields)
    out.size = sizeof(kind)
    return out


class COptionInfo(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("kind", c_char_p),
                ("fallback", c_char_p), ("help", c_char_p)]


class CSystemInfo(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p),
                ("paper", c_char_p), ("needs", c_char_p),
                ("options", POINTER(c_char_p))]


class CPiece(Structure):
    _fields_ = [("size", c_size_t), ("id", c_int32), ("logprob", c_float),
                ("begin", c_size_t), ("end", c_size_t), ("text", c_char_p)]


class CTmInfo(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p),
                ("source_lang", c_char_p), ("target_lang", c_char_p),
                ("priority", c_int32), ("keep_duplicates", c_int32),
                ("created", c_int64), ("pairs", c_int64), ("texts", c_int64),
                ("source_bytes", c_int64), ("target_bytes", c_int64)]


class CTmState(Structure):
    _fields_ = [("size", c_size_t), ("identity", c_uint64),
                ("last_change", c_int64), ("pairs", c_int64),
                ("texts", c_int64)]


class CPair(Structure):
    _fields_ = [("size", c_size_t), ("id", c_int64), ("memory", c_char_p),
                ("source", c_char_p), ("target", c_char_p),
                ("source_tagged", c_char_p), ("target_tagged", c_char_p),
                ("source_lang", c_char_p), ("target_lang", c_char_p),
                ("origin", c_char_p), ("document", c_char_p),
                ("unit", c_char_p), ("author", c_char_p), ("extra", c_char_p),
                ("position", c_int64), ("created", c_int64),
                ("changed", c_int64)]


class CMatch(Structure):
    _fields_ = [("size", c_size_t), ("pair", POINTER(CPair)),
                ("similarity", c_double), ("score", c_double),
                ("occurrences", c_int64)]


class CSimilar(Structure):
    _fields_ = [("size", c_size_t), ("source", c_char_p),
                ("target", c_char_p), ("similarity", c_double)]


class CFoundPair(Structure):
    _fields_ = [("size", c_size_t), ("source", c_char_p),
                ("target", c_char_p), ("memory", c_char_p), ("id", c_int64),
                ("similarity", c_double), ("exact", c_int32),
                ("entries", c_int32)]


class CVote(Structure):
    _fields_ = [("size", c_size_t), ("pair", c_int32), ("position", c_int32),
                ("id", c_int32), ("text", c_char_p), ("distance", c_double),
                ("share", c_double)]


class CReason(Structure):
    _fields_ = [("size", c_size_t), ("text", c_char_p), ("effect", c_double)]


class CTranslation(Structure):
    _fields_ = [("size", c_size_t), ("pair", POINTER(CPair)),
                ("confirmed", c_int64), ("occurrences", c_int64),
                ("priority", c_int32)]


class CRecovery(Structure):
    _fields_ = [("size", c_size_t), ("pairs", c_int64), ("doubtful", c_int64),
                ("lost", c_int64)]


# The sizes of these structs on 64-bit systems, for the tests
# (tests/cli/public_sizes.c).
SIZES = {CError: 512, COptionInfo: 40, CSystemInfo: 48, CPiece: 40,
         CTmInfo: 80, CTmState: 40, CPair: 136, CMatch: 40, CSimilar: 32,
         CFoundPair: 56, CVote: 48, CReason: 24, CRecovery: 32,
         CTranslation: 40}

# Functions that the library calls. ctypes takes the global interpreter lock
# for the time of the call.
STREAM_FN = CFUNCTYPE(c_int, c_void_p, c_uint64, c_void_p, POINTER(CError))
PROGRESS_FN = CFUNCTYPE(c_int, c_void_p, c_char_p, c_uint64, c_uint64,
                        c_uint64)
REJECT_FN = CFUNCTYPE(c_int, c_void_p, c_char_p, c_uint64, c_uint64, c_char_p,
                      c_void_p, c_size_t)
PROBLEM_FN = CFUNCTYPE(None, c_void_p, c_char_p)
CONTRADICTION_FN = CFUNCTYPE(c_int, c_void_p, c_char_p,
                             POINTER(POINTER(CTranslation)), c_int)
CONVERSION_FN = CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)
EDIT_FN = CFUNCTYPE(c_int, c_void_p, c_char, c_size_t, c_size_t)

_TYPES = {
    "v": None, "p": c_void_p, "P": POINTER(c_void_p), "s": c_char_p,
    "S": POINTER(c_char_p), "i": c_int, "I": POINTER(c_int), "l": c_int64,
    "L": POINTER(c_int64), "u": c_uint64, "U": POINTER(c_uint64),
    "z": c_size_t, "Z": POINTER(c_size_t), "d": c_double,
    "D": POINTER(c_double), "c": POINTER(c_char), "F": POINTER(c_float),
    "e": POINTER(CError), "o": POINTER(COptionInfo),
    "y": POINTER(CSystemInfo), "b": POINTER(CPiece), "t": POINTER(CTmInfo),
    "T": POINTER(CTmState), "r": POINTER(CPair), "m": POINTER(CMatch),
    "w": POINTER(CSimilar), "f": POINTER(CFoundPair), "V": POINTER(CVote),
    "R": POINTER(CReason), "Y": POINTER(CRecovery)}

# The functions: the type of the result, then those of the arguments. A function
# that is called back has the type p.
_FUNCTIONS = """
version s, version_number i, status_text s i, isa s, cpu s, free v p,
options_new i P e, options_free v p, options_set i p s s e, options_get s p s,
options_in_force s p p i s, option_describe i i i o, system_describe i i y,
model_open_with i P s p e, model_close v p, model_fact s p i S,
model_get s p s, translate p p s e,
result_free v p, result_hyps i p, result_text s p i, result_score d p i,
result_logprob d p i, result_sentences i p, result_sentence_span v p i Z Z,
result_sentence_score d p i i, result_source_pieces i p i,
result_source_piece v p i i b, result_target_pieces i p i i,
result_target_piece v p i i i b, result_attention F p i i i I,
result_pairs i p i, result_pair v p i i f, result_weight d p i i i I,
result_vote v p i i i i V, result_reason i p i i i i R, result_passes i p i,
session_new i P p p e, session_free v p, session_translate i p s s P e,
session_translate_many i p S S z P e, session_cancel v p,
session_use i p p p e, session_stat s p i L,
session_translate_with i p s s w i P e,
stream_new i P p p p p e, stream_push i p s s e, stream_flush i p e,
stream_cancel v p, stream_free v p, stream_use i p p p e, stream_stat s p i L,
tm_open i P s i e, tm_close v p, tm_set_relaxed v p i, tm_on_progress v p p p,
tm_count i p I e, tm_get_info i p i t e, tm_get_settings i p i t e,
tm_get_state i p T e, tm_get_change i p U L e, tm_create i p t e,
tm_set i p s s s e, tm_drop i p s e, tm_add i p s s s L e,
tm_add_pair i p s r L e, tm_replace i p l s s e, tm_delete i p l e,
tm_delete_where i p s s s s s L e, tm_begin i p e, tm_commit i p e,
tm_rollback v p, tm_get i p l r e, tm_find_unit i p s s l L e,
tm_cursor_open_after i P p s l e, tm_cursor_next i p r I e,
tm_cursor_close v p, tm_use i p S i e, tm_use_with i p p S i p e, tm_search i p s p p P e,
matches_count i p, matches_get v p i m, matches_edit i p i i c Z Z,
matches_free v p, compare i s s p p e,
keys_new i P p p s e, keys_free v p, keys_stat s p i L, keys_warm i p p p L e,
keys_drop_others i p p L e,
import_new i P e, import_free v p, import_set i p s s e,
import_on_reject v p p p, tm_import i p s S i p e, import_stat s p i L,
tm_export i p s s s s L e, tm_check i p p p I e,
tm_contradictions i p p p L e, tm_rebuild i p e, tm_compact i p e,
tm_recover i s s p p Y e, tm_stat s p i L,
score_new i P s e, score_free v p, score_add i p s z s z e,
score_document v p, score_size z p Z, score_get i p s D e,
score_metric s p i S S, score_detail s p s i D,
score_interval i p s i u D D e, score_compare i p p s i u D e,
conversion_new i P e, conversion_free v p, conversion_set i p s s e,
conversion_open i p s e, conversion_report s p, conversion_write i p s p p e,
card_open i P s e, card_close v p, card_fact s p i S,
store_open i P s e, store_close v p, store_add_folder i p s e,
store_folder s p, store_check i p e, store_model s p i S I,
store_default s p i S S, store_find i p s s s P e,
store_add i p s s i p p e, store_convert i p s p i p p e,
store_remove i p s e, store_set_default i p s s s e
"""


def _candidates() -> Iterator[Tuple[str, bool]]:
    """Names of the library, and whether the file must exist to be tried."""
    given = os.environ.get("SKMT_LIBRARY")
    if given:
        yield given, False
        return
    yield os.path.join(PACKAGE, "_native", "libskmt.so"), True
    tree = os.path.dirname(os.path.dirname(PACKAGE))
    if os.path.exists(os.path.join(tree, "include", "skmt.h")):
        yield os.path.join(tree, "build", "libskmt.so"), True
    yield "libskmt.so.0", False
    yield "/usr/local/lib/libskmt.so.0", True


def _load() -> Tuple[ctypes.CDLL, str]:
    tried: List[str] = []
    for name, must_exist in _candidates():
        if must_exist and not os.path.exists(name):
            tried.append(f"{name}: there is no such file")
            continue
        try:
            return ctypes.CDLL(name), name
        except OSError as e:
            tried.append(str(e))
    raise LibraryError("libskmt.so cannot be loaded; build it with 'make' and "
                       "set SKMT_LIBRARY to its name:\n  " +
                       "\n  ".join(tried))


def _check_version(library: ctypes.CDLL, name: str) -> None:
    try:
        library.skmt_version_number.restype = c_int
        number = library.skmt_version_number()
    except AttributeError:
        raise LibraryError(f"{name} is not the library of skmt") from None
    have = number // 10000, number // 100 % 100, number % 100
    if not OLDEST <= have <= NEWEST:
        raise LibraryError(
            f"{name} has version {'.'.join(map(str, have))}; this package needs"
            f" {'.'.join(map(str, OLDEST[:2]))}")


class Library:
    """The functions of the library, without their prefix skmt_."""

    def __init__(self) -> None:
        library, self.path = _load()
        _check_version(library, self.path)
        for line in _FUNCTIONS.split(","):
            name, *types = line.split()
            try:
                function = getattr(library, "skmt_" + name)
            except AttributeError:
                raise LibraryError(f"{self.path} has no function "
                                   f"skmt_{name}") from None
            function.restype = _TYPES[types[0]]
            function.argtypes = [_TYPES[t] for t in types[1:]]
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def call(self, name: str, *args: Any) -> None:
        """Call a function whose last argument is an error, and raise it."""
        error = CError()
        status = getattr(self, name)(*args, byref(error))
        if status:
            raise error_of(status, text_of(error.message))

    def make(self, name: str, *args: Any) -> int:
        """The same for a function that makes an object."""
        out = c_void_p()
        self.call(name, byref(out), *args)
        assert out.value
        return out.value

    def produce(self, name: str, *args: Any) -> int:
        """The same for a function whose result comes after its arguments."""
        out = c_void_p()
        self.call(name, *args, byref(out))
        assert out.value
        return out.value


_library: Optional[Library] = None
_lock = threading.Lock()


def lib() -> Library:
    """The library; loads it when it is first called."""
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                _library = Library()
    return _library


def text_of(raw: Optional[bytes]) -> str:
    """A string of the library."""
    return (raw or b"").decode("utf-8", "replace")


def facts_of(function: Any, handle: Any) -> Iterator[Tuple[str, int]]:
    """The items of a function skmt_X_stat."""
    value = c_int64()
    i = 0
    while True:
        name = function(handle, i, byref(value))
        if name is None:
            return
        yield text_of(name), value.value
        i += 1

"""skmt - machine translation that uses a translation memory immediately.

>>> import skmt
>>> model = skmt.Model()
>>> print(model.translate('Guten Morgen!'))
Good morning!
>>> print(model.translate('Guten Morgen!', memory='my.tm'))

Model translates texts. Memory is a file of stored pairs that steer
translations. Session and Stream translate many texts. Result says how a
translation came about. Score compares translations with references. ModelStore
has the models of the user, and convert makes models of those of other projects. All
errors are exceptions of class Error.

The package calls libskmt.so, which works without the global interpreter lock, so
that threads translate at the same time.
"""
from ._library import lib as _lib, text_of as _text_of
from .errors import *           # noqa: F401,F403
from .memory import (Contradiction, Difference, Match, Memory, MemoryInfo,
                     MemoryState, Pair, Recovery, Rejected, StoredTranslation,
                     compare, recover)
from .model import Keys, Model, Session, Stream
from .options import OptionInfo, SystemInfo, options, systems
from .results import (FoundPair, Piece, Reason, Result, Sentence, Token,
                      Translation, Vote)
from .score import Score, ScoreValue, score
from .store import ModelInfo, ModelStore, convert, find_model

#: The version of this package; library_version() is that of the library.
__version__ = "0.1.0"


def library_version() -> str:
    """The version of the library."""
    return _text_of(_lib().version())


def library_path() -> str:
    """The file of the library."""
    return _lib().path


def cpu() -> str:
    """The name of the processor."""
    return _text_of(_lib().cpu())


def isa() -> str:
    """The kernels in use: "amx", "avx512", "avx2" or "ref"."""
    return _text_of(_lib().isa())

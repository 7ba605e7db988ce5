"""Translations with all that is known about them.

Results are plain values: they do not depend on the model, the session or the
memory that made them, can be kept, compared, pickled and shared by threads.

All positions are indices of a str, not bytes: `source[p.begin:p.end]`.
"""
from ctypes import byref, c_int, c_size_t
from dataclasses import dataclass, field
from typing import Any, List, Sequence, Tuple

from ._library import (CFoundPair, CPiece, CReason, CVote, lib, new_struct,
                       text_of)
from ._text import Offsets, as_seen

try:
    import numpy
except ImportError:
    numpy = None                # type: ignore[assignment]

__all__ = ["Result", "Translation", "Sentence", "Piece", "Token", "Vote",
           "Reason", "FoundPair"]


def floats(values: Sequence[Any]) -> Any:
    """Numbers as a numpy array if numpy is installed, else as a list."""
    if numpy is None:
        return list(values)
    return numpy.array(values, dtype=numpy.float32)


@dataclass(frozen=True)
class Piece:
    """A unit of the model's vocabulary."""
    id: int
    text: str                   # as in the vocabulary
    begin: int                  # in the text that it is a piece of
    end: int


@dataclass(frozen=True)
class Vote:
    """The vote of one stored state for a token."""
    pair: int                   # index in Sentence.pairs
    position: int               # of the token in the pair's target, from 0
    id: int                     # the token that got the vote
    text: str                   # that token, as in the vocabulary
    distance: float             # squared, between the states
    share: float                # the shares of all votes sum to 1


@dataclass(frozen=True)
class Reason:
    """Why the memory got its weight."""
    text: str                   # a phrase, such as "close state"
    effect: float               # above 0: it raised the weight


@dataclass(frozen=True)
class Token(Piece):
    """A piece of a translation. Weight, votes and reasons need `explain`."""
    logprob: float = 0.0
    weight: float = 0.0         # of the memory in its choice, 0 to 1
    votes: Tuple[Vote, ...] = ()        # the nearest stored state first
    reasons: Tuple[Reason, ...] = ()    # strongest first


@dataclass(frozen=True)
class FoundPair:
    """A stored pair that was found for a sentence. Source, target, memory and
    id are known with `explain`, or if the sentence is stored word for word."""
    source: str
    target: str
    memory: str                 # "" for a pair from the caller
    id: int                     # 0 for a pair from the caller
    similarity: float           # 0 to 1; -1 for a pair of a datastore
    exact: bool                 # its target is the translation
    entries: int                # stored states of a pair of a datastore


@dataclass(frozen=True)
class Sentence:
    """A sentence of the input with one of its translations."""
    source: str
    begin: int                  # in the input text
    end: int
    text: str                   # its translation, without white space around
    score: float
    pieces: Tuple[Piece, ...]   # of the source
    tokens: Tuple[Token, ...]   # of the translation; the last one is EOS
    pairs: Tuple[FoundPair, ...]        # best first
    passes: int                 # passes of the decoder
    #: With option `attention`: a row for each token, with a weight for each
    #: source piece and each special token that the model adds. A numpy array of
    #: float32 if numpy is installed, else a list of lists; None without.
    attention: Any = field(default=None, compare=False, repr=False)

    @property
    def exact(self) -> bool:
        """Whether the sentence is stored, and its stored translation was
        used."""
        return any(p.exact for p in self.pairs)

    @property
    def weights(self) -> Any:
        """The weight of the memory for each token."""
        return floats([t.weight for t in self.tokens])


@dataclass(frozen=True)
class Translation:
    """One translation of the whole text."""
    text: str
    score: float                # sum of the scores of its sentences
    logprob: float
    sentences: Tuple[Sentence, ...]

    @property
    def tokens(self) -> List[Token]:
        """The tokens of all sentences."""
        return [t for s in self.sentences for t in s.tokens]

    @property
    def weights(self) -> Any:
        """The weight of the memory for each token."""
        return floats([t.weight for t in self.tokens])

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Result:
    """The translations of a text. `str(result)` is the best one."""
    #: The text that was translated; with option invalid="replace", after the
    #: replacement of invalid bytes.
    source: str
    translations: Tuple[Translation, ...]       # best first

    @property
    def best(self) -> Translation:
        return self.translations[0]

    @property
    def text(self) -> str:
        """The best translation."""
        return self.best.text

    @property
    def score(self) -> float:
        return self.best.score

    @property
    def logprob(self) -> float:
        return self.best.logprob

    @property
    def sentences(self) -> Tuple[Sentence, ...]:
        """The sentences with their best translation."""
        return self.best.sentences

    @property
    def tokens(self) -> List[Token]:
        """The tokens of the best translation."""
        return self.best.tokens

    @property
    def weights(self) -> Any:
        """The weight of the memory for each token of the best translation."""
        return self.best.weights

    def __str__(self) -> str:
        return self.text


# ---- reading a result of the library ---------------------------------------


class _Reader:
    """Copies a skmt_result."""

    def __init__(self, pointer: int, raw: bytes):
        self.r = pointer
        self.lib = lib()
        self.source = as_seen(raw)
        self.offsets = Offsets(self.source)
        self.piece = new_struct(CPiece)
        self.vote = new_struct(CVote)
        self.reason = new_struct(CReason)

    def result(self) -> Result:
        n = self.lib.result_sentences(self.r)
        shared = [self.shared(s) for s in range(n)]
        return Result(self.source, tuple(
            self.translation(h, shared)
            for h in range(self.lib.result_hyps(self.r))))

    def shared(self, s: int) -> Any:
        """What all translations of a sentence share."""
        begin, end = c_size_t(), c_size_t()
        self.lib.result_sentence_span(self.r, s, byref(begin), byref(end))
        span = self.offsets.begin(begin.value), self.offsets.end(end.value)
        pieces = tuple(self.source_piece(s, i) for i in
                       range(self.lib.result_source_pieces(self.r, s)))
        pairs = tuple(self.pair(s, i)
                      for i in range(self.lib.result_pairs(self.r, s)))
        return span, pieces, pairs, self.lib.result_passes(self.r, s)

    def source_piece(self, s: int, i: int) -> Piece:
        p = self.piece
        self.lib.result_source_piece(self.r, s, i, byref(p))
        return Piece(p.id, text_of(p.text), self.offsets.begin(p.begin),
                     self.offsets.end(p.end))

    def pair(self, s: int, i: int) -> FoundPair:
        p = new_struct(CFoundPair)
        self.lib.result_pair(self.r, s, i, byref(p))
        return FoundPair(text_of(p.source), text_of(p.target),
                         text_of(p.memory), p.id, p.similarity, bool(p.exact),
                         p.entries)

    def translation(self, h: int, shared: List[Any]) -> Translation:
        text = text_of(self.lib.result_text(self.r, h))
        offsets = Offsets(text)
        return Translation(
            text, self.lib.result_score(self.r, h),
            self.lib.result_logprob(self.r, h),
            tuple(self.sentence(h, s, text, offsets, shared[s])
                  for s in range(len(shared))))

    def sentence(self, h: int, s: int, text: str, offsets: Offsets,
                 shared: Any) -> Sentence:
        (begin, end), pieces, pairs, passes = shared
        n = self.lib.result_target_pieces(self.r, h, s)
        tokens = tuple(self.token(h, s, i, offsets) for i in range(n))
        mine = ""
        if tokens:
            mine = text[tokens[0].begin:max(t.end for t in tokens)].strip()
        return Sentence(self.source[begin:end], begin, end, mine,
                        self.lib.result_sentence_score(self.r, h, s), pieces,
                        tokens, pairs, passes, self.attention(h, s, n))

    def token(self, h: int, s: int, i: int, offsets: Offsets) -> Token:
        p = self.piece
        self.lib.result_target_piece(self.r, h, s, i, byref(p))
        votes = c_int()
        weight = self.lib.result_weight(self.r, h, s, i, byref(votes))
        return Token(p.id, text_of(p.text), offsets.begin(p.begin),
                     offsets.end(p.end), p.logprob, weight,
                     tuple(self.get_vote(h, s, i, v)
                           for v in range(votes.value)),
                     self.reasons(h, s, i))

    def get_vote(self, h: int, s: int, i: int, v: int) -> Vote:
        o = self.vote
        self.lib.result_vote(self.r, h, s, i, v, byref(o))
        return Vote(o.pair, o.position, o.id, text_of(o.text), o.distance,
                    o.share)

    def reasons(self, h: int, s: int, i: int) -> Tuple[Reason, ...]:
        out: List[Reason] = []
        while self.lib.result_reason(self.r, h, s, i, len(out),
                                     byref(self.reason)):
            out.append(Reason(text_of(self.reason.text), self.reason.effect))
        return tuple(out)

    def attention(self, h: int, s: int, n: int) -> Any:
        rows = []
        width = c_int()
        for i in range(n):
            row = self.lib.result_attention(self.r, h, s, i, byref(width))
            if not row:
                return None
            rows.append(row[:width.value])
        return floats(rows) if rows else None


def read_result(pointer: int, raw: bytes) -> Result:
    """Copy a result. `raw` is the text that was translated."""
    return _Reader(pointer, raw).result()

"""Scores of translations: BLEU, chrF2, TER and others."""
from ctypes import byref, c_char_p, c_double
from dataclasses import dataclass
from typing import Dict, Iterable, List, Optional, Tuple, Union

from ._handle import Handle
from ._library import lib, text_of
from ._text import encode
from .errors import ArgumentError

__all__ = ["Score", "ScoreValue", "score"]

RESAMPLES, SEED = 1000, 12345   # as skmt score


def _encode_line(text: str) -> bytes:
    """A line may contain a NUL: it is passed with its length."""
    if "\0" not in text:
        return encode(text)
    return b"\0".join(encode(part) for part in text.split("\0"))


@dataclass(frozen=True)
class ScoreValue:
    """A score in percent, with its 95% confidence interval."""
    name: str                   # such as "bleu"
    title: str                  # such as "BLEU"
    value: float
    low: Optional[float]        # None without resampling
    high: Optional[float]
    signature: str              # says how it was computed
    details: Dict[str, float]

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.title} {self.value:.1f}"
        return (f"{self.title} {self.value:.1f} "
                f"({self.low:.1f} to {self.high:.1f})")


class Score(Handle):
    """Scores translations against references.

    >>> s = skmt.Score()
    >>> s.add("Good morning!", "Good morning.")
    >>> s.get("bleu"), s.interval("bleu")

    `metrics` is a list or a text such as "bleu,chrf,ter". "bleu", "chrf" and
    "ter" give the same results as sacrebleu; skmt_tools.h describes the others.
    """

    _what = "score"

    def __init__(self, metrics: Union[str, Iterable[str]] = "bleu,chrf,ter"):
        if not isinstance(metrics, str):
            metrics = ",".join(metrics)
        self._own(lib().make("score_new", encode(metrics)), lib().score_free)

    def add(self, translation: str, reference: str) -> None:
        """Add a line of a translation and its reference."""
        hyp, ref = _encode_line(translation), _encode_line(reference)
        with self._lock:
            lib().call("score_add", self._pointer, hyp, len(hyp), ref,
                       len(ref))

    def add_all(self, translations: Iterable[str],
                references: Iterable[str]) -> None:
        """Add lines; there must be as many references."""
        hyps, refs = list(translations), list(references)
        if len(hyps) != len(refs):
            raise ArgumentError(f"there are {len(hyps)} translations and "
                                f"{len(refs)} references")
        for hyp, ref in zip(hyps, refs):
            self.add(hyp, ref)

    def start_document(self) -> None:
        """Lines that are added from now on belong to a new document."""
        with self._lock:
            lib().score_document(self._pointer)

    def __len__(self) -> int:
        """The number of lines."""
        with self._lock:
            return int(lib().score_size(self._pointer, None))

    def __bool__(self) -> bool:
        return True

    @property
    def metrics(self) -> List[str]:
        """The names of the metrics."""
        return list(self._titles())

    def _titles(self) -> Dict[str, Tuple[str, str]]:
        out: Dict[str, Tuple[str, str]] = {}
        title, signature = c_char_p(), c_char_p()
        with self._lock:
            while True:
                name = lib().score_metric(self._pointer, len(out),
                                          byref(title), byref(signature))
                if name is None:
                    return out
                out[text_of(name)] = (text_of(title.value),
                                      text_of(signature.value))

    def get(self, metric: str) -> float:
        """The score of all lines so far."""
        value = c_double()
        with self._lock:
            lib().call("score_get", self._pointer, encode(metric),
                       byref(value))
        return value.value

    def details(self, metric: str) -> Dict[str, float]:
        """The counts behind a score; see skmt_score_detail."""
        out: Dict[str, float] = {}
        value = c_double()
        raw = encode(metric)
        with self._lock:
            while True:
                name = lib().score_detail(self._pointer, raw, len(out),
                                          byref(value))
                if name is None:
                    return out
                out[text_of(name)] = value.value

    def interval(self, metric: str, resamples: int = RESAMPLES,
                 seed: int = SEED) -> Tuple[float, float]:
        """The 95% confidence interval, by bootstrap resampling."""
        low, high = c_double(), c_double()
        with self._lock:
            lib().call("score_interval", self._pointer, encode(metric),
                       resamples, seed, byref(low), byref(high))
        return low.value, high.value

    def compare(self, other: "Score", metric: str,
                resamples: int = RESAMPLES, seed: int = SEED) -> float:
        """The p-value of the difference to the score of another translation of
        the same lines, by paired resampling."""
        p = c_double()
        first, second = sorted((self, other), key=id)   # no deadlock
        with first._lock, second._lock:
            lib().call("score_compare", self._pointer, other._pointer,
                       encode(metric), resamples, seed, byref(p))
        return p.value

    def values(self, resamples: int = RESAMPLES,
               seed: int = SEED) -> Dict[str, ScoreValue]:
        """All scores; with 0 resamples, without intervals."""
        out = {}
        for name, (title, signature) in self._titles().items():
            low: Optional[float] = None
            high: Optional[float] = None
            if resamples and len(self):
                low, high = self.interval(name, resamples, seed)
            out[name] = ScoreValue(name, title, self.get(name), low, high,
                                   signature, self.details(name))
        return out


def score(translations: Iterable[str], references: Iterable[str],
          metrics: Union[str, Iterable[str]] = "bleu,chrf,ter",
          resamples: int = RESAMPLES, seed: int = SEED
          ) -> Dict[str, ScoreValue]:
    """Score translations against references.

    >>> print(skmt.score(translations, references)["bleu"])
    BLEU 36.8 (35.9 to 37.8)
    """
    with Score(metrics) as s:
        s.add_all(translations, references)
        return s.values(resamples, seed)

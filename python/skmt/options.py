"""Options by name, as keyword arguments.

Every option of the library is a keyword argument, with `_` for `-` and a final
`_` where Python has a keyword of this name: `max_len_b=20`, `from_='de'`. The
library checks names and values; `options()` describes all of them.
"""
from ctypes import byref
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._handle import Handle
from ._library import COptionInfo, CSystemInfo, lib, new_struct, text_of
from ._text import encode

__all__ = ["OptionInfo", "SystemInfo", "options", "systems"]

GROUPS = ("translate", "steer", "search", "model")


@dataclass(frozen=True)
class OptionInfo:
    """A description of an option."""
    name: str                   # of the keyword argument, such as "max_len_a"
    group: str                  # translate, steer, search or model
    kind: str                   # int, float, bool, size or "auto|none"
    default: str                # as text
    help: str                   # a phrase


@dataclass(frozen=True)
class SystemInfo:
    """A method by which stored pairs change translations (option `system`)."""
    name: str
    title: str
    paper: str                  # "-" if there is none
    needs: str                  # "-": nothing
    options: Tuple[str, ...]    # the names of those that it uses


def keyword(name: str) -> str:
    """The keyword argument for an option of the library."""
    name = name.replace("-", "_")
    return name + "_" if iskeyword(name) else name


def options(group: Optional[str] = None) -> List[OptionInfo]:
    """Describe all options, or those of one group: "translate", "steer",
    "search" or "model"."""
    if group is not None and group not in GROUPS:
        raise ValueError(f"there is no group {group!r}; the groups are "
                         f"{', '.join(GROUPS)}")
    found = []
    info = new_struct(COptionInfo)
    for number, name in enumerate(GROUPS):
        i = 0
        while group in (None, name) and \
                lib().option_describe(number, i, byref(info)):
            found.append(OptionInfo(
                keyword(text_of(info.name)), name, text_of(info.kind),
                text_of(info.fallback), text_of(info.help)))
            i += 1
    return found


def systems() -> List[SystemInfo]:
    """Describe all systems."""
    found: List[SystemInfo] = []
    info = new_struct(CSystemInfo)
    while lib().system_describe(len(found), byref(info)):
        names: List[bytes] = []
        while info.options[len(names)]:
            names.append(info.options[len(names)])
        found.append(SystemInfo(
            text_of(info.name), text_of(info.title), text_of(info.paper),
            text_of(info.needs), tuple(keyword(text_of(n)) for n in names)))
    return found


def value_text(name: str, value: Any) -> str:
    """The value of an option as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return repr(value)
    for convert in ("__index__", "__float__"):      # such as those of numpy
        if hasattr(value, convert):
            return repr(getattr(value, convert)())
    raise TypeError(f"option {name} must be a str, a number or a bool, not "
                    f"{type(value).__name__}")


def normal(given: Mapping[str, Any]) -> Dict[str, str]:
    """Keyword arguments as names and values of the library. None means the
    default."""
    return {name.rstrip("_").replace("_", "-"): value_text(name, value)
            for name, value in given.items() if value is not None}


class Options(Handle):
    """A skmt_options. For use inside the package."""

    _what = "set of options"

    def __init__(self, given: Mapping[str, str]):
        self._own(lib().make("options_new"), lib().options_free)
        for name, value in given.items():
            lib().call("options_set", self._pointer,
                       encode(name, "a name of an option"),
                       encode(value, "a value of an option"))

    def get(self, name: str) -> Optional[str]:
        raw = lib().options_get(self._pointer, encode(name))
        return None if raw is None else text_of(raw)

    def in_force(self, model: Optional[int], steered: bool,
                 name: str) -> Optional[str]:
        raw = lib().options_in_force(self._pointer, model, steered,
                                     encode(name))
        return None if raw is None else text_of(raw)

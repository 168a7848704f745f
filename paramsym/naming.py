"""Names as people type them, the nearest known names, and text from a stranger made safe to show."""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST_BITS = 8192
"""A longer number is not written out; Python writes 4,300 digits and refuses more."""
_STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves the cursor, starts an escape sequence or turns the direction of writing; the line feed is left."""


_MODULES = {("keras", "Layer"): "a Keras layer or model", ("flax", "Module"): "a Flax module", ("torch", "Module"): "a PyTorch module"}
"""What the classes are from which the models of frameworks inherit. A Keras layer may be a PyTorch module as well."""


_CANONICAL = frozenset({"albert", "distilbert", "facebookai", "google-bert", "google-t5", "openai-community"})
"""Organisations under which the Hugging Face Hub lists models that had a name alone before, such as ``gpt2``."""


def meant(typed: str, names: Iterable[str]) -> str | None:
    """Return the one name that is meant: spelt so, or without its organisation, or in other capitals; else None.

    >>> meant("llama-2-7B-hf", ["meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-13b-hf"])
    'meta-llama/Llama-2-7b-hf'
    >>> meant("openai-community/gpt2", ["gpt2", "gpt2-medium"])
    'gpt2'
    """
    known = list(names)
    if typed in known:
        return typed
    organisation, _, rest = typed.rpartition("/")
    typed = rest if organisation.lower() in _CANONICAL else typed
    found = {name for name in known if typed.lower() in {name.lower(), name.rpartition("/")[2].lower()}}
    return found.pop() if len(found) == 1 else None


def described(value: object, limit: int = 80) -> str:
    """Return what was found in another thing's place: one line, however it prints itself, and its type; of a module, what reads it.

    >>> described([1, 2])
    '[1, 2] (list)'
    """
    kind, bases = type(value).__name__, [(cls.__module__.partition(".")[0], cls.__name__) for cls in type(value).__mro__]
    for base, words in _MODULES.items():
        if base in bases:
            return f"{words} ({kind}; ps.from_module reads it)"
    return f"{quoted(value, limit)} ({kind})"


def quoted(value: object, limit: int = 80) -> str:
    """Return what was found, as ``repr`` writes it, on one line and in short; it may be anything, and its ``repr`` may fail.

    >>> quoted("H"), quoted(10**5000)
    ("'H'", 'a number of 16610 bits')
    """
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"a number of {value.bit_length()} bits"
    try:
        words = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - nested without end, a SymPy number of too many digits, or somebody's faulty class
        return "something"
    return words if len(words) <= limit else f"{words[: limit - 3]}..."


def digits(number: int, most: int = 100) -> str:
    """Write a whole number for a message; a long one, which Python may refuse to write, by the number of its digits.

    >>> digits(768), digits(10**5000)
    ('768', 'a number of about 5,000 digits')
    """
    if abs(number) < 10**most:
        return str(number)
    return f"a number of about {int(number.bit_length() * 0.30103):,} digits"


def short(value: object, limit: int = 120) -> str:
    """Write a value for a message, cut off where it is long.

    >>> short(10**5000), short("x" * 1000, 10)
    ('something too long to write', 'xxxxxxx...')
    """
    try:
        words = str(value)
    except (RecursionError, ValueError):  # nested without end, or a number of more digits than Python writes
        return "something too long to write"
    return words if len(words) <= limit else words[: limit - 3] + "..."


def nearest(typed: str, names: Iterable[str], cutoff: float = 0.5, most: int = 3) -> list[str]:
    """Return the names that hold what was typed, then those spelt much like it.

    >>> nearest("bert-base", ["gpt2", "bert-large-uncased", "bert-base-uncased"])
    ['bert-base-uncased', 'bert-large-uncased']
    """
    from difflib import get_close_matches  # only an error needs it

    known = list(names)
    lower = typed.lower()
    longer = [name for name in known if len(typed) > 2 and lower in name.lower()]
    return list(dict.fromkeys([*longer, *get_close_matches(typed, known, n=most, cutoff=cutoff)]))[:most]


def harmless(text: str) -> str:
    r"""Return the text with control characters spelt out; lines stay lines.

    >>> harmless("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return text if text.isprintable() else _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


def one_line(text: str) -> str:
    r"""Return the text with line feeds spelt out, too.

    >>> one_line("a\nb")
    'a\\nb'
    """
    return text if text.isprintable() else harmless(text).replace("\n", r"\n")

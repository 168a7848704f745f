"""The known names nearest to a typed one, and text from unknown sources made safe to show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MOST_BITS = 8192
"""A longer number is not written out; Python writes at most 4,300 digits."""
_STEERING = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
"""Characters that move the cursor, start an escape sequence or change the writing direction; the line feed is allowed. The pattern is
compiled when the first one is found."""


_MODULES = {("keras", "Layer"): "a Keras layer or model", ("flax", "Module"): "a Flax module", ("torch", "Module"): "a PyTorch module"}
"""The base classes of the frameworks' models, in words. A Keras layer may be a PyTorch module as well."""


_CANONICAL = frozenset({"albert", "distilbert", "facebookai", "google-bert", "google-t5", "openai-community"})
"""Organisations under which the Hugging Face Hub lists models that used to have a name without one, such as ``gpt2``."""


def meant(typed: str, names: Iterable[str]) -> str | None:
    """Return the known name that was typed exactly, without its organisation, or in other upper and lower case; otherwise None.

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
    """Describe an unexpected value in one line, with its type; for a module of a framework, with the function that reads it.

    >>> described([1, 2])
    '[1, 2] (list)'
    """
    kind, bases = type(value).__name__, [(cls.__module__.partition(".")[0], cls.__name__) for cls in type(value).__mro__]
    for base, words in _MODULES.items():
        if base in bases:
            return f"{words} ({kind}; ps.from_module reads it)"
    return f"{quoted(value, limit)} ({kind})"


def quoted(value: object, limit: int = 80) -> str:
    """Return the ``repr`` of any value, shortened to one line, even if its ``repr`` fails.

    >>> quoted("H"), quoted(10**5000)
    ("'H'", 'a number of 16610 bits')
    """
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"a number of {value.bit_length()} bits"
    try:
        words = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - nested endlessly, a SymPy number of too many digits, or somebody's faulty class
        return "something"
    return words if len(words) <= limit else f"{words[: limit - 3]}..."


def digits(number: int, most: int = 100) -> str:
    """Write a whole number for a message; a number that is too long for Python to write as its number of digits.

    >>> digits(768), digits(10**5000)
    ('768', 'a number of about 5,000 digits')
    """
    if abs(number) < 10**most:
        return str(number)
    return f"a number of about {int(number.bit_length() * 0.30103):,} digits"


def short(value: object, limit: int = 120) -> str:
    """Write a value for a message, shortened if it is long.

    >>> short(10**5000), short("x" * 1000, 10)
    ('something too long to write', 'xxxxxxx...')
    """
    try:
        words = str(value)
    except (RecursionError, ValueError):  # nested endlessly, or a number with too many digits
        return "something too long to write"
    return words if len(words) <= limit else words[: limit - 3] + "..."


def nearest(typed: str, names: Iterable[str], cutoff: float = 0.5, most: int = 3) -> list[str]:
    """Return the names that are the typed text, begin with it or contain it, then those with a similar spelling.

    Capitals, and signs between letters and digits, do not matter.

    >>> nearest("BERT base", ["gpt2", "bert-large-uncased", "bert-base-uncased"])
    ['bert-base-uncased']
    """
    from difflib import get_close_matches  # only an error needs it

    known, bare = list(names), _letters(typed)
    form = _letters if len(bare) > 3 else str.lower  # three letters are in many names by chance
    longer = {name: form(name) for name in known if len(bare) > 2 and form(typed) in form(name)}
    found = sorted(longer, key=lambda name: (longer[name] != form(typed), not longer[name].startswith(form(typed))))
    return list(dict.fromkeys([*found, *get_close_matches(typed, known, n=most, cutoff=cutoff)]))[:most]


def _letters(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return "".join(filter(str.isalnum, text.lower()))


def some(names: Sequence[str], most: int = 1) -> str:
    """Return the first of several names, and how many more there are.

    >>> some(["h.0", "h.1"], 2), some(["h.0", "h.1", "h.2"])
    ('h.0, h.1', 'h.0 and 2 more')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def repeated(pairs: Iterable[tuple[str, object]]) -> str:
    """Return the first key that occurs twice in the pairs of a JSON object. JSON readers disagree about which value counts."""
    seen: set[str] = set()
    return next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]


def harmless(text: str) -> str:
    r"""Return the text with control characters escaped, except line feeds.

    >>> harmless("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return text if text.isprintable() else re.sub(_STEERING, lambda found: ascii(found[0])[1:-1], text)


def one_line(text: str) -> str:
    r"""Return the text with control characters and line feeds escaped.

    >>> one_line("a\nb")
    'a\\nb'
    """
    return text if text.isprintable() else harmless(text).replace("\n", r"\n")

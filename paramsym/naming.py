"""Names as people type them: without the organisation, in other letters; and the nearest ones where none is meant."""

from __future__ import annotations

from collections.abc import Iterable


def meant(typed: str, names: Iterable[str]) -> str | None:
    """Return the one name that is meant: spelt so, or without its organisation, or in other capitals; else None.

    >>> meant("llama-2-7B-hf", ["meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-13b-hf"])
    'meta-llama/Llama-2-7b-hf'
    """
    known = list(names)
    if typed in known:
        return typed
    found = {name for name in known if typed.lower() in {name.lower(), name.rpartition("/")[2].lower()}}
    return found.pop() if len(found) == 1 else None


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

"""Claims in the words of papers: N parameters, D tokens, C FLOPs, the long names of a configuration, and the letters of a paper.

C = 6*N*D    6*N + 12*L*H*Q*T    12 n_layer d_model^2
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paramsym.algebra.grammar import mentioned
from paramsym.algebra.letters import LETTER_SETS, Lettering, lettering
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, canonical, per
from paramsym.analysis import claim as claims
from paramsym.analysis.conventions import conventions
from paramsym.analysis.counted import Counted, holder
from paramsym.analysis.reconcile.answers import Answer
from paramsym.errors import ParamsymError
from paramsym.measure.cost import Cost

LONG_NAMES: Mapping[str, str] = {
    "d_model": "H", "n_embd": "H", "n_embed": "H", "hidden_size": "H", "embed_dim": "H", "hidden_dim": "H",
    "n_layer": "L", "n_layers": "L", "num_layers": "L", "num_hidden_layers": "L",
    "n_head": "A", "n_heads": "A", "num_heads": "A", "num_attention_heads": "A",
    "n_kv_heads": "G", "num_kv_heads": "G", "num_key_value_heads": "G",
    "d_ff": "F", "n_inner": "F", "intermediate_size": "F", "ffn_dim": "F", "ffn_hidden_size": "F",
    "d_head": "D", "head_dim": "D", "n_vocab": "V", "vocab_size": "V",
    "seq_len": "S", "seqlen": "S", "seq_length": "S", "block_size": "S", "n_ctx": "S", "batch_size": "B", "batch": "B",
    "n_experts": "E", "num_experts": "E",
}  # fmt: skip
"""The names of sizes in configurations and in code, and their letters."""

_LEFT = re.compile(r"^\s*[NC]\s*(?:=|\u2248)")
_PLAIN = re.compile(r"\\(?:text|mathrm)\{(\w+)\}|[{}]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETERS, _TOKENS = "N", "D"


@dataclass(frozen=True)
class Meaning:
    """What the names in a claim mean: sizes in the model's letters, and words about the choice for a reader."""

    names: Mapping[str, Dim]
    words: tuple[str, ...] = ()


def meanings(subject: Counted, claim: Any, letters: Lettering = None) -> tuple[Any, list[Meaning]]:
    """Return a claim without ``C =`` or ``N =``, and the meanings of its names: several if it says N, which is counted in several ways.

    A claim that the model's own letters explain has one meaning without names.

    Raises:
        ArgumentError: an unknown set of letters.
    """
    if not isinstance(claim, str) or (letters is None and _readable(subject, claim)):
        return claim, [Meaning({})]
    formula = _LEFT.sub("", claim)
    own: dict[str, Dim] = {symbol.name: symbol for symbol in subject.origin[0].symbols}
    names: dict[str, Dim] = {name: found for name, ours in LONG_NAMES.items() if (found := _size(ours, own)) is not None} | own
    words: tuple[str, ...] = ()
    if letters is not None:
        names |= _written(lettering(letters).latex, own)
    left = _unknown(formula, names) - {_PARAMETERS, _TOKENS}
    for paper in LETTER_SETS if left else ():
        found = _written([(ours, form) for ours, form in paper.forms], own)
        if left <= found.keys():
            names, words = {**names, **found}, (f"in the letters of {paper.source}",)
            break
    if _PARAMETERS not in _unknown(formula, names):
        return formula, [Meaning(names, words)]
    tokens = _tokens(subject)
    if tokens is not None:
        names[_TOKENS] = tokens
    ways: dict[Any, Meaning] = {}
    for item in conventions(holder(subject.origin[0])):
        said = "with N the parameters, every distinct tensor once" if item.name == "stored" else f"with N the {item.name} parameters"
        ways.setdefault(item.formula, Meaning({**names, _PARAMETERS: canonical(item.formula)}, (*words, said)))
    return formula, list(ways.values())


def told(answers: Sequence[Answer], meaning: Meaning) -> tuple[Answer, ...]:
    """Return answers of which the first begins with what the names of the claim mean."""
    if not meaning.words or not answers:
        return tuple(answers)
    first, *others = answers
    reading, *further = first.readings
    reading = replace(reading, words=f"{', '.join(meaning.words)}: {reading.words}")
    return (replace(first, readings=(reading, *further)), *others)


def _readable(subject: Counted, claim: str) -> bool:
    sizes = dict.fromkeys(subject.origin[0].symbols, 1)
    try:
        claims.read(claim, sizes)
    except ParamsymError:
        return False
    return True


def _size(ours: str, own: Mapping[str, Dim]) -> Dim | None:
    """Return the model's size of a letter; the width of a head is H/A if it has no letter."""
    if ours == "D" and ours not in own and {"H", "A"} <= own.keys():
        return per(own["H"], own["A"])
    return own.get(ours)


def _written(forms: Iterable[tuple[str, str]], own: Mapping[str, Dim]) -> dict[str, Dim]:
    """Return the names that a paper writes for the sizes of the model, without LaTeX: n_layer."""
    found: dict[str, Dim] = {}
    for ours, form in forms:
        name, size = _PLAIN.sub(r"\1", form), _size(ours, own)
        if size is not None and _NAME.fullmatch(name) and (ours == "S" or name not in found):
            found[name] = size
    return found


def _unknown(claim: str, names: Mapping[str, Dim]) -> set[str]:
    """Return the names of a claim that mean nothing yet; a word without a meaning is a product of letters."""
    words = [word for word in mentioned(claim) if word not in names]
    letters = (word if "_" in word or word[1:].isdigit() else letter for word in words for letter in word)
    return {one for one in letters if one not in names and one.upper() not in names}


def _tokens(subject: Counted) -> Dim | None:
    """Return the tokens that a cost is for: those of a training run, of the inputs, of one text, or one."""
    root = subject.origin[0]
    if not isinstance(root, Cost):
        return None
    if "tokens" in root.chosen:
        tokens: Dim = root.chosen["tokens"]
        return tokens
    shape = {"token": (), "sequence": root.inputs[0][1:2]}.get(str(root.chosen.get("per")), root.inputs[0][:2])
    return canonical(Polynomial.product(shape).as_expr())

"""llama.cpp's mixes of formats, such as Q4_K_M: the output matrix and, in some layers, other matrices have more bits than the rest.

The rules are those of llama_tensor_get_type in src/llama-quant.cpp, read at 007dbbf; files of 2024 have another one for a fused projection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from sympy import Rational

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.counted import total
from paramsym.analysis.reconcile.edits import Edit, fixed
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.wording import listed
from paramsym.measure.formats import FORMATS

_VOCABULARY, _EXPERTS, _HEADS, _GROUPS = (BY_NAME[name].symbol for name in "VEAG")
_EIGHT, _LARGE, _MANY = 8, 80, 4  # experts, layers, and queries for each key of the models that are treated apart
_WEAK = frozenset({"q2_k", "q3_k", "q4_k"})  # the formats in which these models keep other tensors
_Layers: TypeAlias = Callable[[int, int], bool]


def _every(layer: int, depth: int) -> bool:
    del layer, depth
    return True


def _ends_and_thirds(layer: int, depth: int) -> bool:
    """Whether a layer is in the first or the last eighth, or every third between (use_more_bits)."""
    return layer < depth // 8 or layer >= 7 * depth // 8 or (layer - depth // 8) % 3 == 2


def _first(layers: int = 0, share: int = 0) -> _Layers:
    return lambda layer, depth: layer < (layers or depth // share)


_SAME: Mapping[str, tuple[tuple[str, _Layers], ...]] = {}
_MIXES: Mapping[str, tuple[str, Mapping[str, tuple[tuple[str, _Layers], ...]]]] = {
    **{name: (name[:4].lower(), _SAME) for name in ("Q4_0", "Q4_1", "Q5_0 or Q5_K_S", "Q5_1")},
    "Q2_K": ("q2_k", {"values": (("q3_k", _every),), "down": (("q3_k", _every),), "outputs": (("q3_k", _every),)}),
    "Q3_K_S": ("q3_k", _SAME),
    "Q3_K_M": (
        "q3_k",
        {
            "values": (("q5_k", _first(2)), ("q4_k", _every)),
            "down": (("q5_k", _first(share=16)), ("q4_k", _every)),
            "outputs": (("q4_k", _every),),
        },
    ),
    "Q3_K_L": ("q3_k", {"values": (("q5_k", _every),), "down": (("q5_k", _every),), "outputs": (("q5_k", _every),)}),
    "Q4_K_S": ("q4_k", {"values": (("q5_k", _first(4)),), "down": (("q5_k", _first(share=8)),)}),
    "Q4_K_M": ("q4_k", {"values": (("q6_k", _ends_and_thirds),), "down": (("q6_k", _ends_and_thirds),)}),
    "Q5_K_M": ("q5_k", {"values": (("q6_k", _ends_and_thirds),), "down": (("q6_k", _ends_and_thirds),)}),
}
"""The format of most matrices, and the first format that applies to a layer for others. The output matrix has q6_k in all mixes."""
_EARLIER = {
    f"{name} of 2024": (_MIXES[name][0], {**_MIXES[name][1], "values": ((form, _every),)})
    for name, form in (("Q3_K_M", "q4_k"), ("Q3_K_L", "q4_k"), ("Q4_K_M", "q5_k"), ("Q5_K_M", "q6_k"))
}
"""The mixes for a fused projection, before it was treated as values are."""
_FUSED = frozenset({"qkv_proj", "query_key_value", "c_attn"})
_MIXED = {
    "values": ("the values", _FUSED | {"v_proj"}),
    "keys": ("the keys", frozenset({"k_proj"})),
    "outputs": ("the outputs of attention", frozenset({"o_proj"})),
    "down": ("the last matrix of the feed-forward network", frozenset({"down_proj", "w2"})),
}


def mixes(subject: Subject, alike: Mapping[str, Polynomial]) -> Iterator[Edit]:
    """Yield the bytes of a file in each mix; ``alike`` are the edits with all matrices in one format. Routers stay in float32.

    Eight experts have keys and values in q8_0, and outputs of attention in q5_k at least; 80 layers that share keys between heads have
    values in q5_k at least.
    """
    lines = [line for line in subject.lines if not line.alias_of]
    head = [line for line in lines if line.role == "weight" and _VOCABULARY in line.factors]
    head = head or [line for line in lines if line.role == "table" and _VOCABULARY in line.factors]
    routers = [line for line in lines if _EXPERTS in line.sizes and _EXPERTS not in line.stored]
    weights = [line for line in lines if line.role == "weight"]
    parts = {part: [line for line in weights if {*map(str, line.path)} & names] for part, (_, names) in _MIXED.items()}
    depths = {subject.value(Polynomial.of(line.stored[-1])) for line in (*parts["values"], *parts["down"]) if line.stored}
    depth = depths.pop() if len(depths) == 1 else 0
    groups, heads = subject.used.get(_GROUPS, 0), subject.whole.get(_HEADS, 0)
    fused = any({*map(str, line.path)} & _FUSED for line in parts["values"])
    for name, (base, rules) in {**_MIXES, **(_EARLIER if fused else {})}.items():
        if not head or (rules and not depth):
            continue
        chosen = dict(rules)
        if base == "q2_k" and 0 < groups * _MANY <= heads:
            chosen["values"] = (("q4_k", _every),)
        if depth and subject.whole.get(_EXPERTS) == _EIGHT:
            chosen |= dict.fromkeys(("keys", "values"), (("q8_0", _every),))
            chosen |= {"outputs": (("q5_k", _every),)} if base in _WEAK else {}
        elif depth == _LARGE and 0 < groups < heads and base in _WEAK:
            chosen["values"] = (*((form, layers) for form, layers in chosen.get("values", ()) if form not in _WEAK), ("q5_k", _every))
        term = (
            alike[f"gguf-{base}"]
            + total(routers) * Polynomial.of(4 - FORMATS[f"gguf-{base}"].number)
            + total(head) * Polynomial.of(_more("q6_k", base))
        )
        for part, formats in chosen.items():
            each = [next((form for form, layers in formats if layers(layer, depth)), base) for layer in range(depth)]
            term += total(parts[part]) * Polynomial.of(sum(_more(form, base) for form in each) / Rational(depth))
        others = listed(["the output matrix", *(_MIXED[part][0] for part in chosen)])
        words = f"the bytes of a file in llama.cpp's {name}: gguf-{base}, with more bits for {others}"
        yield fixed(subject, term, words, 1.2, alone=True)


def _more(form: str, base: str) -> Dim:
    """Return the bytes that a number has more in another format."""
    return FORMATS[f"gguf-{form}"].number - FORMATS[f"gguf-{base}"].number

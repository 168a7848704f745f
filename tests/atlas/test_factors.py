"""The factors of recorded axes: why the number of heads cancels, and where a quotient is exact."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import A, D, F, G, H, L, V, per
from paramsym.algebra.size import Dim, cat
from paramsym.atlas.expression import OutsideError
from paramsym.atlas.predicting import rows_of, sizes_of
from paramsym.atlas.sizes import Sizes, exact_divisions
from paramsym.errors import DivisibilityError

EXPRESSIONS = [
    ["+", [[1, 1, [["hidden", 1]]]]],
    ["+", [[1, 1, [["heads", 1]]]]],
    ["+", [[1, 1, [[["//", "hidden", "heads"], 1]]]]],
    ["+", [[3, 1, [["hidden", 1]]]]],
]
SEGMENTS = [["query", 1, 2], ["key", 1, 2], ["value", 1, 2]]
(ROW,) = rows_of([["w", "parameter", {"axes": [0, [0, 1, 2], [3, SEGMENTS]]}]], EXPRESSIONS)


def sizes(hidden: int, heads: int, *, letters: bool) -> Sizes:
    """Return the sizes of a model with these values."""
    values = {"hidden": hidden, "heads": heads}
    exact = exact_divisions([("hidden", "heads")], values)
    return Sizes(values, sizes_of(values), {"hidden": H, "heads": A} if letters else {}, exact)


def axes(hidden: int, heads: int, *, letters: bool) -> list[object]:
    """Return the axes of the row."""
    found = sizes(hidden, heads, letters=letters)
    return [found.axis(*axis) for axis in zip(ROW.axes, ROW.factors, strict=True)]


def test_an_axis_is_a_product_of_factors_and_a_concatenation_of_segments() -> None:
    """In letters the width of a head is an exact quotient, and in numbers it is a number."""
    slices = (A, per(H, A))
    assert axes(24, 4, letters=True) == [H, slices, cat(query=slices, key=slices, value=slices)]
    assert axes(24, 4, letters=False) == [24, (4, 6), cat(query=(4, 6), key=(4, 6), value=(4, 6))]


def test_factors_that_do_not_multiply_to_the_size_are_left_out() -> None:
    """Five heads do not divide a width of 24: the size is that of the record."""
    assert axes(24, 5, letters=True) == [H, H, 3 * H]
    assert axes(24, 5, letters=False) == [24, 24, 72]
    assert axes(24, 0, letters=False) == [24, 24, 72]


@pytest.mark.parametrize(("model_type", "width"), [("cohere2", D), ("ernie4_5", D), ("glm4v_text", per(H, A))])
def test_pairs_that_are_rotated_are_no_slices(model_type: str, width: Dim) -> None:
    """Queries and keys whose neighbours are rotated in pairs are heads of one width, as values are."""
    model = ps.from_config({"model_type": model_type, "num_key_value_heads": 2}).origin[0]
    slices = {line.name.split(".")[-2]: line.factors[:2] for line in model.ledger() if line.name.endswith("_proj.weight")}
    assert [slices[name] for name in ("q_proj", "k_proj", "v_proj")] == [(A, width), (G, width), (G, width)]


def test_a_division_by_an_unknown_number_is_not_exact() -> None:
    """A key that is null."""
    with pytest.raises(OutsideError):
        sizes(24, 4, letters=False).number(["+", [[1, 1, [[["//", "hidden", "none"], 1]]]]])
    assert exact_divisions([("hidden", "none"), ("hidden", "heads")], {"hidden": 8, "heads": 2}) == [("hidden", "heads")]


def test_heads_cancel_where_they_divide_the_width() -> None:
    """ViT-MSN rounds the width of a head down: the form for 768 and 12 demands the division, the one for 100 and 12 keeps the floor."""
    model = ps.from_config({"model_type": "vit_msn"})
    why = ps.explain(model, "A")
    assert why.cancels
    assert "always as A slices of width H/A" in why.verdict
    assert model.at(A=8).count == model.count == ps.from_config({"model_type": "vit_msn", "num_attention_heads": 8}).count
    with pytest.raises(DivisibilityError, match="hidden_size 768 is not divisible by num_attention_heads 5"):
        model.at(A=5)
    rounded = ps.from_config({"model_type": "vit_msn", "hidden_size": 100, "num_attention_heads": 12})
    assert rounded.shapes()["layers.0.attention.q_proj.weight"] == (96, 100)
    assert "floor(H/A)" in str(rounded.formula)


@pytest.mark.parametrize(
    ("model_type", "letter", "tensors", "width"),
    [
        ("led", "A", "7 of 55", "H/A"),
        ("led", "A_d", "14 of 55", "H/A_d"),
        ("gpt_neox_japanese", "A", "4 of 20", "H/A"),
        ("detr", "A", "7 of 100", "H/A"),
        ("deberta", "A", "4 of ", "H/A"),
        ("ctrl", "A", "7 of ", "H/A"),
    ],
)
def test_heads_cancel_as_in_a_family(model_type: str, letter: str, tensors: str, width: str) -> None:
    """A recorded type says why its heads cancel, as BERT does."""
    assert "always as A slices of width H/A" in ps.explain(ps.load("bert"), "A").verdict
    why = ps.explain(ps.load(model_type), letter)
    assert why.cancels
    assert f"{tensors}" in why.verdict
    assert f"always as {letter} slices of width {width}" in why.verdict


def test_groups_that_are_not_given_are_the_heads() -> None:
    """OLMo 3 has as many key/value heads as heads if no number is given, so that heads cancel: four matrices of H*H and two norms of H."""
    model = ps.load("olmo3")
    assert model.formula == 4 * L * H**2 + 3 * F * H * L + 4 * H * L + H * V + H
    assert "cancels from the count" in str(ps.explain(model, A))
    sizes = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}
    other = ps.from_config({"model_type": "olmo3", **sizes})
    letters, numbers = other.origin
    assert letters.at({**numbers, A: 8}).shapes() == ps.from_config({"model_type": "olmo3", **sizes, "num_attention_heads": 8}).shapes()
    grouped = ps.from_config({"model_type": "olmo3", **sizes, "num_key_value_heads": 2})
    assert "G changes the count" in str(ps.explain(grouped, G)).replace(" (number of key/value heads (query groups))", "")
    assert other.count - grouped.count == 2 * 2 * (64 * 64 - 64 * 32) + 2 * (64 - 32)

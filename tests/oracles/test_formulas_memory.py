"""Published formulas of memory: equal in letters and at the recorded sizes; a disputed formula differs by a known term."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from formulas import formula
from recorded import document
from sympy import Expr, Integer, Symbol, cancel

import paramsym as ps
from paramsym import A, B, D, F, H, S

ENTRIES: dict[str, dict[str, Any]] = {entry["id"]: entry for entry in document("formulas")}
T = ps.dims("t")
LETTERS = {"a": A, "b": B, "f": F, "h": H, "s": S, "t": T}


def block(width: Any = 4 * H) -> ps.Layer:
    """The block of Korthikanti et al. 2022, figure 2."""
    attention = ps.Sequential(ps.LayerNorm(H), ps.MultiHeadAttention(H, A, dropout=0.1, batch_first=True), ps.Dropout(0.1))
    network = ps.Sequential(ps.LayerNorm(H), ps.Dense(H, width), ps.GELU(), ps.Dense(width, H), ps.Dropout(0.1))
    return ps.Sequential(ps.Residual(attention), ps.Residual(network))


def kept(layer: ps.Layer, **how: Any) -> Expr:
    """Return the bytes that a block in a stack keeps by the paper's convention, its input included."""
    total = ps.activations(ps.Repeat(layer, ps.L), (B, S, H), convention="korthikanti", input_gradients=True, **how).total
    return total.coeff(ps.L)


def holds(name: str, found: Expr) -> None:
    """Check that an expression is a recorded formula, and gives each of its values, rounded as they are."""
    entry = ENTRIES[name]
    letters = {key: LETTERS[key] for key in entry["legend"]}
    assert cancel(found - formula(entry["formula"], letters)) == 0
    for value in entry["values"]:
        exact = found.subs({letters[key]: Integer(number) for key, number in value["config"].items()})
        number = Fraction(str(exact)) / Fraction(str(value.get("unit", 1)))
        assert round(number, value.get("digits", 0)) == Fraction(str(value["published"]))


def test_korthikanti_5as_over_h() -> None:
    """The bytes of a block that selective recomputation saves, divided by s*b*h."""
    holds("korthikanti-5as-over-h", (kept(block()) - kept(block(), recompute="selective")) / (S * B * H))


def test_korthikanti_selective_saving() -> None:
    """The same as a share of the whole: 70 % for GPT-3, 65 % for MT-NLG."""
    whole = kept(block())
    holds("korthikanti-selective-saving", cancel(1 - kept(block(), recompute="selective") / whole))


def test_korthikanti_tp_sp() -> None:
    """A block split over t devices, along the positions too."""
    holds("korthikanti-tp-sp", kept(block(), tensor=T, sequence=True))


def test_megatron_act_general() -> None:
    """A block with any feed-forward width, split over devices, with selective recomputation."""
    holds("megatron-act-general", kept(block(F), tensor=T, sequence=True, recompute="selective"))


def test_disputed_bytes_per_param() -> None:
    """16 bytes with gradients in 16 bits, 18 with gradients in 32: the weight, its gradient, and 12 of Adam and the copy in float32."""
    entry = ENTRIES["disputed-bytes-per-param"]
    layer = ps.Dense(H, F)

    def states(**how: Any) -> Expr:
        return cancel((ps.memory(layer, (B, H), dtype="bfloat16", optimizer="adam", **how).total - kept_by) / layer.params)

    kept_by = ps.activations(layer, (B, H), dtype="bfloat16").total
    g = Symbol("g")
    both = [formula(entry["formula"], {"g": Integer(one["g"])}) for one in (*entry["claimed_config"], *entry["config"])]
    assert both == [states(), states(gradients="float32")] == [*entry["claimed"], *entry["correct"]]
    found = ps.reconcile(ps.memory(layer, (B, H), dtype="bfloat16", optimizer="adam"), 18 * layer.params + kept_by)
    assert any("gradients" in reading.words for one in found for reading in one.readings)
    assert formula(entry["formula"], {"g": g}).coeff(g) == 1


def test_fff_active_fraction() -> None:
    """A token uses D + 1 of the 2**(D + 1) - 1 neurons of a tree: 0.3 % of 4095."""
    tree = ps.FastFeedForward(H, H, D)
    entry = ENTRIES["fff-active-fraction"]
    exact = formula(entry["formula"], {"D": D})
    assert cancel(tree.active / tree.params - exact) == 0
    for value in entry["values"]:
        sized = tree.at(D=value["config"]["D"])
        share = Fraction(str(cancel(sized.active / sized.params)))
        assert share == Fraction(str(exact.subs(D, value["config"]["D"])))
        assert round(share / Fraction(str(value["unit"])), value["digits"]) == Fraction(str(value["published"]))


def test_every_formula_of_memory_is_here() -> None:
    """Every recorded formula of memory has a test."""
    mine = {one["id"] for one in ENTRIES.values() if one["quantity"] == "activation_bytes"}
    tested = {name.removeprefix("test_").replace("_", "-") for name in globals() if name.startswith("test_")}
    of_families = {"conv-net-activations-vgg", "disputed-cs231n-vgg-memory"}  # test_formulas_families.py
    assert mine - of_families <= tested

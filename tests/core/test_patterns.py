"""Edits of many parts at once: patterns, lists of names, and functions of what is there."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import paramsym as ps
from paramsym import F, H, L, dims
from paramsym.errors import ArgumentError, UnknownNameError

i = dims("i")
block = ps.Block(q_proj=ps.Dense(H, H), v_proj=ps.Dense(H, F), norm=ps.LayerNorm(H))
model = ps.Block(layers=ps.Repeat(block, L), head=ps.Dense(H, 3))


def adapted(old: ps.Layer) -> ps.Layer:
    """Put factors of rank 8 beside a layer."""
    return ps.LoRA(old, 8)


def test_peft_prints_these_numbers() -> None:
    """PEFT's documentation prints for Llama-2-7B, r=8 on q_proj and v_proj: trainable params 4,194,304, all params 6,742,609,920."""
    llama = ps.load("meta-llama/Llama-2-7b-hf").freeze().replace(["q_proj", "v_proj"], adapted)
    assert (llama.trainable, llama.count) == (4_194_304, 6_742_609_920)


def test_sizes_arrive_after_the_edit() -> None:
    """An edit of all copies stays one when their number is put in."""
    llama = ps.models.Llama(architecture="LlamaForCausalLM").freeze().replace(["q_proj", "v_proj"], adapted)
    assert llama.at("meta-llama/Llama-2-7b-hf").trainable == 4_194_304


@pytest.mark.parametrize(
    ("path", "added"),
    [
        ("*.q_proj", 16 * H * L),
        ("layers.*.q_proj", 16 * H * L),
        ("layers.{}.q_proj", 16 * H * L),
        ("*_proj", 16 * H * L + 8 * (H + F) * L),
        (["q_proj"], 16 * H * L),
        (("q_proj", "v_proj"), 16 * H * L + 8 * (H + F) * L),
        (["*_proj", "head"], 16 * H * L + 8 * (H + F) * L + 8 * (H + 3)),
        (["layers.{}.q_proj"], 16 * H * L),
        ("layers.2.q_proj", 16 * H),
    ],
)
def test_what_a_pattern_means(path: str | Sequence[str], added: object) -> None:
    """``*`` spans dots; a name in a list is the end of a path."""
    assert (model.freeze().replace(path, adapted).trainable - added).expand() == 0


def test_copies_by_number() -> None:
    """A number in a pattern is a copy's own, where the number of copies is known."""
    sized = model.at(H=4, F=8, L=12).freeze()
    assert sized.replace("*.0.q_proj", adapted).trainable == 8 * (4 + 4)
    assert sized.replace(["1.q_proj", "11.v_proj"], adapted).trainable == 8 * (4 + 4) + 8 * (4 + 8)


def test_copies_that_differ() -> None:
    """Runs of one numbering keep what was made of each; widths that grow keep their index."""
    runs = ps.Runs((ps.Dense(H, F), 2), (ps.Dense(H, H), L), name="blk.{}.fc")
    assert runs.freeze().replace("blk.*", adapted).trainable == (2 * 8 * (H + F) + L * 16 * H).expand()
    growing = ps.Repeat(ps.Dense(H + i * F, F), 4, index=i, name="blk.{}.fc").freeze()
    assert growing.replace("blk.*", adapted).trainable == (8 * (4 * H + 6 * F + 4 * F)).expand()


def test_outermost_parts_only() -> None:
    """What is inside a part that is replaced is gone."""
    assert model.replace("*", ps.Dense(1, 1)).count == 2 * 2
    assert model.replace("layers*", ps.Dense(1, 1)).params == 2 + 3 * H + 3


def test_the_old_part_is_what_part_gives() -> None:
    """The function sees the layer as it is there, frozen where it is frozen."""
    seen: list[ps.Layer] = []
    model.replace("head", lambda old: seen.append(old) or old)  # type: ignore[func-returns-value]
    model.freeze("head").replace("head", lambda old: seen.append(old) or old)  # type: ignore[func-returns-value]
    assert seen == [ps.Dense(H, 3), ps.Dense(H, 3).freeze()]


def test_no_copies() -> None:
    """Copies that do not exist are in no pattern."""
    none = ps.Block(layers=ps.Repeat(block, 0), head=ps.Dense(H, 3))
    with pytest.raises(UnknownNameError, match=r"Block has no part that fits '\*\.q_proj'; its parts are layers, head\."):
        none.replace("*.q_proj", adapted)


def test_freezing_many() -> None:
    """``freeze`` reads patterns likewise."""
    assert model.freeze("*_proj").trainable == 2 * H * L + 3 * H + 3
    assert model.freeze(["norm", "head"]).trainable == ((H**2 + H + H * F + F) * L).expand()
    assert model.freeze("*").trainable == 0


def test_a_function_for_one_path() -> None:
    """One path takes a function, too, and the whole layer has the empty path."""
    assert model.replace("head", lambda _: ps.Dense(H, 1)).params == model.params - 2 * H - 2
    assert ps.Dense(H, H).replace("", adapted).params == H**2 + 17 * H


def test_refusals() -> None:
    """What fits nothing, is no path or no layer is said."""
    with pytest.raises(UnknownNameError, match=r"Block has no part that fits 'k_proj'; its parts are layers\.\{\}\.q_proj"):
        model.freeze().replace(["q_proj", "k_proj"], adapted)
    with pytest.raises(UnknownNameError, match=r"Block has no part that fits 'zzz'; its parts are layers\.\{\}\.\w+, .*layers"):
        model.freeze(["zzz"])
    with pytest.raises(UnknownNameError, match=r"Dense has no part that fits '\*'; its parts are none\."):
        ps.Dense(H, H).freeze("*")
    for change in (model.freeze, lambda path: model.freeze().replace(path, adapted)):
        with pytest.raises(
            UnknownNameError, match=r"^Block has no part 'q_proj'; a list means .*: \['q_proj'\] is layers\.\{\}\.q_proj\.$"
        ):
            change("q_proj")
    for path in ([], [3], [""]):
        with pytest.raises(ArgumentError, match=r"takes a dotted path, such as .*, or a list of names"):
            model.freeze(path)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="layer is 5"):
        model.replace("*.q_proj", lambda _: 5)  # type: ignore[arg-type, return-value]
    with pytest.raises(ArgumentError, match="takes a dotted path"):
        model.replace(3, adapted)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="takes a dotted path"):
        model.freeze(3)  # type: ignore[arg-type]

"""From a layer to a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sympy import expand

import paramsym as ps
from paramsym import F, H, L, V, cat
from paramsym.present.tabulate import formula_latex

PUBLISHED = Path(__file__).parents[1] / "oracles" / "published_configs.json"
model = ps.Block(
    embed=ps.Embedding(V, H),
    blocks=ps.Repeat(ps.Block(up=ps.Dense(H, F), down=ps.Dense(F, H)), L),
    head=ps.Dense(H, V, bias=False),
)


def test_one_row_per_tensor() -> None:
    """Numbered copies stand once, with their number beside them; the rows add up to the total."""
    table = model.table()
    assert table.columns == ("tensor", "shape", "copies", "parameters")
    assert table.rows[1] == ("blocks.{0..L-1}.up.weight", (F, H), L, F * H * L)
    assert table.footer == ("total", None, None, model.params)
    assert expand(sum(row[3] for row in table.rows)) == model.params
    assert "2*L*F*H + L*F + L*H + 2*V*H" in table.caption


def test_columns_without_content_are_left_out() -> None:
    """No copies, no notes: no columns for them."""
    assert ps.Dense(H, F).table().columns == ("tensor", "shape", "parameters")
    assert "note" in ps.Dense(H, F).freeze().table().columns


def test_notes_say_what_counts_differently() -> None:
    """An alias adds nothing and says whose tensor it is; buffers and frozen tensors are marked."""
    tied = ps.Tied(model, {"head.weight": "embed.weight"})
    table = tied.table()
    assert table.rows[-1] == ("head.weight", (V, H), None, None, "= embed.weight")
    assert {row[-1] for row in model.freeze("embed").table().rows} == {"frozen", ""}
    norm = ps.BatchNorm1d(H)
    assert {row[-1] for row in norm.table(buffers=True).rows} == {"", "buffer"}
    assert len(norm.table().rows) < len(norm.table(buffers=True).rows)


def test_segments_have_rows() -> None:
    """A fused tensor shows its parts."""
    rows = ps.Dense(H, (cat(query=H, key=F),)).table().rows
    assert [row[0] for row in rows[:2]] == ["weight [query]", "weight [key]"]
    assert [row[1] for row in rows[:2]] == [(H, H), (F, H)]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_parts_to_a_depth(depth: int) -> None:
    """The rows of any depth add up to the same total; numbers come with their share."""
    symbolic, sized = model.table(depth), model.at(V=100, H=8, F=32, L=2).table(depth)
    assert expand(sum(row[1] for row in symbolic.rows)) == model.params == symbolic.footer[1]
    assert sized.columns == ("part", "parameters", "share")
    assert sum(row[1] for row in sized.rows) == sized.footer[1]
    assert sum(float(row[2].removesuffix(" %")) for row in sized.rows) == pytest.approx(100, abs=0.3)
    assert symbolic.rows[0][0] == ("embed" if depth == 1 else "embed.weight")


def test_nothing_to_show() -> None:
    """A layer without tensors has a table without rows, in every format."""
    table = ps.Sequential().table()
    assert table.rows == ()
    assert table.footer[-1] == 0
    assert all((table.to_text(), table.to_markdown(), table.to_latex(), table.to_html(), table.to_csv()))
    assert ps.Sequential().table(1).footer[1] == 0
    assert ps.Repeat(ps.Dense(2, 2), 0).table().rows == ()


def test_formulas_in_the_shared_letters() -> None:
    """The letters as their papers write them, highest degree first."""
    assert formula_latex(model.params) == r"2 L F H + L F + L H + 2 V H"
    assert formula_latex(0) == "0"


def test_numbered_parts_are_named_by_their_kind() -> None:
    """A number says nothing of what a layer is; parts with names have no such column."""
    net = ps.Sequential(ps.Conv2d(1, 6, 5), ps.ReLU(), ps.Dense(6, 10))
    assert net.table(1).columns == ("part", "layer", "parameters", "share")
    assert [row[:3] for row in net.table(1).rows] == [("0", "Conv2d", 156), ("2", "Dense", 70)]
    assert "layer" not in ps.models.Bert().table(1).columns


def test_a_repeated_pattern_of_layers_is_shown_once() -> None:
    """Gemma 4 26B-A4B: 30 layers, of which every sixth attends to everything, with 16 heads of 512 instead of 256, and without values.

    The configuration is the published one (``layer_types``), the count that of the reference's own module.
    """
    config = json.loads(PUBLISHED.read_text(encoding="utf-8"))["gemma4_26b_text"]
    model = ps.from_config(config)
    table = model.table()
    rows = {row[0]: row for row in table.rows}
    window, whole = "layers.{0..4,6..10,...,24..28}", "layers.{5,11..29}"
    assert {name.partition(".self_attn")[0].removeprefix("model.") for name in map(str, rows) if "q_proj" in name} == {window, whole}
    assert rows[f"model.{window}.self_attn.q_proj.weight"][1:4] == ((4096, 2816), 25, 25 * 4096 * 2816)
    assert rows[f"model.{whole}.self_attn.q_proj.weight"][1:4] == ((8192, 2816), 5, 5 * 8192 * 2816)
    assert f"model.{whole}.self_attn.v_proj.weight" not in rows
    assert len(rows) == len(table.rows) < 50
    assert sum(row[3] or 0 for row in table.rows) == table.footer[3] == model.count
    assert sum(row[-2] for row in model.table(2).rows) == model.count
    assert len(ps.flops(ps.load("smollm3", "SmolLM3ForCausalLM").at(L=36)).table().rows) == 10


def test_long_runs_of_copies_keep_their_names() -> None:
    """A million layers are shown as fast as twelve; their numbers are never listed."""
    one, other = ps.Dense(H, H, bias=False), ps.Dense(H, F, bias=False)
    short = ps.Runs((one, 2), (other, 1), (one, 3), (other, 1), start=1, name="h{}")
    assert [row[0] for row in short.table().rows] == ["h{1..2,4..6}.weight", "h{3,7}.weight"]
    assert [row[1] for row in short.table(1).rows] == [5 * H**2, 2 * F * H]
    long = ps.Runs((one, 10**9), (other, 1), (one, 10**9))
    assert [row[2] for row in long.table().rows] == [10**9, None, 10**9]

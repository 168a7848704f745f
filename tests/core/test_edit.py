"""Replacing and freezing parts by path, also one copy of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from sympy import expand

import paramsym as ps
from paramsym import F, H, L, V, dims
from paramsym.errors import ArgumentError, StructureError, UnknownNameError
from paramsym.present.tabulate import overview

i, n = dims("i n")
dense, thin = ps.Dense(H, H), ps.Dense(H, 1, bias=False)
block = ps.Block(up=ps.Dense(H, F), down=ps.Dense(F, H))
model = ps.Block(embed=ps.Embedding(V, H), blocks=ps.Repeat(block, L))


class TestReplace:
    """One part exchanged; everything else stays."""

    def test_everywhere_and_in_one_copy(self) -> None:
        """``{}`` means every copy, a number one of them."""
        assert model.replace("embed", thin).params == expand(model.params - V * H + H)
        assert model.replace("blocks.{}.up", thin).params == expand(model.params - L * (F * H + F) + L * H)
        assert model.replace("blocks.{0..L-1}.up", thin) != model
        one = model.replace("blocks.3.up", thin)
        assert one.params == expand(model.params - (F * H + F) + H)
        sized = one.at(L=5, F=7, H=3, V=11)
        assert list(sized.shapes())[1:4] == ["blocks.0.up.weight", "blocks.0.up.bias", "blocks.0.down.weight"]
        assert sized.shapes()["blocks.3.up.weight"] == (1, 3)
        assert "blocks.3.up.bias" not in sized.shapes()
        assert sized.part("blocks.3.up") == ps.Dense(3, 1, bias=False)
        assert sized.part("blocks.4.up") == ps.Dense(3, 7)

    def test_names_of_a_split_symbolic_repeat(self) -> None:
        """The copies before and after keep their numbers."""
        assert list(ps.Repeat(thin, L).replace("2", dense).shapes()) == ["{0..1}.weight", "2.weight", "2.bias", "{3..L-1}.weight"]
        assert list(ps.Repeat(thin, L).replace("0", dense).shapes()) == ["0.weight", "0.bias", "{1..L-1}.weight"]
        assert list(ps.Repeat(thin, 2).replace("1", dense).shapes()) == ["0.weight", "1.weight", "1.bias"]

    def test_twice(self) -> None:
        """Edits can be edited."""
        twice = ps.Repeat(thin, L).replace("2", dense).replace("5", dense).replace("2", thin)
        assert twice.params == expand(L * H + H**2)
        assert [name for name in twice.at(L=6, H=2).shapes() if name.endswith("bias")] == ["5.bias"]

    def test_a_copy_that_must_exist(self) -> None:
        """Editing number 3 needs four copies, now or when the number arrives."""
        edited = ps.Repeat(thin, L).replace("3", dense)
        assert edited.at(L=4, H=2).count == 3 * 2 + 6
        with pytest.raises(UnknownNameError, match=r"no part '3'; it has \{0\.\.2\}"):
            edited.at(L=3, H=2)
        with pytest.raises(UnknownNameError, match=r"no part '4'; it has \{0\.\.2\}, 3\."):
            edited.at(L=4).part("4")
        with pytest.raises(UnknownNameError):
            ps.Repeat(thin, 3).replace("3", dense)

    def test_alternating_copies(self) -> None:
        """The edited copy leaves its own kind; the order of names stays that of the numbers."""
        layer = ps.Repeat((thin, dense), 5).replace("2", ps.Dense(H, 3)).at(H=2)
        assert [shape for name, shape in layer.shapes().items() if name.endswith("weight")] == [(1, 2), (2, 2), (3, 2), (2, 2), (1, 2)]
        assert next(iter(layer.shapes())) == "0.weight"

    def test_copies_that_depend_on_their_number(self) -> None:
        """The edited copy takes its own number for the index."""
        layer = ps.Repeat(ps.Block(x=ps.Dense(H + i, 1, bias=False), y=thin), n, index=i)
        edited = layer.replace("2.y", dense)
        assert edited.part("2.x") == ps.Dense(H + 2, 1, bias=False)
        assert edited.params == expand(layer.params - H + H**2 + H)
        assert edited.at(n=4, H=5).shapes()["3.x.weight"] == (1, 8)
        assert layer.part("2.x") == ps.Dense(H + 2, 1, bias=False)

    def test_the_whole(self) -> None:
        """An empty path is the layer itself."""
        assert model.replace("", dense) == dense

    def test_through_unnamed_parts(self) -> None:
        """A residual's body stands on its own level, and is found there."""
        layer = ps.Residual(block, thin)
        assert layer.replace("up", thin).params == expand(layer.params - (F * H + F) + H)
        assert layer.replace("shortcut", dense).params == expand(layer.params - H + H**2 + H)

    @pytest.mark.parametrize("path", ["nothing", "blocks.0.sideways", "embed.weight", "blocks.x.up"])
    def test_what_is_not_there(self, path: str) -> None:
        """The error lists what is."""
        with pytest.raises(UnknownNameError, match="has no part"):
            model.replace(path, dense)

    def test_copies_used_by_number_cannot_differ(self) -> None:
        """K of n experts are alike; a symbolic start has no number yet."""
        with pytest.raises(StructureError, match="cannot differ"):
            _ = ps.Repeat(dense, 8, used=2).replace("3", thin).params
        with pytest.raises(StructureError, match="start at a symbol"):
            _ = ps.Repeat(dense, 8, start=n).replace("3", thin).params

    def test_ties_that_end_inside_are_undone(self) -> None:
        """As in the reference framework, where a new module brings its own weight."""
        tied = ps.Tied(ps.Block(wte=ps.Embedding(V, H), head=ps.Dense(H, V, bias=False)), {"head.weight": "wte.weight"})
        new = tied.replace("head", ps.Dense(H, V, bias=False))
        assert new.tied == {}
        assert new.params == 2 * H * V
        copies = ps.Tied(
            ps.Block(pos=ps.Embedding(V, H), blocks=ps.Repeat(ps.Block(pos=ps.Embedding(V, H)), L)), {"blocks.{}.pos.weight": "pos.weight"}
        )
        assert copies.replace("blocks.1.pos", ps.Embedding(V, F)).params == H * V + F * V
        assert copies.replace("blocks.{}.pos", ps.Embedding(V, F)).params == expand(H * V + L * F * V)

    def test_sizes_go_through_an_edit(self) -> None:
        """An edit is a layer like any other: repr, symbols, published sizes of the layer inside."""
        edited = model.replace("embed", thin)
        assert eval(repr(edited), {name: getattr(ps, name) for name in dir(ps) if name[0].isupper()}) == edited
        assert edited.symbols == model.symbols
        assert edited.at({V: 5}).at(H=3, F=2, L=1).count == 3 + 3 * 2 + 2 + 2 * 3 + 3
        assert edited.published == model.published


class TestFreeze:
    """Stored as before, trained no more."""

    @pytest.mark.parametrize(
        ("path", "frozen"),
        [
            ("embed", V * H),
            ("embed.weight", V * H),
            ("blocks", L * (2 * F * H + F + H)),
            ("blocks.{}.up", L * (F * H + F)),
            ("blocks.{}.up.bias", L * F),
            ("blocks.2", 2 * F * H + F + H),
            ("blocks.2.down.weight", F * H),
            ("", V * H + L * (2 * F * H + F + H)),
        ],
    )
    def test_by_path(self, path: str, frozen: object) -> None:
        """A part, a tensor, one copy, or everything."""
        layer = model.freeze(path)
        assert layer.params == model.params
        assert layer.trainable == expand(model.params - frozen)
        assert list(layer.at(L=4).shapes()) == list(model.at(L=4).shapes())

    def test_own_tensors(self) -> None:
        """A tensor that stands on the layer itself."""
        assert dense.freeze("bias").trainable == H**2
        assert ps.Residual(dense).freeze("weight").trainable == H

    def test_numbers_inside_names(self) -> None:
        """One tensor of a recurrent layer is frozen by torch's own name for it, or that of every layer at once."""
        lstm = ps.LSTM(3, 5, num_layers=3)
        frozen = lstm.freeze("weight_hh_l1")
        assert [entry.name for entry in frozen.entries() if not entry.tensor.trainable] == ["weight_hh_l1"]
        assert frozen.shapes() == lstm.shapes()
        every = lstm.freeze("weight_hh_l1").freeze("bias_ih_l0")
        assert lstm.params - every.trainable == 4 * 5 * 5 + 4 * 5
        with pytest.raises(UnknownNameError):
            lstm.freeze("weight_hh_l3")

    def test_frozen_and_replaced(self) -> None:
        """LoRA's arithmetic: freeze everything, then put something trainable in."""
        layer = model.freeze().replace("embed", dense)
        assert layer.params == expand(model.params - V * H + H**2 + H)
        assert [entry.name for entry in layer.at(L=1).entries() if entry.tensor.trainable] == ["embed.weight", "embed.bias"]

    def test_frozen_ties(self) -> None:
        """Freezing keeps ties."""
        tied = ps.Tied(ps.Block(wte=ps.Embedding(V, H), head=ps.Dense(H, V, bias=False)), {"head.weight": "wte.weight"})
        assert tied.freeze("wte").tied == tied.tied
        assert tied.freeze("wte").trainable == 0

    @pytest.mark.parametrize("path", ["embed.bias", "nothing", "blocks.0.up.gain", "blocks.0.sideways.weight"])
    def test_what_is_not_there(self, path: str) -> None:
        """A tensor that does not exist is refused like a part."""
        with pytest.raises(UnknownNameError):
            model.freeze(path)

    def test_what_is_no_path(self) -> None:
        """A path is a string."""
        with pytest.raises(ArgumentError, match="takes a dotted path"):
            model.freeze(3)  # type: ignore[arg-type]

    @pytest.mark.parametrize("path", [None, [], {}, 3, V > H], ids=str)
    def test_what_is_no_path_to_replace(self, path: Any) -> None:
        """Nothing stands there, and what would replace it is a layer."""
        with pytest.raises(ArgumentError, match="takes a dotted path"):
            model.replace(path, thin)
        with pytest.raises(ArgumentError):
            model.replace("", path)


class TestTies:
    """A tie is a property of the tensor: an edit under one of its names holds under all of them."""

    three = ps.Block(a=ps.Embedding(V, H), b=ps.Embedding(V, H), c=ps.Embedding(V, H))
    ties: ClassVar = [
        {"b.weight": "a.weight", "c.weight": "a.weight"},
        {"b.weight": "a.weight", "c.weight": "b.weight"},
        {"a.weight": "c.weight", "b.weight": "c.weight"},
    ]

    @pytest.mark.parametrize("pairs", ties)
    def test_however_the_tie_is_written(self, pairs: dict[str, str]) -> None:
        """Freezing the second name freezes the tensor; replacing the first leaves the others tied."""
        tied = ps.Tied(self.three, pairs)
        assert all(tied.freeze(name).trainable == 0 for name in ("a", "b", "c", "c.weight"))
        replaced = tied.replace("a", ps.Embedding(V, F))
        assert replaced.tied == {"c.weight": "b.weight"}
        assert replaced.params == V * F + V * H
        assert tied.freeze("a").replace("a", ps.Embedding(V, F)).trainable == V * F
        assert tied.replace("b", ps.Embedding(V, F)).tied == {"c.weight": "a.weight"}

    def test_ties_at_two_levels(self) -> None:
        """A name inside a tied part connects what is tied outside it."""
        pair = ps.Tied(ps.Block(x=dense, y=dense), {"y.weight": "x.weight"})
        tied = ps.Tied(ps.Block(pair=pair, z=dense), {"z.weight": "pair.x.weight"})
        assert tied.replace("pair.x", thin).tied == {"z.weight": "pair.y.weight"}
        assert tied.freeze("z").part("pair").trainable == 2 * H

    def test_a_table_that_every_copy_shares(self) -> None:
        """Without its name outside, the first copy's is the first."""
        copies = ps.Block(table=ps.Embedding(V, H), blocks=ps.Repeat(ps.Block(table=ps.Embedding(V, H), up=thin), L))
        tied = ps.Tied(copies, {"blocks.{}.table.weight": "table.weight"})
        replaced = tied.freeze("blocks.1.table").replace("table", ps.Embedding(V, F))
        assert replaced.params == V * F + V * H + L * H
        assert replaced.trainable == V * F + L * H
        assert replaced.at(L=3).tied == {"blocks.1.table.weight": "blocks.0.table.weight", "blocks.2.table.weight": "blocks.0.table.weight"}
        assert tied.replace("table", ps.Embedding(V, F)).at(L=1).tied == {}

    def test_copies_tied_to_copies(self) -> None:
        """One copy that differs takes its partner out of the row, and no other."""
        tied = ps.Tied(ps.Block(a=ps.Repeat(dense, L), b=ps.Repeat(dense, L)), {"b.{}.weight": "a.{}.weight"})
        assert tied.replace("a.3", thin).at(L=5).tied == {f"b.{k}.weight": f"a.{k}.weight" for k in (0, 1, 2, 4)}
        assert tied.freeze("b.3").trainable == expand((L - 1) * H**2 + 2 * L * H - H)

    @pytest.mark.parametrize(
        ("model", "edit", "counts"),
        [
            (ps.models.Gpt2(architecture="GPT2LMHeadModel"), lambda it: it.freeze("lm_head"), (124439808, 85842432)),
            (ps.models.Bert(architecture="BertForMaskedLM"), lambda it: it.freeze("cls"), (109514298, 85450752)),
        ],
    )
    def test_heads_of_published_models(self, model: ps.Layer, edit: Callable[[ps.Layer], ps.Layer], counts: tuple[int, int]) -> None:
        """Stored and trained, as transformers 5.23 and torch 2.13 count them."""
        sized = edit(model.at("gpt2" if isinstance(model, ps.models.Gpt2) else "bert-base-uncased"))
        assert (sized.count, sized.trainable) == counts

    @pytest.mark.parametrize(
        ("model", "path", "left"),
        [
            (ps.models.Bart(architecture="BartForConditionalGeneration"), "model.shared", ("model.encoder", "model.decoder", "lm_head")),
            (ps.models.T5(architecture="T5ForConditionalGeneration"), "shared", ("encoder", "decoder", "lm_head")),
        ],
    )
    def test_shared_tables_of_published_models(self, model: ps.Layer, path: str, left: tuple[str, ...]) -> None:
        """Both stacks and the output keep one table, as in the reference where an attribute is set."""
        first, *others = (f"{name}.weight" if name == "lm_head" else f"{name}.embed_tokens.weight" for name in left)
        assert model.replace(path, thin).tied == dict.fromkeys(others, first)
        assert model.freeze("lm_head").replace(path, thin).trainable == expand(model.freeze(path).trainable + H)

    def test_a_repr_is_the_calls(self) -> None:
        """Every name in it is the library's."""
        edited = model.freeze("blocks.2").replace("embed", thin).freeze()
        assert repr(edited) == f"{model!r}.freeze('blocks.2').replace('embed', {thin!r}).freeze()"
        assert eval(repr(edited), {**vars(ps)}) == edited

    def test_many_ties_take_linear_time(self) -> None:
        """Every name is looked at once."""
        layers = ps.Sequential(*[ps.Dense(2, 2, bias=False)] * 3000)
        tied = ps.Tied(layers, {f"{number}.weight": f"{number + 1}.weight" for number in range(2999)})
        assert len(tied.tied) == 2999
        assert ps.match(tied, tied.shapes()).ok


EDITS: dict[str, Callable[[ps.Layer], ps.Layer]] = {
    "freeze": lambda layer: layer.freeze("weight_ih_l0"),
    "tie": lambda layer: ps.Tied(layer, {"bias_hh_l0": "bias_ih_l0"}),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_one_copy_split_off_from_one_leaves_none(edit: Callable[[ps.Layer], ps.Layer]) -> None:
    """Torch's first level is one copy of one: what is left of it, {1..0}, is not a tensor and no row; torch names l0 and from l1 on."""
    torch = pytest.importorskip("torch")
    plain = ps.RNN(*dims("i h n"))
    changed = edit(plain)
    left = [name for name in plain.shapes() if name not in changed.tied]
    assert list(changed.shapes()) == left
    assert not any("..0}" in name for name in left)
    for levels in (1, 3):
        sized = changed.at(i=2, h=3, n=levels)
        stored = {name: tuple(one.shape) for name, one in torch.nn.RNN(2, 3, levels).named_parameters()}
        assert sized.shapes() == {name: shape for name, shape in stored.items() if name not in changed.tied}
        rows = [row[0] for row in overview(sized).rows]
        assert rows == list(plain.shapes())


def test_a_frozen_tree_still_takes_one_path_for_each_token() -> None:
    """Belcak and Wattenhofer 2023: a token uses one leaf of the tree, frozen or not."""
    tree = ps.FastFeedForward(4, 4, 2)
    assert tree.per_token is tree.freeze().per_token is True

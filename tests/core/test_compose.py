"""Composition: sequences, blocks, residuals, repeats, runs, sharing and ties, and all of them inside each other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import sympy
from hypothesis import given, settings, strategies as st
from sympy import Rational, Symbol, ceiling, expand, symbols

import paramsym as ps
from paramsym import F, H, L, V, dims
from paramsym.algebra.polynomial import Polynomial
from paramsym.errors import ArgumentError, ParamsymError, ShapeError, SizeError, StructureError, UnknownNameError

i, g, k, n, q = dims("i g k n q")
dense = ps.Dense(H, H)


def written(layer: ps.Layer) -> int:
    """Count what stands in the written-out tensors, one by one."""
    return sum(int(sympy.prod(shape)) for shape in layer.shapes().values())


class TestSequentialAndBlock:
    """Layers under names."""

    def test_names(self) -> None:
        """Numbers, mapping keys, keywords; values stay in order."""
        up, down = ps.Dense(H, F), ps.Dense(F, H)
        assert list(ps.Sequential(up, down).shapes()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
        assert list(ps.Sequential({"up": up, "down": down}).shapes())[::2] == ["up.weight", "down.weight"]
        assert ps.Block(up=up, down=down).shapes() == ps.Sequential({"up": up, "down": down}).shapes()
        assert ps.Block({"a.b": up}, down=down).part("a.b") == up
        assert ps.Sequential().params == 0

    def test_reprs(self) -> None:
        """Short where the names allow it."""
        assert repr(ps.Sequential(ps.Dense(1, 2))) == "Sequential(Dense(1, 2))"
        assert repr(ps.Sequential({"a": ps.Dense(1, 2)})) == "Sequential({'a': Dense(1, 2)})"
        assert repr(ps.Block(a=ps.Dense(1, 2))) == "Block(a=Dense(1, 2))"
        assert repr(ps.Block({"0": ps.Dense(1, 2)})) == "Block({'0': Dense(1, 2)})"
        for layer in (ps.Sequential({"0": dense}), ps.Block({"a b": dense}), ps.Block(), ps.Sequential()):
            assert eval(repr(layer), {name: getattr(ps, name) for name in ("Sequential", "Block", "Dense", "H")}) == layer

    @pytest.mark.parametrize(
        ("build", "words"),
        [
            (lambda: ps.Sequential(dense, 3), "Sequential: '1' is 3"),
            (lambda: ps.Sequential({"": dense}), "'' is not a name"),
            (lambda: ps.Sequential({1: dense}), "1 is not a name"),
            (lambda: ps.Block(a=None), "Block: 'a' is None"),
            (lambda: ps.Sequential([dense]), r"not a layer. Write Sequential\(\*layers\)"),
            (lambda: ps.Block(dense), r"Block: Dense\(.*\) \(Dense\) has no name; write Block\(name=layer\)"),
        ],
    )
    def test_what_is_no_layer_or_no_name(self, build: object, words: str) -> None:
        """The error names the place."""
        with pytest.raises(ArgumentError, match=words):
            build()  # type: ignore[operator]

    def test_an_identical_name_inside_is_fine(self) -> None:
        """Names are compared on one level only."""
        assert ps.Block(a=ps.Block(a=dense)).params == dense.params


class TestResidual:
    """``x + body(x)``."""

    def test_names_and_counts(self) -> None:
        """The body on the residual's own level, the shortcut under its name."""
        block = ps.Residual(ps.Block(conv=dense), ps.Dense(H, H, bias=False), shortcut_name="downsample")
        assert list(block.shapes()) == ["conv.weight", "conv.bias", "downsample.weight"]
        assert list(ps.Residual(dense, name="fn").shapes()) == ["fn.weight", "fn.bias"]
        assert block.params == 2 * H**2 + H
        with pytest.raises(StructureError, match="two parts or tensors"):
            ps.Residual(ps.Block(shortcut=dense), dense)

    def test_an_error_inside_says_where(self) -> None:
        """A body with a name is named; one without is on the residual's own level."""
        with pytest.raises(ShapeError, match=r"^fn, a Dense, which was given \(2, 5\): the last axis has 5 entries; wanted 4"):
            ps.Residual(ps.Dense(4, 4), name="fn").output_shape((2, 5))
        with pytest.raises(ShapeError, match=r"^the last axis has 5 entries; wanted 4"):
            ps.Residual(ps.Dense(4, 4)).output_shape((2, 5))


class TestRepeat:
    """Copies with a symbolic number."""

    @settings(max_examples=60)
    @given(
        copies=st.integers(0, 9),
        period=st.integers(1, 3),
        start=st.integers(0, 3),
        first=st.booleans(),
        indexed=st.booleans(),
    )
    def test_a_symbolic_depth_agrees_with_every_number(self, copies: int, period: int, start: int, first: bool, indexed: bool) -> None:
        """Alternation, ``first=`` and the index in all their combinations, against tensors written out one by one."""
        blocks = tuple(ps.Dense(H + (i * g if indexed else 0), 3 + kind) for kind in range(period))
        head = ps.Dense(H, 2) if first else None
        if first and copies == 0:
            with pytest.raises(ParamsymError):
                ps.Repeat(blocks, 0, first=head)
            return
        index = i if indexed else None
        symbolic = ps.Repeat(blocks, n, index=index, first=head, start=start, name="l{}")
        numeric = ps.Repeat(blocks, copies, index=index, first=head, start=start, name="l{}").at(H=5, **({"g": 2} if indexed else {}))
        expected = {}
        for number in range(copies):
            width, out = 5 + (2 * (start + number) if indexed else 0), 3 + number % period
            if first and number == 0:
                width, out = 5, 2
            expected[f"l{start + number}.weight"] = (out, width)
            expected[f"l{start + number}.bias"] = (out,)
        assert list(numeric.shapes().items()) == list(expected.items())
        assert numeric.params == written(numeric)
        if copies:
            assert symbolic.params.xreplace({n: sympy.Integer(copies), H: sympy.Integer(5), g: sympy.Integer(2)}) == numeric.params

    def test_a_million_copies_cost_what_twelve_cost(self) -> None:
        """Nothing is written out until names are asked for."""
        block = ps.Block(up=ps.Dense(H, F), down=ps.Dense(F, H))
        began = time.process_time()
        for _ in range(50):
            assert ps.Repeat(block, 10**6).params == 10**6 * (2 * F * H + F + H)
        assert time.process_time() - began < 20, "it wrote the copies out"

    @pytest.mark.parametrize("first", [None, ps.Dense(H, 1)])
    def test_index_dependence_closes_to_a_polynomial(self, first: ps.Layer | None) -> None:
        """DenseNet's growth, against SymPy's own summation."""
        position = symbols("j")
        layer = ps.Repeat(ps.Dense(H + i * g, g), n, index=i, first=first)
        each = (H + position * g) * g + g
        expected = sympy.summation(each, (position, 0 if first is None else 1, n - 1)) + (0 if first is None else H + 1)
        assert expand(layer.params - expected) == 0

    def test_alternation_is_a_polynomial_in_ceilings(self) -> None:
        """Of L copies alternating with period 3, ceil((L-1)/3) leave the remainder 1."""
        layer = ps.Repeat((ps.Dense(H, 1, bias=False), ps.Dense(F, 1, bias=False), ps.Dense(V, 1, bias=False)), L)
        for depth in range(1, 10):
            counts = [len(range(remainder, depth, 3)) for remainder in range(3)]
            assert layer.params.xreplace({L: sympy.Integer(depth)}) == counts[0] * H + counts[1] * F + counts[2] * V
        assert layer.params.coeff(H) == ceiling(L / 3)

    def test_templates_and_numbers(self) -> None:
        """While the depth is a symbol, a template stands for the copies."""
        assert list(ps.Repeat(dense, L).shapes()) == ["{0..L-1}.weight", "{0..L-1}.bias"]
        assert list(ps.Repeat(dense, L, first=ps.Dense(H, 1)).shapes()) == ["0.weight", "0.bias", "{1..L-1}.weight", "{1..L-1}.bias"]
        assert list(ps.Repeat(dense, 2, name="layer{}", start=1).shapes())[::2] == ["layer1.weight", "layer2.weight"]
        nested = ps.Repeat(ps.Repeat(dense, 2), 2).shapes()
        assert list(nested)[::2] == ["0.0.weight", "0.1.weight", "1.0.weight", "1.1.weight"]

    def test_used_copies(self) -> None:
        """K of n experts: stored all, used some."""
        experts = ps.Repeat(dense, n, used=k)
        assert experts.params == expand(n * (H**2 + H))
        assert experts.active == expand(k * (H**2 + H))
        with pytest.raises(SizeError, match="used 9 is more than copies 8"):
            ps.Repeat(dense, 8, used=9)
        with pytest.raises(SizeError, match="used 9 is more than copies 8"):
            experts.at(k=9, n=8)

    def test_nothing_to_repeat(self) -> None:
        """Zero copies are fine, and have no tensors; a negative number is not."""
        none = ps.Repeat(dense, 0)
        assert (none.params, none.shapes(), len(none.ledger()), none.tied) == (0, {}, 0, {})
        assert len(ps.Sequential(none, dense).table().rows) == 2
        assert ps.Repeat(dense, L).at(L=0).count == 0
        for copies in (-1, 1.0, True, "3"):
            with pytest.raises(SizeError):
                ps.Repeat(dense, copies)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"block": ()}, "no block to repeat"),
            ({"name": "layer"}, "needs one {}"),
            ({"name": "{}{}"}, "needs one {}"),
            ({"copies": 0, "first": dense}, "first= needs at least one copy"),
            ({"copies": i, "index": i}, "is in its own range"),
            ({"start": i, "index": i}, "is in its own range"),
            ({"block": 3}, "block is 3"),
            ({"block": (dense, 3)}, "block"),
        ],
    )
    def test_contradictions(self, options: dict[str, object], words: str) -> None:
        """Each says what is wrong."""
        arguments = {"block": dense, "copies": 3, **options}
        with pytest.raises(ParamsymError, match=words):
            ps.Repeat(**arguments)  # type: ignore[arg-type]

    def test_the_index_is_bound(self) -> None:
        """It is no symbol of the layer, cannot be put in, and is not captured by what is put in."""
        layer = ps.Repeat(ps.Dense(H + i, 1, bias=False), L, index=i)
        assert layer.symbols == {H, L}
        with pytest.raises(UnknownNameError, match="no symbol 'i'"):
            layer.at(i=3)
        captured = layer.at(H=10 * i)
        assert captured.symbols == {i, L}
        assert captured.params == expand(10 * i * L + L * (L - 1) / 2)
        assert captured.at(i=2, L=3).count == written(captured.at(i=2, L=3)) == 20 + 21 + 22
        i_1 = dims("i_1")
        taken = ps.Repeat(ps.Dense(H + i + i_1, 1, bias=False), L, index=i).at(H=i)
        assert taken.symbols == {i, i_1, L}
        assert taken.params == expand((i + i_1) * L + L * (L - 1) / 2)
        plain = layer.at(H=Symbol("i"))
        assert plain.params == expand(Symbol("i") * L + L * (L - 1) / 2)

    def test_an_index_may_be_reused_inside(self) -> None:
        """The inner repeat's own index hides the outer one of the same name."""
        inner = ps.Repeat(ps.Dense(H + i, 1, bias=False), 3, index=i)
        outer = ps.Repeat(inner, L, index=i)
        assert outer.params == expand(L * (3 * H + 3))
        assert outer.at(L=2, H=5).count == written(outer.at(L=2, H=5)) == 36

    def test_a_step_of_the_index(self) -> None:
        """A floor of the index is summed where the depth is known."""
        layer = ps.Repeat(ps.Dense(1 + sympy.floor(i / 2), 1, bias=False), n, index=i)
        with pytest.raises(SizeError, match="no closed form"):
            _ = layer.params
        assert layer.at(n=5).count == written(layer.at(n=5)) == 1 + 1 + 2 + 2 + 3

    def test_a_symbolic_start(self) -> None:
        """Runs of copies may begin at a symbol."""
        layer = ps.Repeat(dense, 2, start=k)
        assert list(layer.shapes())[::2] == ["{k..k+1}.weight"]
        assert list(layer.at(k=3).shapes())[::2] == ["3.weight", "4.weight"]


class TestRuns:
    """Dense up to k, experts from k on."""

    layer = ps.Runs((ps.Dense(H, 1), k), (ps.Dense(H, 2), L - k), start=1, name="b{}")

    def test_counts_and_names(self) -> None:
        """One numbering for all runs."""
        assert self.layer.params == expand(k * (H + 1) + (L - k) * (2 * H + 2))
        sized = self.layer.at(k=1, L=3, H=5)
        assert sized.shapes() == {
            "b1.weight": (1, 5), "b1.bias": (1,), "b2.weight": (2, 5), "b2.bias": (2,), "b3.weight": (2, 5), "b3.bias": (2,)
        }  # fmt: skip
        assert sized.count == written(sized)
        assert self.layer.at(k=3, L=3, H=5).count == 18
        assert self.layer.part("b7") in {ps.Dense(H, 1), ps.Dense(H, 2)}

    def test_errors(self) -> None:
        """A run is a block and a count."""
        with pytest.raises(SizeError):
            self.layer.at(k=4, L=3)
        with pytest.raises(ParamsymError):
            ps.Runs((dense, -1))
        with pytest.raises(ParamsymError):
            ps.Runs((3, dense))  # type: ignore[arg-type]
        assert repr(self.layer) == "Runs((Dense(H, 1), k), (Dense(H, 2), L - k), start=1, name='b{}')"
        assert ps.Runs((dense, 2)).params == expand(2 * dense.params)


class TestShared:
    """Stored once, used many times."""

    def test_nested(self) -> None:
        """ALBERT inside a repeat: both multiplicities multiply on their own."""
        layer = ps.Repeat(ps.Shared(dense, n), L)
        assert layer.params == expand(L * dense.params)
        assert layer.active == expand(L * n * dense.params)
        assert list(ps.Shared(dense, 12).shapes()) == ["weight", "bias"]
        with pytest.raises(SizeError, match="times is 0"):
            ps.Shared(dense, 0)


class TestTied:
    """One tensor under two names."""

    model = ps.Block(wte=ps.Embedding(V, H), head=ps.Dense(H, V, bias=False))
    tied = ps.Tied(model, {"head.weight": "wte.weight"})

    def test_counts_shapes_and_table(self) -> None:
        """The alias is a row of the table and of ``tied``, never of the sum."""
        assert self.tied.params == H * V
        assert self.tied.tied == {"head.weight": "wte.weight"}
        assert self.tied.shapes() == {"wte.weight": (V, H)}
        assert self.tied.at(V=10, H=3).count == 30
        table = self.tied.table()
        assert [row[table.columns.index("note")] for row in table.rows] == ["", "= wte.weight"]
        nested = ps.Repeat(self.tied, L).table()
        assert [row[nested.columns.index("note")] for row in nested.rows] == ["", "= {0..L-1}.wte.weight"]
        assert len(self.tied.ledger(aliases=True)) == 2

    def test_the_first_in_storage_order_is_the_name(self) -> None:
        """Whichever way the tie is written."""
        assert ps.Tied(self.model, {"wte.weight": "head.weight"}).tied == {"head.weight": "wte.weight"}

    def test_chains(self) -> None:
        """Three names of one tensor: all point at the first."""
        three = ps.Block(a=dense, b=dense, c=dense)
        for pairs in ({"c.weight": "b.weight", "b.weight": "a.weight"}, {"b.weight": "a.weight", "c.weight": "a.weight"},
                      {"a.weight": "c.weight", "b.weight": "c.weight"}):  # fmt: skip
            assert ps.Tied(three, pairs).tied == {"b.weight": "a.weight", "c.weight": "a.weight"}
        assert ps.Tied(three, {"a.weight": "b.weight", "b.weight": "a.weight"}).params == expand(3 * dense.params - H**2)

    @pytest.mark.parametrize(
        ("pairs", "words"),
        [
            ({"head.bias": "wte.weight"}, "no tensor 'head.bias' to tie; the layer has wte.weight, head.weight"),
            ({"head.weight": "wte"}, "no tensor 'wte'"),
            ({"head.weight": "head.weight"}, "tied to itself"),
        ],
    )
    def test_ties_to_nothing(self, pairs: dict[str, str], words: str) -> None:
        """A tie needs two tensors."""
        with pytest.raises(StructureError, match=f"Tied: .*{words}"):
            ps.Tied(self.model, pairs)

    def test_a_tensor_of_segments_is_listed_once(self) -> None:
        """What there is to tie is named by tensor, and not by line of the ledger."""
        with pytest.raises(StructureError, match=r"has in_proj_weight, in_proj_bias, out_proj.weight, out_proj.bias\."):
            ps.Tied(ps.MultiHeadAttention(8, 2), {"weight": "in_proj_weight"})

    @pytest.mark.parametrize("pairs", ["x", 3, None, {"head.weight": 3}, (("a",),)])
    def test_what_is_no_tie(self, pairs: object) -> None:
        """A mapping of paths is wanted."""
        with pytest.raises(ArgumentError, match=r"is not a mapping of paths; write \{'head.weight'"):
            ps.Tied(self.model, pairs)  # type: ignore[arg-type]

    def test_shapes_must_agree(self) -> None:
        """A transposed weight is not the same tensor."""
        with pytest.raises(StructureError, match="only equal shapes can be tied"):
            ps.Tied(ps.Block(a=ps.Dense(H, F), b=ps.Dense(F, H)), {"b.weight": "a.weight"})
        composite = ps.Block(a=ps.Dense((2, H), 3), b=ps.Dense(2 * H, 3))
        assert ps.Tied(composite, {"b.weight": "a.weight"}).params == 6 * H + 6

    def test_nested_and_repeated(self) -> None:
        """Each copy has its own tie, under its own names."""
        assert ps.Repeat(self.tied, L).params == H * L * V
        two = ps.Repeat(self.tied, 2)
        assert two.tied == {"0.head.weight": "0.wte.weight", "1.head.weight": "1.wte.weight"}
        assert list(two.shapes()) == ["0.wte.weight", "1.wte.weight"]
        outer = ps.Tied(ps.Block(left=self.tied, right=self.tied), {"right.wte.weight": "left.wte.weight"})
        assert outer.params == H * V
        everything = dict.fromkeys(["left.head.weight", "right.wte.weight", "right.head.weight"], "left.wte.weight")
        assert outer.tied == everything
        by_alias = ps.Tied(ps.Block(left=self.tied, right=self.tied), {"right.head.weight": "left.head.weight"})
        assert by_alias.tied == everything
        assert by_alias.params == H * V

    def test_one_numbered_copy(self) -> None:
        """A tie may name one copy of many; the others stay their own."""
        model = ps.Block(embed=ps.Dense(H, H), blocks=ps.Repeat(dense, L))
        layer = ps.Tied(model, {"blocks.0.weight": "embed.weight"})
        assert layer.params == expand((L + 1) * dense.params - H**2)
        sized = layer.at(L=3, H=2)
        assert sized.tied == {"blocks.0.weight": "embed.weight"}
        assert list(sized.shapes()) == ["embed.weight", "embed.bias", "blocks.0.bias", "blocks.1.weight", "blocks.1.bias",
                                        "blocks.2.weight", "blocks.2.bias"]  # fmt: skip
        assert sized.count == written(sized)
        middle = ps.Tied(model.at(L=3), {"blocks.1.weight": "blocks.2.weight"})
        assert middle.tied == {"blocks.2.weight": "blocks.1.weight"}
        with pytest.raises(StructureError, match=r"no tensor 'blocks\.3\.weight'"):
            ps.Tied(model.at(L=3), {"blocks.3.weight": "embed.weight"})

    def test_one_copy_of_a_copy(self) -> None:
        """Also where copies stand inside copies, and on the parent's own level."""
        grid = ps.Repeat(ps.Residual(ps.Block(x=ps.Repeat(dense, 2))), 2)
        layer = ps.Tied(grid, {"1.x.0.weight": "0.x.1.weight"})
        assert layer.tied == {"1.x.0.weight": "0.x.1.weight"}
        assert layer.params == expand(4 * dense.params - H**2)

    @pytest.mark.parametrize("every", ["blocks.{}.pos.weight", "blocks.{0..L-1}.pos.weight"])
    def test_every_copy_to_one_tensor(self, every: str) -> None:
        """``{}`` stands for every copy, also after the number of copies is known."""
        model = ps.Block(pos=ps.Embedding(V, H), blocks=ps.Repeat(ps.Block(pos=ps.Embedding(V, H)), L))
        layer = ps.Tied(model, {every: "pos.weight"})
        assert layer.params == H * V
        sized = layer.at(L=2, V=5, H=3)
        assert sized.tied == {"blocks.0.pos.weight": "pos.weight", "blocks.1.pos.weight": "pos.weight"}
        assert list(sized.shapes()) == ["pos.weight"]
        assert sized.count == 15

    def test_each_copy_to_its_own(self) -> None:
        """With ``{}`` on both sides the numbers agree."""
        model = ps.Repeat(ps.Block(a=dense, b=dense), L)
        layer = ps.Tied(model, {"{}.b.weight": "{}.a.weight"})
        assert layer.params == expand(L * (2 * dense.params - H**2))
        assert layer.at(L=2, H=3).tied == {"0.b.weight": "0.a.weight", "1.b.weight": "1.a.weight"}
        assert layer.at(L=2, H=3).count == written(layer.at(L=2, H=3))

    def test_many_into_many_is_refused(self) -> None:
        """One name for many tensors cannot be the second name of another."""
        model = ps.Block(a=ps.Repeat(dense, L), b=ps.Repeat(dense, n), c=dense)
        with pytest.raises(StructureError, match=r"there is no tensor 'a\.\{0\.\.n-1\}\.weight'"):
            ps.Tied(model, {"b.{}.weight": "a.{}.weight"})
        with pytest.raises(StructureError, match=r"there is no tensor 'a\.\{\}\.weight'"):
            ps.Tied(model, {"c.weight": "a.{}.weight"})
        with pytest.raises(StructureError, match="tie them inside the repeated block, or name one copy"):
            ps.Tied(model, {"a.{}.weight": "c.weight"})

    def test_sizes_go_through(self) -> None:
        """Repr, renaming, and reading an argument of the layer inside."""
        assert repr(self.tied.at(H=2, V=3)) == (
            "Tied(Block(wte=Embedding(3, 2), head=Dense(2, 3, bias=False)), {'head.weight': 'wte.weight'})"
        )
        assert ps.Tied(ps.Dense(H, H), {}).in_features == H
        with pytest.raises(AttributeError):
            _ = self.tied.nothing_of_the_kind

    def test_a_half_is_a_half(self) -> None:
        """Ties inside alternating blocks count once per copy that has them."""
        layer = ps.Repeat((self.tied, ps.Dense(H, 1, bias=False)), L)
        assert layer.params == Polynomial.of(ceiling(Rational(1, 2) * L) * H * V + (L - ceiling(Rational(1, 2) * L)) * H).as_expr()


@pytest.mark.parametrize("name", ["cls", "self", "layers"])
def test_any_name_of_a_part(name: str) -> None:
    """BERT for masked words has a part ``cls``: Python's own words for arguments are names, too."""
    for layer in (ps.Block(**{name: ps.Dense(2, 3)}), ps.Sequential(**{name: ps.Dense(2, 3)})):
        assert list(layer.shapes()) == [f"{name}.weight", f"{name}.bias"]
        assert ps.generalise(layer, {2: H}).params == 3 * H + 3


def test_block_refuses_one_name_twice() -> None:
    """A name given in the mapping and as a keyword is an error, not a silent replacement."""
    with pytest.raises(StructureError, match="two parts are named 'a'"):
        ps.Block({"a": dense}, a=dense)


def test_a_tie_between_no_copies_says_nothing() -> None:
    """Alternating blocks of which a short stack has none: the tie was checked on the template, and there is nothing left to tie."""
    block = ps.Repeat((ps.LayerNorm(H), dense), L)
    tied = ps.Tied(ps.Block(a=block, b=block), {"b.{}.weight": "a.{}.weight"})
    assert tied.at(L=1, H=2).tied == {"b.0.weight": "a.0.weight"}
    assert tied.at(L=0, H=2).shapes() == {}
    assert tied.at(L=4, H=2).tied == {f"b.{k}.weight": f"a.{k}.weight" for k in range(4)}


def test_runs_are_written_as_they_were_given() -> None:
    """What has its default is left out."""
    runs = (ps.Dense(3, 3), 2), (ps.Dense(3, 3), 1)
    assert repr(ps.Runs(*runs)) == "Runs((Dense(3, 3), 2), (Dense(3, 3), 1))"
    assert repr(ps.Runs(*runs, name="h{}", start=1)) == "Runs((Dense(3, 3), 2), (Dense(3, 3), 1), start=1, name='h{}')"


def test_the_number_of_copies_is_named() -> None:
    """Copies that cannot be are said to be copies."""
    with pytest.raises(SizeError, match="copies is -1"):
        ps.Repeat(ps.Dense(3, 3), -1)


def test_a_bound_index_makes_room() -> None:
    """Another i comes in, and the bound one becomes i_1, or i_2 where that is taken: an index as before."""
    one = ps.Repeat(ps.Dense(H + i, 1, bias=False), n, index=i).at(H=i)
    assert one.index == ps.index("i_1")
    assert expand(one.params - (n * i + n * (n - 1) / 2)) == 0
    both = n + ps.dims("i_1")
    two = ps.Repeat(ps.Dense(H + i, 1, bias=False), both, index=i).at(H=i)
    assert two.index == ps.index("i_2")
    assert expand(two.params - (both * i + both * (both - 1) / 2)) == 0


def test_ties_inside_nameless_copies() -> None:
    """Where the number is inside the names, an alias is still a name that a line bears."""

    @dataclass(frozen=True)
    class Pairs(ps.Layer):
        def parts(self) -> Iterator[ps.Part]:
            pair = ps.Tied(ps.Block({"a{}": ps.Dense(3, 3), "b{}": ps.Dense(3, 3)}), {"b{}.weight": "a{}.weight"})
            yield ps.Part("", pair, ps.Numbers(2, pattern=""))

    layer = Pairs()
    assert layer.tied == {"b0.weight": "a0.weight", "b1.weight": "a1.weight"}
    assert {line.alias_of for line in layer.lines if line.alias_of} == {"a{0..1}.weight"}
    assert "a{0..1}.weight" in {line.name for line in layer.lines}
    assert layer.params == 2 * (9 + 3 + 3)


def test_a_repeat_without_a_pattern_numbers_the_names_inside() -> None:
    """As in torch's LSTM: the number stands at the end of tensors' names."""
    rows = ps.Repeat(ps.Parameter((H, 2), "weight_l{}"), 3, name="")
    assert rows.shapes() == {f"weight_l{i}": (H, 2) for i in range(3)}
    assert ps.Repeat(ps.Parameter((H, 2), "weight_l{}"), L, name="").params == 2 * H * L
    with pytest.raises(StructureError, match=r"need \{\} for their number"):
        _ = ps.Repeat(ps.Parameter((H, 2), "weight"), 3, name="").shapes()

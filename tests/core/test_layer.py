"""The contract: what follows from the tensors and parts a layer states."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings, strategies as st
from sympy import Integer, Symbol

import paramsym as ps
from paramsym import A, Dim, F, H, L, Layer, Part, Tensor, V, per
from paramsym.errors import ArgumentError, DivisibilityError, NotYetError, ParamsymError, SizeError, StructureError, UnknownNameError
from paramsym.measure.derived import uses


@dataclass(frozen=True)
class Scale(Layer):
    """One own tensor."""

    width: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The scale."""
        yield Tensor("scale", (self.width,), role="scale")


@dataclass(frozen=True)
class Norm(Layer):
    """Own tensors, a persistent buffer and one that is not, then a part."""

    width: Dim
    heads: Dim = 1
    kind: str = "plain"
    bias: bool = True

    published = {
        "none": {"width": 12, "heads": None},
        "small": {"width": 12, "heads": 4},
        "odd": {"width": 13, "heads": 4},
        "fancy": {"width": 12, "kind": "fancy"},
    }

    def conditions(self) -> None:
        """Heads divide the width."""
        ps.divides(self.heads, self.width, "heads", "width")

    def tensors(self) -> Iterator[Tensor]:
        """Scale, running mean, and a cache that no state dict holds."""
        yield Tensor("scale", ((self.heads, per(self.width, self.heads)),), role="scale")
        yield Tensor("mean", (self.width,), role="statistic", buffer=True)
        yield Tensor("cache", (7,), buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """A dense layer that is used three times per token."""
        yield Part("dense", ps.Dense(self.width, 2, self.bias), used=3)


@dataclass(frozen=True)
class Choosing(Layer):
    """A projection exists only where the sizes differ."""

    width: Dim
    inner: Dim

    def parts(self) -> Iterator[Part]:
        """A projection, or nothing."""
        if self.width != self.inner:
            yield Part("project", ps.Dense(self.width, self.inner))


def test_own_tensors_come_first_then_parts() -> None:
    """Storage order is the order of the statement."""
    layer = Norm(12)
    assert list(layer.shapes()) == ["scale", "dense.weight", "dense.bias"]
    assert list(layer.shapes(buffers=True)) == ["scale", "mean", "dense.weight", "dense.bias"]
    assert [entry.name for entry in layer.entries()] == ["scale", "mean", "cache", "dense.weight", "dense.bias"]
    assert layer.part("dense") == ps.Dense(12, 2)


def test_three_counts() -> None:
    """Stored, trained and used per token."""
    layer = Norm(H)
    assert layer.params == 3 * H + 2
    assert layer.active == H + 3 * (2 * H + 2)
    assert layer.freeze("dense.weight").trainable == H + 2
    assert layer.freeze("scale").trainable == 2 * H + 2
    assert layer.ledger(buffers=True).stored == 4 * H + 9


def test_counts_are_ints_only_without_symbols() -> None:
    """``count`` refuses while symbols are left, and says which."""
    assert Norm(12).count == 38
    assert type(Norm(12).count) is int
    with pytest.raises(SizeError, match=r"Dense has no count yet: F, H are symbols"):
        _ = ps.Dense(H, F).count
    assert Scale(5).params == Integer(5)
    assert isinstance(Scale(5).params, Integer)


class TestAt:
    """Putting sizes in."""

    @pytest.mark.parametrize("sizes", [{H: 6, F: 4}, {"H": 6, "F": 4}, {"H": Integer(6), F: 4}])
    def test_by_symbol_or_name(self, sizes: dict[object, object]) -> None:
        """A symbol, its name, a keyword."""
        assert ps.Dense(H, F).at(sizes) == ps.Dense(6, 4) == ps.Dense(H, F).at(H=6, F=4) == ps.Dense(H, F).at({H: 6}, F=4)

    def test_all_at_once(self) -> None:
        """Sizes do not chain into each other."""
        assert ps.Dense(H, F).at({H: F, F: H}) == ps.Dense(F, H)
        assert ps.Dense(H, 4 * H).at(H=H + 1) == ps.Dense(H + 1, 4 * H + 4)

    def test_it_remembers(self) -> None:
        """The formula before, and what was put in, also in steps."""
        layer = ps.Dense(H, F)
        half = layer.at(F=4 * H)
        full = half.at(H=8)
        assert (layer.formula, layer.sizes) == (layer.params, {})
        assert (half.formula, half.sizes) == (layer.params, {F: 4 * H})
        assert (full.formula, full.sizes, full.count) == (layer.params, {F: 32, H: 8}, 8 * 32 + 32)
        assert json.dumps(list(layer.at(H=8, F=32).sizes.values())) == "[8, 32]"  # plain numbers, not SymPy's

    def test_symbols_brought_in_can_be_put_in_too(self) -> None:
        """A symbol that arrives with a size becomes one of the layer's."""
        d = ps.dims("d")
        assert ps.Dense(H, F).at(H=2 * d).at(d=3, F=1).sizes == {H: 6, F: 1}

    def test_a_cancelled_symbol_is_still_checked(self) -> None:
        """A is not in the count, but it has to divide H."""
        layer = Norm(H, A)
        assert A not in layer.params.free_symbols
        assert layer.symbols == {A, H}
        assert layer.at(A=12, H=768).count == 768 * 3 + 2
        with pytest.raises(DivisibilityError, match=r"Norm: width 786 is not divisible by heads 12 \(786 = 65\*12 \+ 6\)"):
            layer.at(A=12, H=786)

    @pytest.mark.parametrize("key", ["L", L, Symbol("H"), 3, None, "H "])
    def test_unknown_symbols_are_refused(self, key: object) -> None:
        """A silent no-op is the classic trap of ``subs``."""
        with pytest.raises(UnknownNameError, match=r"Dense has no symbol .*; it has F, H"):
            ps.Dense(H, F).at({key: 3})

    def test_a_namesake_is_told_apart(self) -> None:
        """The hint says that the name can be passed instead."""
        with pytest.raises(UnknownNameError, match="another symbol of the same name"):
            ps.Dense(H, F).at({Symbol("H"): 3})

    def test_nothing_to_put_in(self) -> None:
        """A layer without symbols has none to offer; a mapping is not a list."""
        with pytest.raises(UnknownNameError, match="it has no symbols"):
            ps.Dense(2, 3).at(H=1)
        with pytest.raises(ParamsymError, match=r"at\(\) takes a mapping"):
            ps.Dense(H, F).at([(H, 1)])  # type: ignore[arg-type]

    def test_why_a_name_is_no_symbol(self) -> None:
        """What an argument is called, and what stands in no field, is said."""

        @dataclass(frozen=True)
        class Global(Layer):
            width: Dim

            def tensors(self) -> Iterator[Tensor]:
                yield Tensor("weight", (self.width, F))

        for layer, name, words in (
            (ps.Dense(H, F), "in_features", "it has F, H. Its in_features is H: write at(H=...)."),
            (ps.Dense(3, 4), "in_features", "it has no symbols. Its in_features is 3: build it with another."),
            (Global(H), "F", "F is in a tensor, but in no field; sizes are put into fields annotated Dim, Count or tuple[Dim, ...]."),
        ):
            with pytest.raises(UnknownNameError) as caught:
                layer.at({name: 1})
            assert str(caught.value).endswith(words)

    def test_a_size_that_was_put_in_is_changed(self) -> None:
        """What if: the other sizes stay, and conditions are checked as ever."""
        llama = ps.load("meta-llama/Meta-Llama-3-8B")
        # transformers 5.23: LlamaConfig() with the published sizes and 32 key/value heads
        assert llama.at(G=32).count == 8_835_567_616
        assert llama.at(G=32).sizes == {**llama.sizes, ps.G: 32}
        assert llama.at(G=32).formula == llama.formula
        assert llama.at(G=32).at(G=8) == llama
        with pytest.raises(DivisibilityError):
            llama.at(G=5)
        with pytest.raises(SizeError, match="F and H"):
            llama.at(H=F, F=H)

    @given(st.fixed_dictionaries({}, optional={name: st.integers(1, 6) for name in "HLFV"}), st.integers(1, 4))
    @settings(max_examples=40)
    def test_what_if_is_building_anew(self, factors: dict[str, int], times: int) -> None:
        """Sizes in terms of those before, and F in terms of the new H, as the same sizes worked out by hand."""
        model = ps.models.Bert()
        base = model.at("bert-base-uncased")
        before = {symbol.name: size for symbol, size in base.sizes.items()}
        wanted = {name: factor * before[name] for name, factor in factors.items()}
        assert base.at({name: factor * ps.dims(name) for name, factor in factors.items()}) == model.at({**before, **wanted})
        along = {**before, **wanted, "F": times * wanted.get("H", before["H"])}
        changes = {name: factor * ps.dims(name) for name, factor in factors.items() if name != "F"}
        assert base.at({**changes, "F": times * H}) == model.at(along)

    def test_nothing_put_in(self) -> None:
        """An empty mapping changes nothing."""
        assert ps.Dense(H, F).at({}) == ps.Dense(H, F)
        assert ps.Dense(H, F).at() == ps.Dense(H, F)

    @pytest.mark.parametrize("value", [0, -1, 1.5, "768", True, None, -H])
    def test_impossible_sizes_are_refused(self, value: object) -> None:
        """Zero is no width; text is not a number."""
        with pytest.raises(SizeError):
            ps.Dense(H, F).at({H: value})

    def test_one_symbol_twice(self) -> None:
        """The same value is fine, another one is not."""
        assert ps.Dense(H, F).at({H: 3}, H=3) == ps.Dense(3, F)
        with pytest.raises(SizeError, match="H is given twice, as 3 and 4"):
            ps.Dense(H, F).at({H: 3}, H=4)

    def test_sizes_that_change_the_structure(self) -> None:
        """Which tensors exist is decided when the layer is built, and the error says what to build."""
        with pytest.raises(StructureError, match=r"change which tensors exist \(without project.weight, project.bias\).*Choosing\(5, 5\)"):
            Choosing(H, F).at(H=5, F=5)
        with pytest.raises(StructureError, match=r"without project\.weight"):
            Choosing(H, F).at(F=H)
        assert Choosing(H, F).at(H=5, F=6).count == 36

    def test_a_namesake_cannot_be_brought_in(self) -> None:
        """Two different symbols of one name in one layer are refused, unless the first one leaves."""
        plain = Symbol("F")
        with pytest.raises(StructureError, match="two different symbols are named 'F'"):
            ps.Dense(H, F).at(H=plain)
        with pytest.raises(StructureError, match="two different symbols are named 'H'"):
            ps.Dense(H, Symbol("H"))
        assert ps.Dense(H, F).at(F=plain) == ps.Dense(H, plain)


class TestPublishedSizes:
    """A size by the name it was published under."""

    def test_by_name(self) -> None:
        """Constructor arguments are translated to the symbols they hold."""
        assert Norm(H, A).at("small") == Norm(12, 4)
        assert Norm(H, A).at("small").sizes == {H: 12, A: 4}
        assert Norm(H, 4).at("small") == Norm(12, 4)
        assert Norm(2 * H, 4).at({H: 6}).at("small").count == 38

    def test_unknown_names(self) -> None:
        """The error lists what is known."""
        with pytest.raises(UnknownNameError, match="no published size 'huge'; it has none, small, odd, fancy"):
            Norm(H, A).at("huge")
        with pytest.raises(UnknownNameError, match="it has none"):
            Scale(H).at("small")

    def test_contradictions(self) -> None:
        """A size that the layer cannot take is refused, and so is a flag it was not built with."""
        with pytest.raises(DivisibilityError, match="width 13"):
            Norm(H, A).at("odd")
        with pytest.raises(StructureError, match=r"has heads=4, but this layer was built with (heads=)?2"):
            Norm(H, 2).at("small")
        with pytest.raises(StructureError, match="has kind='fancy'"):
            Norm(H).at("fancy")
        with pytest.raises(SizeError, match="to be both"):
            Norm(H, H).at("small")
        with pytest.raises(StructureError, match=r"none has heads=None, but this layer was built with heads=A"):
            Norm(H, A).at("none")


class TestStructure:
    """Bad statements fail when the layer is built."""

    def test_two_of_one_name(self) -> None:
        """Parts, tensors, and parts on the parent's own level share one space of names."""

        @dataclass(frozen=True)
        class Twice(Layer):
            width: Dim
            first: str
            second: str

            def tensors(self) -> Iterator[Tensor]:
                yield Tensor(self.first, (self.width,))

            def parts(self) -> Iterator[Part]:
                yield Part(self.second, Scale(self.width))

        assert Twice(3, "a", "b").count == 6
        with pytest.raises(StructureError, match="Twice: two parts or tensors are named 'a'"):
            Twice(3, "a", "a")
        with pytest.raises(StructureError, match="named 'scale'"):
            Twice(3, "scale", "")

    def test_a_tensor_needs_a_name_and_sizes(self) -> None:
        """The gate of a tensor says which axis."""
        with pytest.raises(StructureError, match="needs a name"):
            Tensor("", (1,))
        with pytest.raises(SizeError, match=r"tensor 'w', axis 1 is 64.0 \(float\)"):
            Tensor("w", (1, 64.0))  # type: ignore[arg-type]
        with pytest.raises(SizeError, match="axis 0"):
            Tensor("w", (True,))

    def test_a_tensor_may_be_empty(self) -> None:
        """An axis of 0 makes a tensor that has a name and a shape, as frameworks store it, and that counts nowhere; none is below 0."""

        @dataclass(frozen=True)
        class Hollow(Layer):
            width: Dim

            def tensors(self) -> Iterator[Tensor]:
                yield Tensor("none", (0, self.width))
                yield Tensor("scale", (self.width,))

        layer = Hollow(H)
        assert layer.shapes() == {"none": (0, H), "scale": (H,)}
        assert (layer.params, layer.active, [line.name for line in layer.ledger()]) == (H, H, ["scale"])
        assert layer.at(H=4).shapes() == {"none": (0, 4), "scale": (4,)}
        assert "none" not in str(layer.table())
        with pytest.raises(SizeError, match="axis 0 is -1"):
            Tensor("w", (-1,))

    def test_a_part_is_a_layer(self) -> None:
        """And the copies it uses are a count."""
        with pytest.raises(StructureError, match="part 'x' is 3, not a layer"):
            Part("x", 3)  # type: ignore[arg-type]
        with pytest.raises(SizeError, match="part 'x': used is -1"):
            Part("x", Scale(1), used=-1)
        with pytest.raises(SizeError, match="part 'x': number of copies"):
            Part("x", Scale(1), ps.Numbers(-1))
        with pytest.raises(StructureError, match="'used' cannot be given as well"):
            Part("x", Scale(H), ps.Numbers(3, index=H), used=1)

    @pytest.mark.parametrize(
        ("given", "found"),
        [
            (Tensor("a", (1,)), r"Tensor\(.*\) \(Tensor\)"),  # returned, not yielded
            (None, r"None \(NoneType\)"),  # neither
            ([("a", (1,))], r"\('a', \(1,\)\) \(tuple\)"),
            ({"a": Tensor("a", (1,))}, r"'a' \(str\)"),
            ([Part("a", Scale(1))], r"Part\(.*\) \(Part\)"),
        ],
    )
    def test_tensors_are_tensors(self, given: object, found: str) -> None:
        """What ``tensors()`` gives in their place is shown, with what to write."""

        @dataclass(frozen=True)
        class Odd(Layer):
            width: Dim

            def tensors(self) -> object:  # type: ignore[override]
                return given

        with pytest.raises(StructureError, match=rf"Odd.tensors\(\) gives {found}; wanted any number of Tensor: yield Tensor\(...\)"):
            Odd(1)

    def test_parts_are_parts(self) -> None:
        """A mapping of layers is what Block takes, and no parts."""

        @dataclass(frozen=True)
        class Odd(Layer):
            width: Dim

            def parts(self) -> object:  # type: ignore[override]
                return {"scale": Scale(self.width)}

        with pytest.raises(StructureError, match=r"Odd.parts\(\) gives 'scale' \(str\); wanted any number of Part"):
            Odd(1)

    def test_a_layer_does_not_contain_itself(self) -> None:
        """Neither the same value nor one like it, without end."""

        @dataclass(frozen=True)
        class Mirror(Layer):
            width: Dim

            def parts(self) -> Iterator[Part]:
                yield Part("again", self)

        @dataclass(frozen=True)
        class Mirrors(Layer):
            width: Dim

            def parts(self) -> Iterator[Part]:
                yield Part("again", Mirrors(self.width))

        for build in (Mirror, Mirrors):
            with pytest.raises(StructureError, match="a layer cannot contain itself"):
                build(2)

    def test_a_shape_is_a_tuple(self) -> None:
        """A size alone is not read as one axis."""
        with pytest.raises(StructureError, match=r"tensor 'w': the shape is H \(Symbol\); wanted a tuple of sizes, such as \(H,\)"):
            Tensor("w", H)  # type: ignore[arg-type]

    def test_a_layer_is_a_dataclass(self) -> None:
        """A forgotten decorator and a field that hides the contract are named."""

        class Forgotten(Layer):
            width: Dim

        with pytest.raises(StructureError, match="Forgotten is not a dataclass"):
            Forgotten()
        with pytest.raises(StructureError, match="a field cannot be named 'params'"):

            class Hiding(Layer):
                params: Dim

    def test_where_is_said_once(self) -> None:
        """The innermost layer that objects is the one that is named."""
        with pytest.raises(SizeError) as caught:
            ps.Sequential(Scale(3), Norm(0))
        assert str(caught.value) == "Norm: width is 0; wanted a positive whole number."


class TestPaths:
    """``part`` walks dotted paths."""

    model = ps.Block(embed=ps.Embedding(V, H), blocks=ps.Repeat(ps.Residual(ps.Block(up=ps.Dense(H, F))), L))

    def test_every_step(self) -> None:
        """Names, numbered copies, unnamed parts, and ``{}`` for any copy."""
        assert self.model.part("") is self.model
        assert self.model.part("embed") == ps.Embedding(V, H)
        for path in ("blocks.0.up", "blocks.11.up", "blocks.{}.up", "blocks.{0..L-1}.up"):
            assert self.model.part(path) == ps.Dense(H, F)

    @pytest.mark.parametrize(
        "path", ["x", "blocks.x", "blocks.0.down", "blocks.-1.up", "blocks.01.up", "embed.weight", "blocks..up", "blocks.²"]
    )
    def test_what_is_not_there(self, path: str) -> None:
        """The error lists what there is."""
        with pytest.raises(UnknownNameError, match="has no part"):
            self.model.part(path)

    def test_a_number_beyond_the_last(self) -> None:
        """Known once the number of copies is."""
        with pytest.raises(UnknownNameError, match=r"no part '12(\.up)?'; it has \{0..11\}"):
            self.model.at(L=12).part("blocks.12.up")


def test_shorthand() -> None:
    """``+`` chains, ``*`` repeats, ``sum`` starts at nothing."""
    layer = Scale(H)
    assert layer + layer == ps.Sequential(layer, layer)
    assert layer + layer + layer == ps.Sequential(layer, layer, layer) == layer + (layer + layer) == sum([layer, layer, layer])
    assert 3 * layer == layer * 3 == ps.Repeat(layer, 3)
    assert L * layer == layer * L == ps.Repeat(layer, L)
    assert ps.Block(a=layer) + layer == ps.Sequential(ps.Block(a=layer), layer)
    for wrong in (lambda: layer + 3, lambda: 3 + layer, lambda: layer + "x"):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: 1.5 * layer, lambda: layer * "2", lambda: layer * -1, lambda: layer * layer):
        with pytest.raises((SizeError, TypeError)):
            wrong()


def test_a_layer_shows_itself() -> None:
    """Repr, LaTeX, and the formula for a notebook."""
    assert repr(Norm(H, A, kind="odd", bias=False)) == "Norm(H, heads=A, kind='odd', bias=False)"
    assert repr(Norm(12)) == "Norm(12)"
    assert ps.Dense(H, F).to_latex() == "F H + F"
    assert ps.Dense(H, F)._repr_latex_() == r"$\displaystyle F H + F$"


def test_errors_are_builtin_errors_too() -> None:
    """Ordinary handlers catch them, and each is the library's own."""
    for error, builtin in [
        (SizeError, ValueError),
        (DivisibilityError, SizeError),
        (ArgumentError, TypeError),
        (UnknownNameError, LookupError),
        (StructureError, ValueError),
    ]:
        assert issubclass(error, builtin)
        assert issubclass(error, ParamsymError)


@dataclass(frozen=True)
class Level(ps.Layer):
    """Tensors whose own names hold the number of the copy."""

    width: ps.Dim

    def tensors(self) -> Iterator[ps.Tensor]:
        """A weight and a bias."""
        yield ps.Tensor("weight_l{}", (H, self.width))
        yield ps.Tensor("bias_l{}_in", (H,))


@dataclass(frozen=True)
class Stack(ps.Layer):
    """Levels numbered inside the names of their tensors."""

    width: ps.Dim
    depth: ps.Dim

    def parts(self) -> Iterator[ps.Part]:
        """The first level, then the others."""
        yield ps.Part("", Level(self.width), ps.Numbers(1, pattern=""))
        yield ps.Part("", Level(H), ps.Numbers(self.depth - 1, 1, pattern=""))


def test_numbers_inside_names() -> None:
    """Copies without a pattern add no step; their number stands in the tensors' names, copy after copy, also below a repeat."""
    layer = Stack(F, L)
    assert list(layer.shapes()) == ["weight_l0", "bias_l0_in", "weight_l{1..L-1}", "bias_l{1..L-1}_in"]
    assert list(layer.at(L=3).shapes()) == ["weight_l0", "bias_l0_in", "weight_l1", "bias_l1_in", "weight_l2", "bias_l2_in"]
    assert list(layer.at(L=1).shapes()) == ["weight_l0", "bias_l0_in"]
    assert list(ps.Repeat(layer.at(L=1), 2).shapes()) == ["0.weight_l0", "0.bias_l0_in", "1.weight_l0", "1.bias_l0_in"]
    assert layer.params == H * F + H**2 * L - H**2 + H * L
    assert [line.name for line in layer.ledger()] == list(layer.shapes())
    with pytest.raises(StructureError, match="for their number in every name inside"):
        ps.Part("", ps.Dense(H, H), ps.Numbers(L, pattern=""))
    with pytest.raises(UnknownNameError):
        layer.freeze("weight_m1")


def test_what_does_not_say_its_use_is_named() -> None:
    """A layer of one's own that stores tensors and does not say how often they are used cannot be asked for connections."""
    with pytest.raises(NotYetError, match="Scale has no forward pass"):
        uses(Scale(4), (1, 4))


@dataclass(frozen=True)
class Depths(Layer):
    """A default that is a list, as users write one."""

    depths: tuple[Dim, ...] = field(default_factory=lambda: [2, 3])  # type: ignore[assignment]

    def tensors(self) -> Iterator[Tensor]:
        """One vector per depth."""
        yield from (Tensor(f"depth{depth}", (depth,)) for depth in self.depths)


def test_a_list_is_a_default_like_any_other() -> None:
    """It is a tuple in the layer, and left out of what is written."""
    assert Depths().depths == (2, 3)
    assert repr(Depths()) == repr(Depths([2, 3])) == "Depths()"  # type: ignore[arg-type]
    assert repr(Depths((4,))) == "Depths(depths=(4,))"


def test_a_layer_without_shapes_is_named() -> None:
    """Whoever wrote the layer learns which one does not say."""
    with pytest.raises(NotYetError, match=r"^Scale has no forward pass"):
        Scale(H).output_shape((2, 3))


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (ps.Repeat(ps.Dense(2, 3), 10**9), "1000000000 copies of 2 tensors"),
        (ps.Repeat(ps.Repeat(ps.Dense(2, 3, bias=False), 1001), 1000), "1000 copies of 1001 tensors"),
        (ps.Repeat(ps.Dense(ps.index("i") + 1, 3), 2**4000, index=ps.index("i")), "about 1,204 digits copies of 1 tensor are"),
        (ps.LSTM(2, 3, num_layers=2**64), "copies of 4 tensors"),
    ],
    ids=["many", "nested", "numbered", "levels"],
)
def test_names_beyond_the_limit_are_refused_before_they_are_written(layer: ps.Layer, said: str) -> None:
    """Memory ends before the names of so many tensors do; the count needs none of them."""
    for question in (layer.shapes, lambda: layer.tied, lambda: ps.match(layer, {"weight": (2, 3)})):
        with pytest.raises(SizeError, match=f"{said}.*1,000,000 tensors are the limit"):
            question()
    assert layer.count > 10**6
    assert len(layer.table().rows) < 40


def test_a_ledger_lists_what_is_stored_once_and_more_if_asked() -> None:
    """A tied tensor is stored under its first name; buffers of a norm are its mean, its variance and the number of batches."""
    tied = ps.Tied(ps.Block(wte=ps.Embedding(V, H), head=ps.Dense(H, V, bias=False)), {"head.weight": "wte.weight"})
    assert [line.path for line in tied.ledger()] == [("wte", "weight")]
    assert [line.path for line in tied.ledger(aliases=True)] == [("wte", "weight"), ("head", "weight")]
    assert [line.path[-1] for line in ps.BatchNorm2d(H).ledger()] == ["weight", "bias"]
    assert [line.path[-1] for line in ps.BatchNorm2d(H).ledger(buffers=True)][2:] == ["running_mean", "running_var", "num_batches_tracked"]

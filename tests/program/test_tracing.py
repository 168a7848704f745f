"""Tracing: programs as values, what they print, and what a forward pass may not do."""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import dataclass
from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import B, Dense, F, H, L, S
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, NotYetError, ShapeError, StructureError
from paramsym.program import Own, Value, apply, compare, contract, normalise, reduce, region


def stated(forward: Any, **parts: Layer) -> Layer:
    """Return a layer with these parts and this forward pass."""

    @dataclass(frozen=True)
    class Mine(Layer):
        def parts(self) -> Any:
            for name, layer in parts.items():
                yield Part(name, layer)

        def forward(self, own: Own, *inputs: Value) -> Any:
            return forward(own, *inputs)

    return Mine()


def weighted(forward: Any, reads: str = "") -> Layer:
    """Return a layer with a weight, (H, H), and this forward pass; it reads something of itself before."""

    @dataclass(frozen=True)
    class Mine(Layer):
        def tensors(self) -> Any:
            yield Tensor("weight", (H, H))

        def forward(self, own: Own, x: Value) -> Any:
            if reads:
                getattr(self, reads)
            return forward(own, x)

    return Mine()


class TestPrograms:
    """A program is a value."""

    def test_equality_and_hash(self) -> None:
        """Equal layers with equal inputs have equal programs; other inputs make others."""
        one, other = ps.trace(Dense(H, F), (B, H)), ps.trace(Dense(H, F), (B, H))
        assert one == other
        assert hash(one) == hash(other)
        assert one != ps.trace(Dense(H, F), (B, S, H))
        assert pickle.loads(pickle.dumps(Dense(H, F))) == Dense(H, F)

    def test_the_listing(self) -> None:
        """One line per operation, parts indented, with the shapes of the results."""
        listing = str(ps.trace(ps.Sequential(up=Dense(H, F, bias=False)), (B, H)))
        assert listing.splitlines() == [
            "Sequential(%0 (B, H)) -> %1 (B, F)",
            "  %1 (B, F) = up [Dense](%0)",
            "    %1 (F, H) = weight()",
            "    %2 (B, F) = contract '... i, o i -> ... o'(%0, %1)",
        ]

    def test_the_picture(self) -> None:
        """Every operation is a box; the weight stands in the box that takes it."""
        picture = ps.trace(ps.Residual(Dense(H, H)), (B, H))._repr_html_()
        assert picture.startswith("<svg")
        assert picture.count("<rect") == 4  # the dense layer, its product, its bias, the sum
        assert "(weight)" in picture

    def test_what_a_picture_leaves_out(self) -> None:
        """Names of axes, and tensors that are made to fit, are no boxes."""
        picture = ps.trace(ps.BatchNorm2d(3), (B, 3, H, H))._repr_html_()
        assert picture.count("<rect") == 1
        assert "normalise given (weight, bias, running_mean, running_var)" in picture

    def test_a_long_picture(self) -> None:
        """Of many operations the parts are drawn, and behind a line to click on all of them; names of helpers have no underscore."""
        short, _, whole = ps.trace(ps.models.EncoderDecoder())._repr_html_().partition("<details>")
        assert short.count("<rect") < 60 < whole.count("<rect")
        assert "operations</summary>" in whole
        assert "loop {0..L-1} [StackLayer]" in short

    def test_any_depth_costs_the_same(self) -> None:
        """Equal blocks are one loop, whatever their number."""
        for depth in (1000, L):
            program = ps.trace(ps.Repeat(Dense(H, H), depth), (B, H))
            assert len(program.steps) == 1
        with pytest.raises(ShapeError, match="cannot be repeated a symbolic number of times"):
            ps.trace(ps.Repeat(ps.Conv1d(4, 4, 3), L), (B, 4, S))


class TestWhatAForwardPassMayNotDo:
    """Each mistake has a message of its own."""

    def test_branch_or_iterate(self) -> None:
        """Entries are unknown, and sizes may be symbols."""
        with pytest.raises(StructureError, match="cannot branch on the entries"):
            ps.trace(stated(lambda _, x: x or x), (B, H))
        with pytest.raises(StructureError, match="cannot be iterated"):
            ps.trace(stated(lambda _, x: next(iter(x))), (B, H))

    def test_ask_for_what_is_not_stored(self) -> None:
        """The message lists what the layer has."""
        with pytest.raises(StructureError, match=r"asks for 'down', which Mine does not store; it has up"):
            ps.trace(stated(lambda own, x: own.down(x), up=Dense(H, F)), (B, H))

    def test_return_something_else(self) -> None:
        """A forward pass returns arrays."""
        with pytest.raises(StructureError, match=r"Mine\.forward returned 3 \(int\)"):
            ps.trace(stated(lambda *_: 3), (B, H))

    def test_use_a_function_that_is_not_known(self) -> None:
        """The nearest name is offered."""
        with pytest.raises(ArgumentError, match="did you mean 'gelu'"):
            ps.trace(stated(lambda _, x: apply("gelo", x)), (B, H))

    def test_use_another_layers_array(self) -> None:
        """An array that was kept from outside does not enter."""
        kept: list[Value] = []

        def keep(_: Own, x: Value) -> Value:
            kept.append(x)
            return x

        ps.trace(stated(keep), (B, H))
        with pytest.raises(StructureError, match="uses an array of another layer's forward pass"):
            ps.trace(stated(lambda _, x: x + kept[0]), (B, H))

    def test_be_called_by_hand(self) -> None:
        """Operations belong into a forward pass."""
        kept: list[Value] = []
        ps.trace(stated(lambda _, x: kept.append(x) or x), (B, H))
        with pytest.raises(StructureError, match="outside of a forward pass"):
            contract("b i, b i -> b", kept[0], kept[0])

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (lambda own, x: x @ own.weight, r"x @ y is not an operation of forward passes; write contract\("),
            (lambda _, x: x[0], r"write take\(x, axis, start, count\)"),
            (lambda _, x: len(x), r"^len\(x\) is not an operation of forward passes; write x\.sizes"),
            (lambda _, x: region("part", lambda _: 3, x), r"^the function returned 3 \(int\); wanted an array"),
            (lambda own, x: own.weight(x), r"write own\.name\(x\)"),
            (lambda _, x: x if x > 0 else -x, r'write compare\(x, "greater", 0\)'),
            (lambda _, x: x if x == 0 else -x, r'write compare\(x, "equal", 0\)'),
            (lambda _, x: x.transpose(0, 1), r"has no 'transpose'; write rearrange\("),
            (lambda _, x: x.mean(-1), r"has no 'mean'; write reduce\("),
            (lambda _, x: x.frobnicate(), r"has no 'frobnicate'; write an operation of paramsym\.program"),
            (lambda _, x: x + 1 if x.sizes[0] > 3 else x, r"Mine\.forward branches on a size that is a letter, B > 3"),
            (lambda _, x: [x for _ in range(x.sizes[0])][-1], r"Mine\.forward needs the number of a size that is a letter"),
            (lambda _, x: x / math.sqrt(x.sizes[-1]), r"a root size\*\*0\.5"),
            (lambda own, x: contract("... i, o i", x, own.weight), "2 terms and no arrow"),
            (lambda own, x: contract("... i -> ... i", x, own.weight), "has 1 terms; wanted one for each array"),
            (lambda own, x: contract("... i, o i -> ... z", x, own.weight), "has 'z' in its result and in no term"),
        ],
    )
    def test_do_what_other_arrays_do(self, body: Any, words: str) -> None:
        """What NumPy and torch can do, and Python notices, is said with what to write instead."""
        with pytest.raises(StructureError, match=words):
            ps.trace(weighted(body), (B, H))

    @pytest.mark.parametrize(
        ("methods", "instead"),
        [
            ("T transpose permute reshape view flatten squeeze unsqueeze swapaxes", "rearrange(x, "),
            ("mean sum max prod", 'reduce("mean", x, -1)'),
            ("exp log sqrt abs tanh sigmoid relu", 'apply("exp", x)'),
            ("dot matmul mm bmm", 'contract("... i, o i -> ... o", x, own.weight)'),
            ("split chunk", "segments(x)"),
            ("size ndim dim", "x.sizes or x.rank"),
            ("softmax", "softmax(x)"),
            ("repeat", "copies(x, times, axis)"),
        ],
    )
    def test_have_no_methods_of_torch(self, methods: str, instead: str) -> None:
        """Each of the usual methods is answered with what to write instead."""
        for name in methods.split():
            with pytest.raises(StructureError, match=re.escape(f"has no {name!r}; write {instead}")):
                ps.trace(weighted(lambda _, x, name=name: getattr(x, name)), (B, H))

    def test_words_that_are_not_known(self) -> None:
        """The nearest words are offered."""
        for body, words in (
            (lambda x: reduce("avg", x), "'avg' is not a known reduction. Known: sum, mean, max, min, amax, amin, prod, any, all"),
            (lambda x: normalise(x, "layr", -1), "'layr' is not a known normalisation; did you mean 'layer'"),
            (lambda x: compare(x, "greter", 0), "'greter' is not a known comparison; did you mean 'greater'"),
        ):
            with pytest.raises(ArgumentError, match=words):
                ps.trace(stated(lambda _, x, body=body: body(x)), (B, H))

    def test_read_a_tensor_from_the_layer(self) -> None:
        """Tensors and parts are read from ``own``; what the layer has not at all is Python's own error."""
        with pytest.raises(StructureError, match=r"reads self\.weight, which is not a field; write own\.weight"):
            ps.trace(weighted(lambda _, x: x, "weight"), (B, H))
        with pytest.raises(AttributeError, match="nothing"):
            ps.trace(weighted(lambda _, x: x, "nothing"), (B, H))
        with pytest.raises(TypeError, match="unsupported operand"):
            ps.trace(stated(lambda _, x: x + "one"), (B, H))

    def test_pass_arrays_to_numpy(self) -> None:
        """A function of NumPy is not traced."""
        xp = imported("numpy")
        for body in (lambda _, x: xp.exp(x), lambda _, x: xp.asarray(x), lambda _, x: xp.concatenate([x, x])):
            with pytest.raises(StructureError, match="a function of NumPy is not an operation of forward passes"):
                ps.trace(stated(body), (B, H))


class TestInputs:
    """What a question may be asked with."""

    def test_too_many(self) -> None:
        """The number that the layer takes is named."""
        with pytest.raises(ArgumentError, match=r"Dense: wanted 1 input \(x\); found 2"):
            ps.trace(Dense(H, F), (B, H), (B, H))

    def test_none(self) -> None:
        """A layer has no inputs of its own."""
        with pytest.raises(ArgumentError, match="give their shapes"):
            ps.trace(Dense(H, F))

    def test_by_name(self) -> None:
        """The names are those of the forward pass."""
        assert ps.trace(Dense(H, F), x=(B, H)) == ps.trace(Dense(H, F), (B, H))
        with pytest.raises(ArgumentError, match="no input 'y'; it takes x"):
            ps.trace(Dense(H, F), y=(B, H))

    def test_a_layer_that_does_not_say(self) -> None:
        """The message says what to write."""

        @dataclass(frozen=True)
        class Silent(Layer):
            pass

        for question in (ps.trace, ps.flops):
            with pytest.raises(NotYetError, match=r"Silent has no forward pass; write forward\(self, own, x\)"):
                question(Silent(), (B, H))
        with pytest.raises(NotYetError, match=r"^a\.1: Silent has no forward pass"):
            ps.flops(ps.Sequential(a=ps.Sequential(ps.Dense(H, H), Silent())), (B, H))

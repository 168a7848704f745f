"""torch's Transformer against torch, and as algebra."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from frameworks import assert_same_as_torch, imported
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import A, F, H, L
from paramsym.errors import ArgumentError, DivisibilityError, ShapeError, SizeError

few = settings(max_examples=20, deadline=None)
M = ps.dims("M")
CLASSES = ("TransformerEncoderLayer", "TransformerDecoderLayer", "TransformerEncoder", "TransformerDecoder", "Transformer")


@st.composite
def block_arguments(draw: st.DrawFn) -> dict[str, Any]:
    """Draw arguments that the layers and the whole Transformer share."""
    heads = draw(st.integers(1, 4))
    needed = {"d_model": heads * draw(st.integers(1, 5)), "nhead": heads}
    optional = {
        "dim_feedforward": st.integers(1, 9),
        "dropout": st.sampled_from([0.0, 0.1, 1.0]),
        "activation": st.sampled_from(["relu", "gelu", abs]),
        "layer_norm_eps": st.sampled_from([1e-5, 1e-6]),
        "batch_first": st.booleans(),
        "norm_first": st.booleans(),
        "bias": st.booleans(),
    }
    return needed | draw(st.fixed_dictionaries({}, optional=optional))


@pytest.mark.parametrize("name", CLASSES)
def test_signatures_are_torchs(name: str) -> None:
    """Argument names, order and defaults; the activation's default is a function in torch and its name here."""
    torch = imported("torch")
    theirs = [p for p in inspect.signature(getattr(torch.nn, name)).parameters.values() if p.name not in {"device", "dtype"}]
    ours = list(inspect.signature(getattr(ps, name)).parameters.values())
    assert [p.name for p in ours] == [p.name for p in theirs]
    assert [p.default for p in ours if p.name != "activation"] == [p.default for p in theirs if p.name != "activation"]


@few
@given(arguments=block_arguments(), name=st.sampled_from(CLASSES[:2]))
def test_layers(arguments: dict[str, Any], name: str) -> None:
    """Names, shapes, order and state dict of the encoder and decoder layer."""
    torch = imported("torch")
    assert_same_as_torch(getattr(ps, name)(**arguments), lambda: getattr(torch.nn, name)(**arguments))


@few
@given(arguments=block_arguments(), kind=st.sampled_from(["Encoder", "Decoder"]), copies=st.integers(0, 3), norm=st.booleans())
def test_stacks(*, arguments: dict[str, Any], kind: str, copies: int, norm: bool) -> None:
    """Copies and the norm after them; no copy at all is a stack, too."""
    torch = imported("torch")
    width = arguments["d_model"]
    layer = getattr(ps, f"Transformer{kind}Layer")(**arguments)
    stack = getattr(ps, f"Transformer{kind}")(layer, copies, norm=ps.LayerNorm(width) if norm else None)

    def build() -> Any:
        inner = getattr(torch.nn, f"Transformer{kind}Layer")(**arguments)
        return getattr(torch.nn, f"Transformer{kind}")(inner, copies, norm=torch.nn.LayerNorm(width) if norm else None)

    assert_same_as_torch(stack, build)


@few
@given(arguments=block_arguments(), copies=st.tuples(st.integers(0, 2), st.integers(0, 2)))
def test_the_whole(arguments: dict[str, Any], copies: tuple[int, int]) -> None:
    """Encoder, decoder and their norms."""
    torch = imported("torch")
    arguments = {**arguments, "num_encoder_layers": copies[0], "num_decoder_layers": copies[1]}
    assert_same_as_torch(ps.Transformer(**arguments), lambda: torch.nn.Transformer(**arguments))


def test_custom_stacks() -> None:
    """A layer given as encoder or decoder stands in for the stack, under the stack's name."""
    torch = imported("torch")
    layer = ps.Transformer(8, 2, custom_encoder=ps.Dense(8, 8), num_decoder_layers=1)
    assert_same_as_torch(layer, lambda: torch.nn.Transformer(8, 2, custom_encoder=torch.nn.Linear(8, 8), num_decoder_layers=1))
    layer = ps.Transformer(8, 2, custom_decoder=ps.Dense(8, 8), num_encoder_layers=1)
    assert_same_as_torch(layer, lambda: torch.nn.Transformer(8, 2, custom_decoder=torch.nn.Linear(8, 8), num_encoder_layers=1))


@pytest.mark.parametrize("name", CLASSES[:2])
def test_an_activation_with_parameters_is_a_part(name: str) -> None:
    """Torch registers a module given as activation, after everything else; so do we with a layer."""
    torch = imported("torch")
    layer = getattr(ps, name)(8, 2, 5, activation=ps.PReLU())
    assert_same_as_torch(layer, lambda: getattr(torch.nn, name)(8, 2, 5, activation=torch.nn.PReLU()))
    with pytest.raises(ArgumentError, match="has parameters; give"):
        getattr(ps, name)(8, 2, activation=torch.nn.PReLU())
    with pytest.raises(ArgumentError, match="activation is the class GELU; give an instance"):
        getattr(ps, name)(8, 2, activation=torch.nn.GELU)
    assert getattr(ps, name)(8, 2, activation=torch.nn.GELU()).params == getattr(ps, name)(8, 2).params


def test_closed_forms() -> None:
    """The counts in letters; the number of heads cancels and the depth stays a symbol."""
    encoder, decoder = ps.TransformerEncoderLayer(H, A, F), ps.TransformerDecoderLayer(H, A, F)
    assert encoder.params == 4 * H**2 + 2 * F * H + F + 9 * H
    assert decoder.params == 8 * H**2 + 2 * F * H + F + 15 * H
    whole = ps.Transformer(H, A, L, M, F)
    assert whole.params == (L * encoder.params + M * decoder.params + 4 * H).expand()
    assert whole.params.diff(A) == 0
    assert whole.params.diff(L) == encoder.params
    assert ps.TransformerEncoder(encoder, 10**6).params == 10**6 * encoder.params
    assert next(iter(ps.TransformerEncoder(encoder, L).shapes())) == "layers.{0..L-1}.self_attn.in_proj_weight"


def test_sizes_put_in_equal_sizes_built_in() -> None:
    """``at`` gives what building with the numbers gives, written out name by name."""
    sized = ps.Transformer(H, A, L, M, F).at(H=12, A=3, L=2, M=1, F=5)
    assert sized == ps.Transformer(12, 3, 2, 1, 5)
    assert sized.shapes() == ps.Transformer(12, 3, 2, 1, 5).shapes()
    assert sized.count == sized.formula.subs({H: 12, A: 3, L: 2, M: 1, F: 5})


@pytest.mark.parametrize(
    "layer",
    [
        ps.TransformerEncoderLayer(H, A, activation="gelu"),
        ps.TransformerDecoder(ps.TransformerDecoderLayer(H, A, F, bias=False), L, norm=ps.LayerNorm(H)),
        ps.Transformer(H, A, L, custom_decoder=ps.Dense(H, H)),
    ],
    ids=["layer", "stack", "whole"],
)
def test_values(layer: ps.Layer) -> None:
    """Reading the repr back gives an equal layer, and so does pickling."""
    assert_value(layer)


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: ps.TransformerEncoderLayer(786, 12), DivisibilityError, "embed_dim 786 is not divisible by num_heads 12"),
        (lambda: ps.Transformer(10, 3), DivisibilityError, "10"),
        (lambda: ps.TransformerDecoderLayer(8, 2, 0), SizeError, "dim_feedforward is 0"),
        (lambda: ps.TransformerEncoderLayer(8, 2, dropout=1.5), ArgumentError, "a probability between 0 and 1"),
        (
            lambda: ps.TransformerEncoderLayer(8, 2, activation=ps.PReLU),
            ArgumentError,
            r"is the class PReLU; give an instance, such as PReLU\(\)",
        ),
        (lambda: ps.TransformerDecoderLayer(8, 2, activation=dict), ArgumentError, "is the class dict"),
        (lambda: ps.TransformerEncoderLayer(8, 2, activation="silu"), ArgumentError, "wanted 'relu', 'gelu', a function or a layer"),
        (lambda: ps.TransformerEncoder(ps.TransformerEncoderLayer(8, 2), -1), SizeError, "num_layers is -1"),
        (lambda: ps.TransformerEncoder(8, 2), ArgumentError, "encoder_layer is 8"),
        (lambda: ps.TransformerDecoder(ps.TransformerDecoderLayer(8, 2), 2, norm="LayerNorm"), ArgumentError, "norm is 'LayerNorm'"),
        (lambda: ps.Transformer(8, 2, num_encoder_layers=1.0), SizeError, "num_encoder_layers is 1.0"),
    ],
)
def test_wrong_input(build: Any, error: type[Exception], words: str) -> None:
    """One clear error when the layer is built."""
    with pytest.raises(error, match=words):
        build()


def test_what_comes_out() -> None:
    """The layers keep the shape they take, however many there are, and refuse another width."""
    shape = (2, 5, 8)
    layer = ps.TransformerEncoderLayer(8, 2, 3)
    assert layer.output_shape(shape) == ps.TransformerDecoderLayer(8, 2, 3).output_shape(shape) == shape
    assert ps.Transformer(8, 2).output_shape(shape) == shape
    assert ps.TransformerEncoder(layer, L).output_shape(shape) == shape
    with pytest.raises(ShapeError, match=r"axis 2 \(features\) is 7; wanted 8"):
        ps.TransformerEncoder(layer, L).output_shape((2, 5, 7))

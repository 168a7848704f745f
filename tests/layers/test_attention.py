"""Attention against torch, transformers and Flax, and as algebra."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, flax_parameters, imported
from hypothesis import given, settings, strategies as st
from strategies import assert_value
from sympy import Integer

import paramsym as ps
from paramsym import A, D, E, G, H
from paramsym.errors import ArgumentError, DivisibilityError, ShapeError, SizeError, StructureError, UnknownNameError

K, V, W = ps.dims("K V W")
few = settings(max_examples=30, deadline=None)


@st.composite
def torch_arguments(draw: st.DrawFn) -> tuple[tuple[int, int], dict[str, Any]]:
    """Draw arguments that ``torch.nn.MultiheadAttention`` takes."""
    heads = draw(st.integers(1, 6))
    width = heads * draw(st.integers(1, 7))
    inputs = st.sampled_from([None, width, 1, 5, width + 1])
    options = {
        "dropout": st.sampled_from([0.0, 0.3]),
        "bias": st.booleans(),
        "add_bias_kv": st.booleans(),
        "add_zero_attn": st.booleans(),
        "kdim": inputs,
        "vdim": inputs,
        "batch_first": st.booleans(),
    }
    return (width, heads), draw(st.fixed_dictionaries({}, optional=options))


@few
@given(torch_arguments())
def test_the_same_arguments_build_torchs_layer(arguments: tuple[tuple[int, int], dict[str, Any]]) -> None:
    """Names, shapes, order and state dict are those of ``torch.nn.MultiheadAttention``."""
    torch = imported("torch")
    positional, named = arguments
    assert_same_as_torch(ps.MultiHeadAttention(*positional, **named), lambda: torch.nn.MultiheadAttention(*positional, **named))


def test_the_signature_begins_with_torchs() -> None:
    """Argument names, order and defaults are torch's; what is ours comes by keyword."""
    import inspect

    torch = imported("torch")
    theirs = [p for p in inspect.signature(torch.nn.MultiheadAttention).parameters.values() if p.name not in {"device", "dtype"}]
    ours = [p for p in inspect.signature(ps.MultiHeadAttention).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert [(p.name, p.default) for p in ours] == [(p.name, p.default) for p in theirs]


def test_the_heads_cancel() -> None:
    """A stands in every projection and in no count."""
    attention = ps.MultiHeadAttention(H, A)
    assert attention.params == 4 * H**2 + 4 * H
    assert attention.params.diff(A) == 0
    assert A in attention.symbols
    assert [line.label for line in attention.ledger()] == ["query", "key", "value", "query", "key", "value", "", ""]
    assert all(A in line.factors for line in attention.ledger() if line.name.startswith("in_proj"))


def test_every_number_of_heads_gives_the_same_count() -> None:
    """BERT's width has 2,362,368 parameters per attention with each of its eighteen divisors (Devlin et al. 2019; torch agrees)."""
    divisors = [heads for heads in range(1, 769) if 768 % heads == 0]
    assert {ps.MultiHeadAttention(768, heads).count for heads in divisors} == {2_362_368}
    assert ps.MultiHeadAttention(H, A).at(H=768, A=12).count == 2_362_368


def test_grouped_heads_do_not_cancel() -> None:
    """With G key/value heads the derivative by A is what the algebra says."""
    params = ps.MultiHeadAttention(H, A, kv_heads=G, bias=False).params
    assert params == 2 * H**2 + 2 * G * H**2 / A
    assert params.diff(A) == -2 * G * H**2 / A**2
    assert params.subs(G, A) == 4 * H**2


def test_free_head_widths_do_not_cancel() -> None:
    """With a free head width every projection grows with A."""
    params = ps.MultiHeadAttention(H, A, head_dim=D).params
    assert params == 4 * A * D * H + 3 * A * D + H
    assert params.diff(A) == 4 * D * H + 3 * D
    assert ps.MultiHeadAttention(H, A, head_dim=D, value_head_dim=V, bias=False).params == 2 * A * D * H + 2 * A * H * V


def test_norms_of_queries_and_keys() -> None:
    """One scale for all heads, one per head, or one over the full width."""
    bare = ps.MultiHeadAttention(H, A, storage="separate", kv_heads=G, bias=False)
    shared, per_head, full = (
        ps.MultiHeadAttention(H, A, kv_heads=G, bias=False, qk_norm="rms", qk_norm_scope=scope) for scope in ("shared", "per_head", "full")
    )
    assert shared.params - bare.params == 2 * H / A
    assert per_head.params - bare.params == full.params - bare.params == H + G * H / A
    assert per_head.at(H=12, A=4, G=2).shapes()["q_norm.weight"] == (4, 3)
    assert full.at(H=12, A=4, G=2).shapes()["k_norm.weight"] == (6,)
    layer = ps.MultiHeadAttention(H, A, qk_norm="layer")
    assert list(layer.shapes())[-4:] == ["q_norm.weight", "q_norm.bias", "k_norm.weight", "k_norm.bias"]
    assert "q_norm.bias" not in ps.MultiHeadAttention(H, A, qk_norm="layer", qk_norm_bias=False).shapes()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("family", "extra", "ours"),
    [
        ("llama", {}, {}),
        ("qwen2", {}, {"query_bias": True, "key_bias": True, "value_bias": True, "output_bias": False}),
        ("qwen3", {}, {"qk_norm": "rms"}),
        ("olmo2", {}, {"qk_norm": "rms", "qk_norm_scope": "full"}),
        ("cohere", {"use_qk_norm": True}, {"qk_norm": "layer", "qk_norm_bias": False, "qk_norm_scope": "per_head"}),
        ("starcoder2", {"use_bias": True}, {"bias": True}),
    ],
)
def test_separate_storage_is_that_of_transformers(*, family: str, extra: dict[str, Any], ours: dict[str, Any], bias: bool) -> None:
    """Projections, grouped heads, free head widths and norms equal those of live language models, tensor by tensor."""
    transformers = imported("transformers")
    config = transformers.AutoConfig.for_model(
        family, hidden_size=24, num_attention_heads=6, num_key_value_heads=3, head_dim=10, attention_bias=bias, num_hidden_layers=1, **extra
    )
    config.head_dim = 10
    modeling = imported(f"transformers.models.{family}.modeling_{family}")
    cls = next(getattr(modeling, name) for name in vars(modeling) if name.lower() == f"{family}attention")
    ours = {"bias": bias, **ours}
    assert_same_as_torch(ps.MultiHeadAttention(24, 6, kv_heads=3, head_dim=10, **ours), lambda: cls(config, layer_idx=0))


def test_gates_are_those_of_transformers() -> None:
    """A gate on the heads' output is stored last (AFMoE)."""
    modeling = imported("transformers.models.afmoe.modeling_afmoe")
    config = modeling.AfmoeConfig(hidden_size=24, num_attention_heads=6, num_key_value_heads=3, head_dim=10, num_hidden_layers=1)
    layer = ps.MultiHeadAttention(24, 6, kv_heads=3, head_dim=10, bias=False, qk_norm="rms", gate=True)
    assert_same_as_torch(layer, lambda: modeling.AfmoeAttention(config, 0))


def test_fused_storage() -> None:
    """One matrix for query, key and value, as Phi-3 has it under another name; the biases there are, and no others."""
    fused = ps.MultiHeadAttention(20, 6, kv_heads=3, head_dim=5, storage="fused")
    assert fused.shapes() == {"in_proj_weight": (60, 20), "in_proj_bias": (60,), "out_proj.weight": (20, 30), "out_proj.bias": (20,)}
    partly = ps.MultiHeadAttention(H, A, key_bias=False, storage="fused")
    assert [line.label for line in partly.ledger() if line.name == "in_proj_bias"] == ["query", "value"]
    unbiased = ps.MultiHeadAttention(H, A, bias=False, storage="fused", output_bias=True)
    assert list(unbiased.shapes()) == ["in_proj_weight", "out_proj.weight", "out_proj.bias"]


def test_extra_keys_and_values() -> None:
    """``bias_k`` and ``bias_v`` are as wide as the key and value heads together."""
    layer = ps.MultiHeadAttention(12, 4, kv_heads=2, add_bias_kv=True)
    assert list(layer.shapes())[:2] == ["bias_k", "bias_v"]
    assert layer.shapes()["bias_k"] == (1, 1, 6)


@settings(max_examples=5, deadline=None)
@given(
    heads=st.integers(1, 4),
    per_head=st.integers(1, 5),
    out=st.sampled_from([None, 3]),
    width=st.integers(2, 6),
    use_bias=st.booleans(),
    normalize=st.booleans(),
)
def test_flax(*, heads: int, per_head: int, out: int | None, width: int, use_bias: bool, normalize: bool) -> None:
    """Names, shapes and order are those of ``flax.linen.MultiHeadDotProductAttention``."""
    linen = imported("flax.linen")
    module = linen.MultiHeadDotProductAttention(
        heads, qkv_features=heads * per_head, out_features=out, use_bias=use_bias, normalize_qk=normalize
    )
    layer = ps.MultiHeadAttention(
        width,
        heads,
        bias=use_bias,
        kdim=width + 1,
        vdim=width + 2,
        qkv_features=heads * per_head,
        output_dim=out,
        qk_norm="layer" if normalize else None,
        dialect="flax",
    )
    assert list(layer.shapes().items()) == flax_parameters(module, (1, 3, width), (1, 2, width + 1), (1, 2, width + 2))


def test_dialects_count_alike_where_they_store_alike() -> None:
    """With heads of width H/A all three dialects have 4*H**2 + 4*H parameters."""
    assert {ps.MultiHeadAttention(H, A, dialect=dialect).params for dialect in ("torch", "keras", "flax")} == {4 * H**2 + 4 * H}


def test_structure_is_decided_when_the_layer_is_built() -> None:
    """A key width that turns out to be the model's width would change torch's storage: ``at`` refuses and says what to build."""
    layer = ps.MultiHeadAttention(H, A, kdim=K)
    assert list(layer.shapes())[:3] == ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
    assert layer.at(H=8, A=2, K=5).count == ps.MultiHeadAttention(8, 2, kdim=5).count
    with pytest.raises(StructureError, match="in_proj_weight"):
        layer.at(K=H)
    assert next(iter(ps.MultiHeadAttention(2 * H, A, kdim=H + H).shapes())) == "in_proj_weight"


@pytest.mark.parametrize(
    "layer",
    [
        ps.MultiHeadAttention(H, A),
        ps.MultiHeadAttention(H, A, 0.1, kdim=K, vdim=V, add_bias_kv=True),
        ps.MultiHeadAttention(H, A, kv_heads=G, head_dim=D, value_head_dim=V, output_dim=W, qk_norm="rms", gate=True),
        ps.MultiHeadAttention(H, A, output_dim=(E, W), dialect="keras"),
        ps.DotProductAttention(use_scale=True),
    ],
    ids=["plain", "split", "free", "keras", "scalar"],
)
def test_values(layer: ps.Layer) -> None:
    """Reading the repr back gives an equal layer, pickling too, and putting sizes in gives what building with them gives."""
    assert_value(layer)
    sizes = {symbol.name: value for symbol, value in zip(sorted(layer.symbols, key=str), (6, 7, 2, 3, 12, 5, 9), strict=False)}
    sizes |= {name: value for name, value in {"H": 24, "A": 6, "G": 3}.items() if name in sizes}
    sized = layer.at(sizes)
    assert isinstance(sized.params, Integer)
    assert sized.formula == layer.params
    assert sized.params == layer.params.subs({symbol: sizes[symbol.name] for symbol in layer.symbols})


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (((786, 12), {}), DivisibilityError, r"embed_dim 786 is not divisible by num_heads 12 \(786 = 65\*12 \+ 6\)"),
        (((768, 12), {"kv_heads": 5}), DivisibilityError, "num_heads 12 is not divisible by kv_heads 5"),
        (((768, 12), {"qkv_features": 770}), DivisibilityError, "qkv_features 770 is not divisible by num_heads 12"),
        (((0, 1), {}), SizeError, "embed_dim is 0"),
        (((768.0, 12), {}), SizeError, "embed_dim is 768.0"),
        (((768, True), {}), SizeError, "num_heads is True"),
        ((("768", 12), {}), SizeError, "embed_dim is '768'"),
        (((768, 12), {"kdim": -1}), SizeError, "kdim is -1"),
        (((768, 12), {"bias": 1}), ArgumentError, "bias is 1"),
        (((768, 12), {"head_dim": 64, "qkv_features": 768}), ArgumentError, "both say how wide"),
        (((768, 12), {"storage": "fused", "kdim": 5}), ArgumentError, "kdim and vdim must be embed_dim"),
        (((768, 12), {"qk_norm_scope": "full"}), ArgumentError, "without qk_norm"),
        (((768, 12), {"output_dim": (3, 4)}), ArgumentError, "several output axes"),
        (((768, 12), {"dialect": "jax"}), ArgumentError, "wanted one of 'torch', 'keras', 'flax'"),
        (((768, 12), {"dialect": "keras", "add_bias_kv": True}), ArgumentError, "has no add_bias_kv"),
        (((768, 12), {"dialect": "keras", "qk_norm": "rms"}), ArgumentError, "has no qk_norm"),
        (((768, 12), {"dialect": "keras", "query_bias": False}), ArgumentError, "has no query_bias"),
        (((768, 12), {"dialect": "flax", "qk_norm": "rms"}), ArgumentError, "has no qk_norm other"),
        (((768, 12), {"dialect": "flax", "gate": True}), ArgumentError, "has no gate"),
    ],
)
def test_wrong_input(arguments: tuple[tuple[Any, ...], dict[str, Any]], error: type[Exception], words: str) -> None:
    """One clear error when the layer is built."""
    with pytest.raises(error, match=words):
        ps.MultiHeadAttention(*arguments[0], **arguments[1])


def test_a_symbol_that_is_nowhere_is_refused() -> None:
    """``at`` lists what there is; 786 with 12 heads is refused there, too."""
    with pytest.raises(UnknownNameError, match="it has A, H"):
        ps.MultiHeadAttention(H, A).at(L=3)
    with pytest.raises(DivisibilityError, match="786"):
        ps.MultiHeadAttention(H, A).at(H=786, A=12)


def test_the_gate_of_keras() -> None:
    """``use_gate`` of Keras 3.15: a projection like that of the query, as wide as the values, between key and value."""
    layer = ps.MultiHeadAttention(8, 2, gate=True, dialect="keras")
    assert list(layer.shapes())[4:8] == ["gate.kernel", "gate.bias", "value.kernel", "value.bias"]
    assert (layer.shapes()["gate.kernel"], layer.shapes()["gate.bias"]) == ((8, 2, 4), (2, 4))


def test_keras_reads_values_before_keys() -> None:
    """Keras' order is query, value, key; each has the width that its projection wants."""
    layer = ps.MultiHeadAttention(8, 2, kdim=6, vdim=4, dialect="keras")
    assert layer.output_shape(((1, 3, 8), (1, 5, 4), (1, 5, 6))) == (1, 3, 8)
    for values, keys in ((4, 7), (5, 6), (6, 4)):
        with pytest.raises(ShapeError):
            layer.output_shape(((1, 3, 8), (1, 5, values), (1, 5, keys)))


def test_flax_has_one_width_of_heads() -> None:
    """Keras' ``value_dim`` is an argument of its own; Flax' values are as wide as its queries and keys."""
    assert ps.MultiHeadAttention(8, 2, value_head_dim=3, dialect="keras").shapes()["value.kernel"] == (8, 2, 3)
    with pytest.raises(ArgumentError, match="dialect='flax' has no value_head_dim"):
        ps.MultiHeadAttention(8, 2, value_head_dim=3, dialect="flax")


def test_attention_along_two_axes() -> None:
    """It is attention along one axis with the positions of both."""
    xp = imported("numpy")
    draw = xp.random.default_rng(0)
    two, one = (ps.MultiHeadAttention(4, 2, dialect="keras", attention_axes=axes) for axes in ((1, 2), None))
    tensors, x = {name: draw.standard_normal(shape) for name, shape in one.shapes().items()}, draw.standard_normal((2, 3, 5, 4))
    expected = ps.run(one, tensors, x.reshape(2, 15, 4)).reshape(2, 3, 5, 4)
    assert xp.allclose(ps.run(two, tensors, x), expected, rtol=1e-12)


def test_norms_of_flax_have_the_width_of_a_head() -> None:
    """``flax.linen.MultiHeadDotProductAttention(normalize_qk=True)``: 8 features in 2 heads of 4."""
    shapes = ps.MultiHeadAttention(8, 2, dialect="flax", qk_norm="layer").shapes()
    assert shapes["query_ln.scale"] == shapes["key_ln.scale"] == (4,)

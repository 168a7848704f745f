"""Attention and transformers compute what the references compute, on random settings."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from frameworks import imported, widened
from running import assert_runs_as_flax, assert_runs_as_keras, assert_runs_as_torch, draws

import paramsym as ps
from paramsym.algebra.size import product


def flip(random: Random) -> bool:
    """Throw a coin."""
    return random.random() < 0.5


def test_attention_in_torch() -> None:
    """Thirty random settings each: queries alone, and keys and values of other widths; with and without a batch."""
    torch, random = imported("torch"), Random(1)
    for alone in (True, False):
        for _ in draws(30):
            heads = random.randint(1, 3)
            width = heads * random.randint(1, 4)
            kwargs: dict[str, Any] = {name: flip(random) for name in ("bias", "add_bias_kv", "add_zero_attn", "batch_first")}
            if not alone and flip(random):
                kwargs |= {"kdim": random.randint(1, 5), "vdim": random.randint(1, 5)}
            batch = random.choice([None, 1, 3])
            keys = random.randint(1, 5)
            sizes = [(4, width)] if alone else [(4, width), (keys, kwargs.get("kdim", width)), (keys, kwargs.get("vdim", width))]
            arrays = [torch.randn(*([batch] if batch else []), *size).double() for size in sizes]
            arrays = arrays if kwargs["batch_first"] or batch is None else [one.transpose(0, 1) for one in arrays]
            module = torch.nn.MultiheadAttention(width, heads, **kwargs).double().eval()
            for parameter in module.parameters():
                torch.nn.init.normal_(parameter)
            with torch.no_grad():
                wanted = module(*(arrays * 3)[:3], need_weights=False)[0]
            tensors = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
            found = ps.run(ps.MultiHeadAttention(width, heads, **kwargs), tensors, *(one.numpy() for one in arrays))
            assert found.shape == tuple(wanted.shape)
            assert abs(found - wanted.numpy()).max() < 1e-9


def arguments(random: Random) -> dict[str, Any]:
    """Draw the arguments of a transformer's layer."""
    heads = random.randint(1, 3)
    return {
        "d_model": heads * random.randint(1, 3) * 2,
        "nhead": heads,
        "dim_feedforward": random.randint(1, 9),
        "activation": random.choice(["relu", "gelu"]),
        **{name: flip(random) for name in ("batch_first", "norm_first", "bias")},
    }


@pytest.mark.filterwarnings("ignore")
def test_transformers_in_torch() -> None:
    """Thirty random settings of both layers, their stacks and the whole."""
    torch, random = imported("torch"), Random(2)
    for _ in draws(30):
        kwargs = arguments(random)
        width, batch = kwargs["d_model"], random.choice([None, 1, 2])
        source, target = (torch.randn(*([batch] if batch else []), length, width).double() for length in (3, 5))
        if batch and not kwargs["batch_first"]:
            source, target = source.transpose(0, 1), target.transpose(0, 1)
        encoder, decoder = torch.nn.TransformerEncoderLayer(**kwargs), torch.nn.TransformerDecoderLayer(**kwargs)
        ours, theirs = ps.TransformerEncoderLayer(**kwargs), ps.TransformerDecoderLayer(**kwargs)
        assert_runs_as_torch(ours, encoder, source)
        assert_runs_as_torch(theirs, decoder, target, source)
        layers = random.randint(1, 3)
        norm = torch.nn.LayerNorm(width) if flip(random) else None
        mine = None if norm is None else ps.LayerNorm(width)
        assert_runs_as_torch(ps.TransformerEncoder(ours, layers, mine), torch.nn.TransformerEncoder(encoder, layers, norm), source)
        stack = torch.nn.TransformerDecoder(decoder, layers, norm)
        assert_runs_as_torch(ps.TransformerDecoder(theirs, layers, mine), stack, target, source)
        sizes = {"num_encoder_layers": layers, "num_decoder_layers": random.randint(1, 2)}
        assert_runs_as_torch(ps.Transformer(**kwargs, **sizes), torch.nn.Transformer(**kwargs, **sizes), source, target)
    learned = torch.nn.TransformerEncoderLayer(4, 2, 6, activation=torch.nn.PReLU())
    assert_runs_as_torch(ps.TransformerEncoderLayer(4, 2, 6, activation=ps.PReLU()), learned, torch.randn(3, 2, 4).double())
    known = torch.nn.TransformerEncoderLayer(4, 2, 6, activation=torch.nn.functional.silu)
    assert_runs_as_torch(ps.TransformerEncoderLayer(4, 2, 6, activation=torch.nn.functional.silu), known, torch.randn(3, 2, 4).double())


@pytest.mark.filterwarnings("ignore")
def test_attention_in_keras() -> None:
    """Twelve random settings of each of Keras' layers: widths, axes, windows, gates, groups and scores."""
    keras, xp, random = imported("keras"), imported("numpy"), Random(3)
    for _ in draws(12):
        generator = xp.random.default_rng(random.randrange(2**32))
        inside, windowed = ((2,) if flip(random) else ()), flip(random)
        queries = 4
        keys = queries if windowed else random.randint(1, 5)
        query, value, key = (generator.standard_normal((2, *inside, n, width)) for n, width in ((queries, 6), (keys, 5), (keys, 3)))
        kwargs: dict[str, Any] = {
            "num_heads": random.randint(1, 3),
            "key_dim": random.randint(1, 4),
            "value_dim": random.choice([None, 3]),
            "use_bias": flip(random),
            "output_shape": random.choice([None, 7, (2, 3)]),
            "attention_axes": random.choice([None, 2, (1, 2)]) if inside else None,
            "sliding_window": random.randint(1, 3) if windowed and not inside else None,
            "use_gate": flip(random),
        }
        shapes = {"query": query.shape, "value": value.shape, "key": key.shape}
        ours = ps.keras.MultiHeadAttention(**kwargs, input_shape=shapes)
        assert_runs_as_keras(ours, keras.layers.MultiHeadAttention(**kwargs, dtype="float64"), query, value, key)
        query, value, key = (generator.standard_normal((2, n, width)) for n, width in ((queries, 6), (keys, 5), (keys, 3)))
        groups = random.randint(1, 2)
        kwargs = {
            "head_dim": random.randint(1, 4),
            "num_query_heads": groups * random.randint(1, 2),
            "num_key_value_heads": groups,
            "use_bias": flip(random),
            "use_gate": flip(random),
            "sliding_window": random.randint(1, 3) if windowed else None,
        }
        ours = ps.keras.GroupQueryAttention(**kwargs, input_shape={"query": query.shape, "value": value.shape, "key": key.shape})
        assert_runs_as_keras(ours, keras.layers.GroupQueryAttention(**kwargs, dtype="float64"), query, value, key)
        query, value, key = (generator.standard_normal((2, n, width)) for n, width in ((queries, 4), (keys, 5), (keys, 4)))
        given = [query, value, key] if flip(random) else [query, key]
        kwargs = {"use_scale": flip(random), "score_mode": random.choice(["dot", "concat"])}
        for name, options in (("Attention", kwargs), ("AdditiveAttention", {"use_scale": flip(random)})):
            ours = getattr(ps.keras, name)(**options, input_shape=[one.shape for one in given])
            theirs = getattr(keras.layers, name)(**options, dtype="float64")
            assert_runs_as_keras(ours, as_arguments(theirs), *given)


def as_arguments(layer: Any) -> Any:
    """Return a layer that takes its inputs one by one, and not as a list."""

    class Listed:
        @property
        def weights(self) -> Any:
            return layer.weights

        def __call__(self, *arrays: Any) -> Any:
            return layer(list(arrays))

    return Listed()


@pytest.mark.filterwarnings("ignore")
def test_attention_in_flax() -> None:
    """Ten random settings of linen's attention, on inputs of three and four axes."""
    linen, xp, random = imported("flax.linen"), imported("numpy"), Random(4)
    for _ in draws(10):
        heads = random.randint(1, 3)
        width, features, normed, bias = random.randint(2, 5), heads * random.randint(1, 3), flip(random), flip(random)
        output = random.choice([None, 4])
        generator = xp.random.default_rng(random.randrange(2**32))
        arrays = [generator.standard_normal((2, *((3,) if flip(random) else ()), 4, width))]
        arrays += [generator.standard_normal((*arrays[0].shape[:-2], 5, width))] * random.randint(0, 1)
        module = linen.MultiHeadDotProductAttention(
            heads, qkv_features=features, out_features=output, normalize_qk=normed, use_bias=bias, param_dtype="float64"
        )
        ours = ps.MultiHeadAttention(
            *(width, heads), qkv_features=features, output_dim=output, qk_norm="layer" if normed else None, bias=bias, dialect="flax"
        )
        assert_runs_as_flax(ours, module, *arrays)


@widened()
def test_latent_attention() -> None:
    """DeepSeek's attention of both versions, and what they cache."""
    torch, transformers, random = imported("torch"), imported("transformers"), Random(5)
    for version in ("V2", "V3"):
        modeling = imported(f"transformers.models.deepseek_{version.lower()}.modeling_deepseek_{version.lower()}")
        for _ in draws(6):
            heads, sizes = random.randint(1, 3), [random.randint(1, 4) for _ in range(4)]
            rank = random.choice([None, 3])
            config = getattr(transformers, f"Deepseek{version}Config")(
                hidden_size=6, num_attention_heads=heads, num_key_value_heads=heads, kv_lora_rank=sizes[0], qk_nope_head_dim=sizes[1],
                qk_rope_head_dim=2 * sizes[2], v_head_dim=sizes[3], q_lora_rank=rank, attention_bias=flip(random),
                attn_implementation="eager",
            )  # fmt: skip
            config.head_dim = config.qk_rope_head_dim
            if version == "V3":
                config.rope_interleave = flip(random)
            module = getattr(modeling, f"Deepseek{version}Attention")(config, 0).double().eval()
            x = torch.randn(2, 5, 6).double()
            turn = getattr(modeling, f"Deepseek{version}RotaryEmbedding")(config)(x, torch.arange(5)[None])
            mask = torch.full((5, 5), float("-inf")).triu(1).double()[None, None]
            cache = transformers.DynamicCache()
            with torch.no_grad():
                wanted = module(x, position_embeddings=turn, attention_mask=mask, past_key_values=cache)[0].numpy()
            ours = ps.LatentAttention(
                6, heads, sizes[0], sizes[1], 2 * sizes[2], sizes[3], rank, config.attention_bias,
                interleaved=getattr(config, "rope_interleave", True),
            )  # fmt: skip
            found = ps.run(ours, {name: tensor.numpy() for name, tensor in module.state_dict().items()}, x.numpy())
            assert abs(found - wanted).max() < 1e-9 * max(1, abs(wanted).max())
            kept = [step.operation.state(program.types[step.takes[0]]) for program in [ps.trace(ours, (2, 5, 6))] for step in program.steps
                    if type(step.operation).__name__ == "Remember"]  # fmt: skip
            sizes_kept = [cache.layers[0].keys.numel(), cache.layers[0].values.numel()]
            assert [product(one.sizes) for one in kept] == sizes_kept


@widened()
def test_experts() -> None:
    """Twenty random settings of every block of transformers, by the table in ``MixtureOfExperts``."""
    torch, transformers, random = imported("torch"), imported("transformers"), Random(6)
    for _ in draws(20):
        width, inner, shared, groups = random.randint(1, 5), random.randint(1, 4), random.randint(1, 4), random.randint(1, 3)
        stored, used = groups * random.randint(2, 4), random.randint(1, 2)
        normalised, kept, scale = flip(random), random.randint(1, groups), random.choice([1.0, 2.5])
        sizes = {"hidden_size": width, "num_experts_per_tok": used}
        common = {"experts_first": True, "weights_scale": scale, "groups": groups, "groups_per_token": kept, "shared_dim": shared * inner}
        deep = {
            **sizes, "moe_intermediate_size": inner, "n_routed_experts": stored, "n_shared_experts": shared, "n_group": groups,
            "topk_group": kept, "routed_scaling_factor": scale,
        }  # fmt: skip
        rows: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
            ("Mixtral", "SparseMoeBlock", {**sizes, "intermediate_size": inner, "num_local_experts": stored}, {}),
            (
                "Qwen2Moe",
                "SparseMoeBlock",
                {**sizes, "moe_intermediate_size": inner, "num_experts": stored, "norm_topk_prob": normalised,
                 "shared_expert_intermediate_size": shared},
                {"shared_dim": shared, "shared": "shared_expert", "shared_gate": True, "normalised": normalised},
            ),
            ("DeepseekV2", "Moe", {**deep, "topk_method": "group_limited_greedy"}, {**common, "normalised": False}),
            (
                "DeepseekV3",
                "MoE",
                {**deep, "norm_topk_prob": normalised},
                {**common, "normalised": normalised, "correction_bias": True, "scores": "sigmoid"},
            ),
            (
                "GptOss",
                "MLP",
                {**sizes, "intermediate_size": inner, "num_local_experts": stored},
                {"router": "router", "router_bias": True, "transposed": True, "expert_bias": True, "limit": 7.0},
            ),
        ]  # fmt: skip
        for family, block, settings, ours in rows:
            folder = {"Qwen2Moe": "qwen2_moe", "GptOss": "gpt_oss"}.get(family, family.lower().replace("seekv", "seek_v"))
            modeling = imported(f"transformers.models.{folder}.modeling_{folder}")
            config = getattr(transformers, f"{family}Config")(**settings, num_attention_heads=1, num_key_value_heads=1)
            config._experts_implementation = "eager"
            module = getattr(modeling, f"{family}{block}")(config).double().eval()
            for tensor in module.state_dict().values():
                torch.nn.init.normal_(tensor)
            x = torch.randn(2, 3, width).double()
            with torch.no_grad():
                wanted = module(x)
            wanted = (wanted[0] if isinstance(wanted, tuple) else wanted).numpy()
            layer = ps.MixtureOfExperts(width, inner, stored, used, **ours)
            found = ps.run(layer, {name: tensor.numpy() for name, tensor in module.state_dict().items()}, x.numpy())
            assert abs(found - wanted).max() < 1e-9 * max(1, abs(wanted).max())
    separate = ps.MixtureOfExperts(3, 2, 4, 2, storage="separate")
    stacked = ps.MixtureOfExperts(3, 2, 4, 2)
    tensors = {name: torch.randn(shape).double().numpy() for name, shape in separate.shapes().items()}
    parts = [[tensors[f"experts.{e}.{name}_proj.weight"] for e in range(4)] for name in ("gate", "up", "down")]
    together = {
        "gate.weight": tensors["gate.weight"],
        "experts.gate_up_proj": [[*gate, *up] for gate, up in zip(*parts[:2], strict=True)],
        "experts.down_proj": parts[2],
    }
    x = torch.randn(2, 3, 3).double().numpy()
    assert abs(ps.run(separate, tensors, x) - ps.run(stacked, together, x)).max() < 1e-12

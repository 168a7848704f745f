"""Convolutions, plain, transposed, depthwise and separable, compute what torch and Flax compute, on random settings."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from frameworks import imported, only_with
from running import assert_runs_as_torch, draws

import paramsym as ps

only_with("numpy")


def settings(random: Random) -> dict[str, Any]:
    """Draw arguments that torch accepts."""
    groups, padding = random.choice([1, 1, 2, 3]), random.choice([0, 1, 2, "same", "valid"])
    return {
        "in_channels": groups * random.randint(1, 3),
        "out_channels": groups * random.randint(1, 3),
        "kernel_size": random.randint(1, 4),
        "stride": 1 if padding == "same" else random.randint(1, 3),
        "padding": padding,
        "dilation": random.randint(1, 2),
        "groups": groups,
        "bias": random.random() < 0.5,
        "padding_mode": random.choice(["zeros", "reflect", "replicate", "circular"]),
    }


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_convolutions(rank: int) -> None:
    """Thirty random settings each, with and without a batch."""
    torch, random = imported("torch"), Random(rank)
    for _ in draws(30):
        drawn = settings(random)
        module = getattr(torch.nn, f"Conv{rank}d")(**drawn)
        batch = (2,) if random.random() < 0.7 else ()
        image = torch.randn(*batch, drawn["in_channels"], *(random.randint(7, 10) for _ in range(rank)), dtype=torch.float64)
        assert_runs_as_torch(getattr(ps, f"Conv{rank}d")(**drawn), module, image)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transposed(rank: int) -> None:
    """Thirty random settings each; the output is padded by less than a stride or a gap."""
    torch, random = imported("torch"), Random(rank)
    for _ in draws(30):
        drawn = {name: given for name, given in settings(random).items() if name != "padding_mode"}
        drawn |= {"padding": random.randint(0, 2), "output_padding": random.randint(0, max(drawn["stride"], drawn["dilation"]) - 1)}
        module = getattr(torch.nn, f"ConvTranspose{rank}d")(**drawn)
        batch = (2,) if random.random() < 0.7 else ()
        image = torch.randn(*batch, drawn["in_channels"], *(random.randint(5, 7) for _ in range(rank)), dtype=torch.float64)
        assert_runs_as_torch(getattr(ps, f"ConvTranspose{rank}d")(**drawn), module, image)


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_depthwise_and_separable(rank: int) -> None:
    """Ten random settings each: one group per channel, and then for separable ones a kernel of one over all channels."""
    torch, random = imported("torch"), Random(rank)
    convolution = getattr(torch.nn, f"Conv{rank}d")
    for _ in draws(10):
        drawn = settings(random)
        channels, outputs, multiplier = drawn.pop("in_channels"), drawn.pop("out_channels"), random.randint(1, 3)
        bias, _ = drawn.pop("bias"), drawn.pop("groups")
        image = torch.randn(2, channels, *(random.randint(7, 9) for _ in range(rank)), dtype=torch.float64)
        between = random.random() < 0.5
        depthwise = convolution(channels, channels * multiplier, groups=channels, bias=between, **drawn)
        ours = getattr(ps, f"DepthwiseConv{rank}d")(channels, depth_multiplier=multiplier, bias=between, **drawn)
        assert_runs_as_torch(ours, depthwise, image)
        both = torch.nn.Sequential()
        both.add_module("depthwise", depthwise)
        both.add_module("pointwise", convolution(channels * multiplier, outputs, 1, bias=bias))
        separable = getattr(ps, f"SeparableConv{rank}d")
        options = {"depth_multiplier": multiplier, "bias": bias, "depthwise_bias": between, **drawn}
        assert_runs_as_torch(separable(channels, outputs, **options), both, image)


def test_patches() -> None:
    """Ten random images, cut into patches by transformers' ViT, whose projection is a convolution."""
    torch, vit = imported("torch"), imported("transformers.models.vit.modeling_vit")
    random = Random(0)
    for _ in draws(10):
        patch, image = (random.randint(1, 3), random.randint(1, 3)), (random.randint(1, 3), random.randint(1, 3))
        extents = tuple(size * count for size, count in zip(patch, image, strict=True))
        sizes: dict[str, Any] = {"hidden_size": random.randint(1, 5), "image_size": extents, "patch_size": patch, "num_channels": 2}
        module = vit.ViTPatchEmbeddings(imported("transformers").ViTConfig(**sizes))
        assert_runs_as_torch(ps.PatchEmbedding(**sizes), module, torch.randn(2, 2, *extents, dtype=torch.float64))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose", "ConvLocal"])
def test_flax(kind: str, rank: int) -> None:
    """Four random settings each, paddings by word and by number, channels last."""
    linen, jax, xp, random = imported("flax.linen"), imported("jax"), imported("numpy"), Random(rank)
    for _ in draws(4):
        features, kernel, stride = random.randint(1, 3), tuple(random.randint(1, 3) for _ in range(rank)), random.randint(1, 3)
        image = xp.asarray(xp.random.default_rng(rank).standard_normal((2, *(random.randint(5, 6) for _ in range(rank)), 2)))
        bias, word = random.random() < 0.5, random.choice(["SAME", "VALID", "CIRCULAR"])
        padding = random.choice([word, word, random.randint(1, 2)]) if kind != "ConvLocal" else random.randint(0, 2)
        options: dict[str, Any] = {} if kind == "ConvLocal" else {"kernel_dilation": random.randint(1, 2)}
        if kind == "ConvTranspose":
            options["transpose_kernel"] = random.random() < 0.5
        given = (features, kernel, (stride,) * rank)
        module = getattr(linen, kind)(
            *given, padding=[(padding, padding)] * rank if kind == "ConvLocal" else padding, use_bias=bias, **options
        )
        shapes = jax.eval_shape(module.init, jax.random.key(0), image)["params"]
        tensors = {name: xp.random.default_rng(1).standard_normal(one.shape) for name, one in shapes.items()}
        found = ps.run(flax_layer(kind, (2, *given), image.shape[1:-1], padding, bias, options), tensors, image)
        with jax.enable_x64(True):
            wanted = xp.asarray(jax.jit(module.apply)({"params": tensors}, image))
        assert found.shape == wanted.shape
        assert abs(found - wanted).max(initial=0) < 1e-9


def flax_layer(kind: str, given: tuple[Any, ...], extents: tuple[int, ...], padding: Any, bias: bool, options: dict[str, Any]) -> ps.Layer:
    """Return ours for the arguments of a Flax module."""
    channels, features, kernel, stride = given
    if kind == "ConvLocal":
        layer: ps.Layer = getattr(ps, f"LocallyConnected{len(kernel)}d")(
            channels, features, kernel, extents, stride, padding, bias, dialect="flax"
        )
        return layer
    words = {"CIRCULAR": {"padding": "same", "padding_mode": "circular"}, "SAME": {"padding": "same"}, "VALID": {"padding": "valid"}}
    settings = {"dilation": options["kernel_dilation"], **words.get(padding, {"padding": padding})}
    turned = {"transpose_kernel": options["transpose_kernel"]} if kind == "ConvTranspose" else {}
    made: ps.Layer = getattr(ps, f"{kind}{len(kernel)}d")(
        channels, features, kernel, stride, bias=bias, dialect="flax", **settings, **turned
    )
    return made

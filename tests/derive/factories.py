"""Builds as users write them: functions of sizes that give names and shapes, thirty with a law and more that have none."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import pairwise

Shapes = dict[str, tuple[int, ...]]


def linear(name: str, inside: int, out: int, *, bias: bool = True) -> Shapes:
    return {f"{name}.weight": (out, inside)} | ({f"{name}.bias": (out,)} if bias else {})


def conv(name: str, inside: int, out: int, kernel: int, *, bias: bool = True) -> Shapes:
    return {f"{name}.weight": (out, inside, kernel, kernel)} | ({f"{name}.bias": (out,)} if bias else {})


def norm(name: str, width: int, *, bias: bool = True) -> Shapes:
    return {f"{name}.weight": (width,)} | ({f"{name}.bias": (width,)} if bias else {})


# Right ------------------------------------------------------------------------------------------------------------------------


def mlp(inputs: int = 12, width: int = 20, depth: int = 3, classes: int = 5) -> Shapes:
    """A first layer that differs, equal ones, a head."""
    found: Shapes = {}
    for i in range(depth):
        found |= linear(f"layers.{i}", inputs if i == 0 else width, width)
    return found | linear("head", width, classes)


@dataclass
class GptConfig:
    """The configuration of a small GPT."""

    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 48
    vocab_size: int = 101
    block_size: int = 32
    bias: bool = True


def min_gpt(config: GptConfig) -> Shapes:
    """A small GPT that takes a configuration."""
    if config.n_embd % config.n_head:
        message = "n_embd must be divisible by n_head"
        raise ValueError(message)
    width = config.n_embd
    found = {"wte.weight": (config.vocab_size, width), "wpe.weight": (config.block_size, width)}
    for i in range(config.n_layer):
        found |= norm(f"h.{i}.ln_1", width, bias=config.bias) | linear(f"h.{i}.attn.c_attn", width, 3 * width, bias=config.bias)
        found |= linear(f"h.{i}.attn.c_proj", width, width, bias=config.bias) | norm(f"h.{i}.ln_2", width, bias=config.bias)
        found |= linear(f"h.{i}.mlp.c_fc", width, 4 * width, bias=config.bias)
        found |= linear(f"h.{i}.mlp.c_proj", 4 * width, width, bias=config.bias)
    return found | norm("ln_f", width, bias=config.bias)


def llama(hidden: int = 64, layers: int = 3, heads: int = 8, kv_heads: int = 2, ff: int = 100, vocab: int = 120) -> Shapes:
    """Grouped queries: two divisibilities in a chain."""
    assert hidden % heads == 0
    assert heads % kv_heads == 0
    head = hidden // heads
    found: Shapes = {"embed.weight": (vocab, hidden)}
    for i in range(layers):
        found |= linear(f"layers.{i}.q", hidden, hidden, bias=False) | linear(f"layers.{i}.k", hidden, kv_heads * head, bias=False)
        found |= linear(f"layers.{i}.v", hidden, kv_heads * head, bias=False) | linear(f"layers.{i}.o", hidden, hidden, bias=False)
        found |= linear(f"layers.{i}.gate", hidden, ff, bias=False) | linear(f"layers.{i}.down", ff, hidden, bias=False)
    return found


def llama_rounded(dim: int = 96, layers: int = 2, multiple_of: int = 32) -> Shapes:
    """The first Llama's feed-forward width: two thirds of four times the width, rounded up to a multiple."""
    width = int(2 * (4 * dim) / 3)
    width = multiple_of * ((width + multiple_of - 1) // multiple_of)
    return {f"layers.{i}.w1": (width, dim) for i in range(layers)}


def unet(channels: int = 3, base: int = 24, classes: int = 2) -> Shapes:
    """A U-Net with fixed multipliers."""
    found = conv("inc", channels, base, 3)
    widths = [base * m for m in (1, 2, 4, 8)]
    for i, (one, other) in enumerate(pairwise(widths)):
        found |= conv(f"down.{i}.0", one, other, 3) | conv(f"down.{i}.1", other, other, 3)
    for i, (one, other) in enumerate(pairwise(widths[::-1])):
        found |= conv(f"up.{i}.up", one, other, 2) | conv(f"up.{i}.conv", 2 * other, other, 3)
    return found | conv("out", base, classes, 1)


def unet_deep(channels: int = 3, base: int = 8, levels: int = 3) -> Shapes:
    """A U-Net whose depth is an argument: widths double on the way down and halve on the way up."""
    found = conv("inc", channels, base, 3)
    for i in range(levels):
        found |= conv(f"down.{i}", base * 2**i, base * 2 ** (i + 1), 3)
    for i in range(levels):
        found |= conv(f"up.{i}", base * 2 ** (levels - i), base * 2 ** (levels - i - 1), 3)
    return found


def resnet(channels: int = 3, widths: tuple[int, ...] = (16, 32, 64), depths: tuple[int, ...] = (2, 2, 3), classes: int = 10) -> Shapes:
    """Stages of lists: the first block of a stage has a shortcut."""
    found = conv("stem", channels, widths[0], 7, bias=False)
    before = widths[0]
    for s, (width, depth) in enumerate(zip(widths, depths, strict=True)):
        for b in range(depth):
            found |= conv(f"stages.{s}.{b}.c1", before, width, 3, bias=False) | conv(f"stages.{s}.{b}.c2", width, width, 3, bias=False)
            if b == 0 and s > 0:
                found |= conv(f"stages.{s}.{b}.shortcut", before, width, 1, bias=False)
            before = width
    return found | linear("fc", before, classes)


def vit(image: int = 32, patch: int = 4, dim: int = 48, depth: int = 2, mlp_dim: int = 96, classes: int = 10) -> Shapes:
    """Patches that divide the image, squared."""
    assert image % patch == 0
    found: Shapes = {"cls": (1, 1, dim), "pos": (1, (image // patch) ** 2 + 1, dim)}
    found |= conv("patch", 3, dim, patch)
    for i in range(depth):
        found |= linear(f"blocks.{i}.qkv", dim, 3 * dim) | linear(f"blocks.{i}.fc1", dim, mlp_dim) | linear(f"blocks.{i}.fc2", mlp_dim, dim)
    return found | linear("head", dim, classes)


def vit_floor(image: int = 33, patch: int = 4, dim: int = 48) -> Shapes:
    """Patches that need not divide the image."""
    return {"pos": (1, (image // patch) ** 2 + 1, dim), "patch": (dim, 3, patch, patch)}


def audio_patches(frames: int = 100, bins: int = 64, patch: int = 16, stride: int = 10, dim: int = 32) -> Shapes:
    """Overlapping patches: two lengths of a convolution's output."""
    assert frames >= patch
    assert bins >= patch
    return {"pos": (1, ((frames - patch) // stride + 1) * ((bins - patch) // stride + 1), dim), "proj": (dim, patch, patch)}


def moe(vocab: int = 97, d: int = 32, layers: int = 5, ff: int = 64, experts: int = 3, dense: int = 1) -> Shapes:
    """Dense feed-forward networks up to a layer, mixtures from there on."""
    found: Shapes = {"emb.weight": (vocab, d)}
    for i in range(layers):
        found |= linear(f"layers.{i}.attn", d, d)
        if i < dense:
            found |= linear(f"layers.{i}.mlp", d, 4 * ff)
            continue
        found |= linear(f"layers.{i}.gate", d, experts, bias=False)
        for e in range(experts):
            found |= linear(f"layers.{i}.experts.{e}.up", d, ff, bias=False) | linear(f"layers.{i}.experts.{e}.down", ff, d, bias=False)
    return found


def every_second(d: int = 16, layers: int = 6, ff: int = 24) -> Shapes:
    """Two kinds of layers in turn."""
    found: Shapes = {}
    for i in range(layers):
        found |= linear(f"layers.{i}.attn", d, d)
        found |= linear(f"layers.{i}.wide", d, ff) if i % 2 else linear(f"layers.{i}.narrow", d, d)
    return found


def mixer(tokens: int = 16, dim: int = 40, depth: int = 3, token_dim: int = 20, channel_dim: int = 80) -> Shapes:
    """Two mixings per block."""
    found: Shapes = {}
    for i in range(depth):
        found |= linear(f"b.{i}.t1", tokens, token_dim) | linear(f"b.{i}.t2", token_dim, tokens)
        found |= linear(f"b.{i}.c1", dim, channel_dim) | linear(f"b.{i}.c2", channel_dim, dim)
    return found


def dense_net(start: int = 16, growth: int = 8, layers: int = 4) -> Shapes:
    """Widths that grow with the layer's number."""
    found: Shapes = {}
    for i in range(layers):
        found |= norm(f"block.{i}.norm", start + i * growth) | conv(f"block.{i}.conv", start + i * growth, growth, 3, bias=False)
    return found | norm("norm", start + layers * growth)


def gan(latent: int = 64, width: int = 16, steps: int = 4) -> Shapes:
    """Widths that halve towards the picture."""
    found = conv("first", latent, width * 2 ** (steps - 1), 4)
    for i in range(steps - 1):
        found |= conv(f"up.{i}.conv", width * 2 ** (steps - 1 - i), width * 2 ** (steps - 2 - i), 4)
        found |= norm(f"up.{i}.bn", width * 2 ** (steps - 2 - i))
    return found | conv("last", width, 3, 4)


def discriminator(width: int = 8, steps: int = 3) -> Shapes:
    """Widths that double, embedded numbers in the names."""
    found: Shapes = {}
    for i in range(steps):
        found |= conv(f"conv{i}", 3 if i == 0 else width * 2 ** (i - 1), width * 2**i, 3)
    return found


def vae(inputs: int = 28, hidden: tuple[int, ...] = (64, 32), latent: int = 8) -> Shapes:
    """A list forwards and backwards."""
    widths = [inputs, *hidden]
    found: Shapes = {}
    for i, (one, other) in enumerate(pairwise(widths)):
        found |= linear(f"enc.{i}", one, other)
    found |= linear("mu", widths[-1], latent) | linear("logvar", widths[-1], latent)
    back = [latent, *reversed(widths)]
    for i, (one, other) in enumerate(pairwise(back)):
        found |= linear(f"dec.{i}", one, other)
    return found


def lstm(vocab: int = 50, embed: int = 10, hidden: int = 12, layers: int = 2) -> Shapes:
    """Numbers at the ends of tensors' names, the first layer's width differing."""
    found: Shapes = {"emb.weight": (vocab, embed)}
    for i in range(layers):
        found |= {f"rnn.weight_ih_l{i}": (4 * hidden, embed if i == 0 else hidden), f"rnn.weight_hh_l{i}": (4 * hidden, hidden)}
        found |= {f"rnn.bias_ih_l{i}": (4 * hidden,), f"rnn.bias_hh_l{i}": (4 * hidden,)}
    return found


def sequential(width: int = 16, depth: int = 3) -> Shapes:
    """A sequence with layers that store nothing in between, and a last one of its own."""
    found: Shapes = {}
    for i in range(depth):
        found |= linear(f"net.{3 * i}", width, width) | norm(f"net.{3 * i + 1}", width)
    return found | linear(f"net.{3 * depth}", width, 10)


def relative_bias(window: int = 7, heads: int = 3, depth: int = 2) -> Shapes:
    """Swin's table: a square of an odd number."""
    return {f"blocks.{i}.table": ((2 * window - 1) ** 2, heads) for i in range(depth)}


def squeeze(channels: int = 32, ratio: int = 4) -> Shapes:
    """A quotient rounded down, at least one."""
    inner = max(1, channels // ratio)
    return conv("reduce", channels, inner, 1) | conv("expand", inner, channels, 1)


def made_divisible(channels: int = 24, classes: int = 10) -> Shapes:
    """Rounded up to a multiple of eight."""
    width = (channels + 7) // 8 * 8
    return conv("stem", 3, width, 3) | linear("head", width, classes)


def scaled(dim: int = 48, ratio: float = 2.5, depth: int = 2) -> Shapes:
    """A width times a ratio, rounded down."""
    return {f"mlp.{i}": (int(dim * ratio), dim) for i in range(depth)}


def low_rank(features: int = 64, outputs: int = 32, rank: int = 8) -> Shapes:
    """A rank no larger than either side."""
    inner = min(features, outputs, rank)
    return {"a": (inner, features), "b": (outputs, inner)}


def lora(width: int = 32, layers: int = 3, rank: int = 4) -> Shapes:
    """Low-rank additions to every layer."""
    found: Shapes = {}
    for i in range(layers):
        found |= linear(f"h.{i}.base", width, width) | {f"h.{i}.lora_A.weight": (rank, width), f"h.{i}.lora_B.weight": (width, rank)}
    return found


def skip(inside: int = 16, out: int = 32, classes: int = 4) -> Shapes:
    """A projection only where the widths differ."""
    found = conv("body", inside, out, 3)
    if inside != out:
        found |= conv("shortcut", inside, out, 1)
    return found | linear("fc", out, classes)


def pairs(n: int = 5, width: int = 8) -> Shapes:
    """Every pair once: a rational polynomial that is whole."""
    return {"pairs": (n * (n - 1) // 2 + n, width)}


def first_and_last(width: int = 8, depth: int = 4, inputs: int = 3, outputs: int = 5) -> Shapes:
    """The first and the last copy differ."""
    widths = [inputs, *[width] * (depth - 1), outputs]
    return {f"net.{i}.weight": (other, one) for i, (one, other) in enumerate(pairwise(widths))}


def reused(vocab: int = 60, width: int = 16, layers: int = 2, kernel: int = 3) -> Shapes:
    """Kernels as sizes."""
    found: Shapes = {"emb": (vocab, width)}
    for i in range(layers):
        found |= {f"conv.{i}.weight": (width, width, kernel), f"conv.{i}.bias": (width,)}
    return found


def group_norm(channels: int = 64, depth: int = 2) -> Shapes:
    """Channels that must be a multiple of 32."""
    if channels % 32:
        message = "num_channels must be divisible by num_groups"
        raise ValueError(message)
    return {f"n.{i}.w": (channels // 32, channels) for i in range(depth)}


def grid(levels: int = 3, side: int = 4, width: int = 6) -> Shapes:
    """Copies in copies."""
    found: Shapes = {}
    for i in range(levels):
        for j in range(side):
            found[f"l.{i}.c.{j}.w"] = (width, side)
    return found


def pyramid(levels: int = 3, width: int = 6) -> Shapes:
    """As many copies inside as the number of the copy outside."""
    found: Shapes = {}
    for i in range(levels):
        for j in range(i + 1):
            found[f"l.{i}.c.{j}.w"] = (width, i + 1)
    return found


RIGHT = (
    mlp, min_gpt, llama, llama_rounded, unet, unet_deep, resnet, vit, vit_floor, audio_patches, moe, every_second, mixer, dense_net,
    gan, discriminator, vae, lstm, sequential, relative_bias, squeeze, made_divisible, scaled, low_rank, lora, skip, pairs,
    first_and_last, reused, group_norm, grid, pyramid,
)  # fmt: skip


# To be refused ----------------------------------------------------------------------------------------------------------------


def square_root(width: int = 16) -> Shapes:
    """A square root."""
    return {"w": (math.isqrt(width), width)}


def logarithm(width: int = 16) -> Shapes:
    """A logarithm."""
    return {"w": (width.bit_length(), width)}


def threshold(width: int = 16) -> Shapes:
    """Another law from a size on."""
    return {"w": (width if width < 500 else 2 * width,)}


def far_threshold(width: int = 16) -> Shapes:
    """Another law from a large size on."""
    return {"w": (width if width < 60000 else width + 1,)}


def chance(width: int = 16) -> Shapes:
    """A size by chance."""
    return {"w": (width + random.randint(0, 1),)}


def chance_depth(width: int = 16, depth: int = 3) -> Shapes:
    """A number of copies by chance."""
    return {f"w.{i}": (width,) for i in range(depth + random.randint(0, 2))}


def collatz(width: int = 16) -> Shapes:
    """A depth that depends on the data: as many copies as a walk has steps."""
    found, n, i = {}, width, 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        found[f"w.{i}"] = (width,)
        i += 1
    return found | {"out": (width,)}


def primes(width: int = 16) -> Shapes:
    """The largest prime factor."""
    best = max(p for p in range(1, width + 1) if width % p == 0 and all(p % q for q in range(2, math.isqrt(p) + 1)))
    return {"w": (best, width)}


def parity_names(width: int = 16) -> Shapes:
    """Other tensors for odd sizes."""
    return {"even.w": (width,)} if width % 2 == 0 else {"odd.w": (width,)}


def next_power(width: int = 16) -> Shapes:
    """The next power of two."""
    return {"w": (1 << (width - 1).bit_length(), 4)}


def fibonacci(width: int = 4, depth: int = 5) -> Shapes:
    """Widths that grow as the Fibonacci numbers."""
    one, other, found = width, width, {}
    for i in range(depth):
        found[f"l.{i}.w"] = (other, one)
        one, other = other, one + other
    return found


def secret(width: int = 16, depth: int = 3) -> Shapes:
    """One exception that only the code shows."""
    return {f"l.{i}.w": (width if width != 7777 else 1, 3) for i in range(depth)}


REFUSED = (
    square_root, logarithm, threshold, far_threshold, chance, chance_depth, collatz, primes, parity_names, next_power, fibonacci, secret,
)  # fmt: skip

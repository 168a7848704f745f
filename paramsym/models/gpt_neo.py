"""GPT-Neo (Black et al. 2021). Reference: ``transformers.models.gpt_neo`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any

from paramsym.algebra.size import Count, Dim
from paramsym.algebra.symbols import A, F, H, L, P
from paramsym.atlas.values import refused, shown, whole
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import ArgumentError, ConfigError
from paramsym.models.blocks import PreNorm, RotatedAttention, feed_forward, inward_and_out
from paramsym.models.decoder import Decoder
from paramsym.models.gpt import SUMMARY, positioned
from paramsym.models.key_kinds import Flag, Function, Key, Real, Sizes, Whole
from paramsym.models.model import LANGUAGE, classes, family, key

MOST = 1024
"""The most layers whose kinds of attention may be listed one by one."""


class GptNeo(Decoder):
    """GPT-Neo and its heads, as the reference class ``architecture`` stores them.

    Of the matrices of attention, the output alone has a bias. ``attention_layers`` are the alternating kinds of layers: a ``local`` one
    sees ``window_size`` positions, a ``global`` one all earlier ones. Each layer keeps a mask of P*P entries that is not saved.

    >>> GptNeo().params
    12*H**2*L + 10*H*L + H*P + H*V + 2*H
    >>> GptNeo(architecture="GPTNeoForCausalLM").at("EleutherAI/gpt-neo-125m").params
    125198592
    """

    max_position_embeddings: Dim = key(P, 2048)
    hidden_size: Dim = key(H, 2048)
    num_layers: Count = key(L, 24, least=0)
    num_heads: Dim = key(A, 16, divides="hidden_size")
    intermediate_size: Dim | None = key(F, None, argument=None)
    activation_function: str = key(Function("gelu_new"))
    architecture: str = classes({"GPTNeo": LANGUAGE})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    layer_norm_epsilon: float = key(Real(1e-5))
    attention_layers: tuple[str, ...] = ("global", "local")
    window_size: Dim | None = key(Whole(256))
    attention_dropout: float = key(Real(0.0))
    resid_dropout: float = key(Real(0.0))
    embed_dropout: float = key(Real(0.0))

    heads = ("num_heads", "hidden_size")
    depth = "num_layers"
    base_name = "transformer"
    stem = ("wte", "h", "ln_f")
    classifier_name = "classifier"

    def conditions(self) -> None:
        super().conditions()
        if not self.attention_layers or not set(self.attention_layers) <= {"global", "local"}:
            raise ArgumentError(f"attention_layers is {self.attention_layers!r}; wanted one or more of 'global' and 'local'.")

    def base(self) -> Layer:
        return positioned(self, self.max_position_embeddings, self.embed_dropout)

    def blocks(self) -> Layer:
        return self.in_turn(self.block, self.attention_layers)

    def block(self, kind: str = "global") -> PreNorm:
        width = self.hidden_size
        inner = 4 * width if self.intermediate_size is None else self.intermediate_size
        window = self.window_size if kind == "local" else None
        matrices = inward_and_out(width, (self.num_heads, self.head_width()), bias=False)
        how: dict[str, Any] = {"output": "out_proj", "window": window, "scale": 1.0, "dropout": self.attention_dropout}
        attention = MaskedAttention(matrices, self.max_position_embeddings, **how)
        mlp = feed_forward(width, inner, self.activation_function)
        layers = {"ln_1": self.norm(), "attn": Sequential(attention=attention), "ln_2": self.norm(), "mlp": mlp}
        return PreNorm(layers, names=("ln_1", "attn", "ln_2", "mlp"), dropped=(self.resid_dropout, self.resid_dropout))


class MaskedAttention(RotatedAttention):
    """Causal attention with a mask ``bias`` of all positions, a buffer that is not saved.

    >>> MaskedAttention({}, P).params
    0
    """

    positions: Dim
    wide = False
    remembers = True

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("bias", (1, 1, self.positions, self.positions), role="statistic", buffer=True, persistent=False)


class AttentionTypes(Key):
    """Patterns of layers with their numbers of repetitions: ``[[["global", "local"], 12]]``, which is also the meaning of null."""

    def read(self, value: Any, where: str, _: Sizes, /) -> tuple[tuple[tuple[str, ...], int], ...]:
        if value is None:
            return ((("global", "local"), 12),)
        if not isinstance(value, list | tuple):
            raise refused(value, where, "a list such as [[['global', 'local'], 12]]")
        return tuple(_pattern(item, f"{where}[{position}]") for position, item in enumerate(value))


def _pattern(item: Any, where: str) -> tuple[tuple[str, ...], int]:
    if not isinstance(item, list | tuple) or len(item) != 2 or not isinstance(item[0], list | tuple):
        raise refused(item, where, "a pattern and a number, such as [['global', 'local'], 12]")
    for kind in item[0]:
        if not isinstance(kind, str) or kind not in {"global", "local"}:
            raise ConfigError(f"{where} names {shown(kind)}; layers are 'global' or 'local'.")
    return tuple(item[0]), whole(item[1], f"{where}[1]", 0)


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Check one kind of attention per layer, as in the reference, and keep the shortest pattern."""
    patterns = [(kinds, times) for kinds, times in arguments.pop("attention_types") if kinds and times]
    layers = sum(len(kinds) * times for kinds, times in patterns)
    if layers != sizes[L]:
        raise ConfigError(f"this configuration cannot be built. attention_types describes {layers} layers, and num_layers is {sizes[L]}.")
    if max((len(kinds) for kinds, _ in patterns), default=0) > MOST or (len(patterns) > 1 and layers > MOST):
        raise ConfigError(f"attention_types lists more than {MOST} layers one by one; fewer can be built, or one pattern that is repeated.")
    listed = patterns[0][0] if len(patterns) == 1 else tuple(kind for kinds, times in patterns for kind in kinds * times)
    period = next((n for n in range(1, len(listed)) if listed == listed[:n] * (len(listed) // n)), len(listed))
    arguments["attention_layers"] = listed[:period] or ("global", "local")


_DEFAULTS = {"vocab_size": 50257, "attention_types": AttentionTypes()}
_IGNORED = f"attention_layers gradient_checkpointing_every {SUMMARY}"
FAMILIES = (family("gpt_neo", GptNeo, "", _DEFAULTS, _settle, ignored=_IGNORED),)

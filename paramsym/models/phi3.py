"""Phi-3 and Phi-4 (Microsoft 2024: arXiv:2404.14219, arXiv:2412.08905). Reference: ``transformers.models.phi3`` 5.23."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from paramsym.algebra.size import Dim, cat
from paramsym.algebra.symbols import A, D, H
from paramsym.errors import ConfigError
from paramsym.layers.dense import Dense
from paramsym.models.activations import learned
from paramsym.models.blocks import Holder, PreNorm, RotatedAttention, activation
from paramsym.models.decoder import RmsDecoder
from paramsym.models.key_kinds import Function, Real, Sizes, Whole
from paramsym.models.model import classes, family, key
from paramsym.models.rope import rope_arguments
from paramsym.program import Own, Value, heads, segments


class Phi3(RmsDecoder):
    """Phi-3, Phi-4 and their heads, as the reference class ``architecture`` stores them: Llama's matrices, fused.

    Queries, keys and values are one matrix, gate and up another. ``rotary_dim`` entries of a head are rotated, all if it is None.

    >>> Phi3().params
    3*F*H*L + 2*H**2*L + 2*H*L + H*V + H + 2*G*H**2*L/A
    >>> Phi3(architecture="Phi3ForCausalLM").at("microsoft/Phi-3-mini-4k-instruct").params
    3821079552
    """

    hidden_act: str = key(Function("silu"))
    architecture: str = classes({"Phi3": "Model ForCausalLM ForSequenceClassification ForTokenClassification"})
    _: KW_ONLY
    rms_norm_eps: float = key(Real(1e-5))
    sliding_window: Dim | None = key(Whole())
    resid_pdrop: float = key(Real(0.0))

    def block(self) -> PreNorm:
        width, inner, (query, key) = self.hidden_size, self.intermediate_size, self.sliced()
        fused = Dense(width, cat(query=query, key=key, value=key), bias=False)
        matrices = {"o_proj": Dense(query, width, bias=False), "qkv_proj": fused}  # the output first, as the reference stores it
        attention = FusedAttention(matrices, window=self.sliding_window, partly=True, dropout=self.attention_dropout)
        up, down = Dense(width, cat(gate=inner, up=inner), bias=False), Dense(inner, width, bias=False)
        mlp = FusedGated({"gate_up_proj": up, "down_proj": down, **learned("activation_fn", self.hidden_act)}, self.hidden_act)
        return self.pre_norm(attention, mlp, dropped=self.resid_pdrop)


class FusedAttention(RotatedAttention):
    """Rotated attention with queries, keys and values from one product, ``qkv_proj``."""

    def projected(self, own: Own, x: Value) -> tuple[Value, Value, Value]:
        query, key, value = map(heads, segments(own.qkv_proj(x)))
        return query, key, value


class FusedGated(Holder):
    """A gated feed-forward network with gate and up projection from one product, ``gate_up_proj``."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        gate, up = segments(own.gate_up_proj(x))
        return own.down_proj(up * activation(own, self.function, gate, "activation_fn"))


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Add the number of positions before scaling, a separate key, to the rotation; every kind except the plain one is "longrope"."""
    original = arguments.pop("original_max_position_embeddings")
    for name in ("rope_scaling", "rope_parameters"):
        found = arguments.get(name)
        if found is not None and found["kind"] != "default":
            if found["kind"] not in {"longrope", "su", "yarn"}:
                raise ConfigError(f"{name}: rope_type is {found['kind']!r}; phi3 knows default and longrope.")
            arguments[name] = {**found, "kind": "longrope", "numbers": {**found["numbers"], "original_positions": original}}
    rope_arguments(partial=True)(arguments, sizes)
    check_factors(arguments, sizes)


def check_factors(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Raise ``ConfigError`` unless "longrope" has a factor for every two entries of a head that are rotated."""
    rotated: Any = arguments.get("rotary_dim", sizes[D] if arguments.get("head_dim") == D else sizes[H] // sizes[A])
    pairs = (rotated if isinstance(rotated, int) else sizes[rotated]) // 2
    for name in ("short_factor", "long_factor"):
        given = len(getattr(arguments["rope"], name))
        if arguments["rope"].kind == "longrope" and given != pairs:
            raise ConfigError(f"rope_parameters: {name} has {given} numbers; wanted {pairs}, one for every two entries that are rotated.")


_POSITIONS = {"max_position_embeddings": 4096, "original_max_position_embeddings": Whole(4096)}
_DEFAULTS = {"pad_token_id": 32000, "V": 32064, "H": 3072, "F": 8192, **_POSITIONS}
FAMILIES = (family("phi3", Phi3, "", _DEFAULTS, _settle),)

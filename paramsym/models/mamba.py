"""Mamba and Mamba-2 (Gu and Dao 2023, arXiv:2312.00752; Dao and Gu 2024, arXiv:2405.21060).

References: ``transformers.models.mamba`` and ``mamba2`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from math import inf
from typing import Any, Literal

from paramsym.algebra.size import Count, Dim
from paramsym.algebra.symbols import A, D, F, G, H, K, L, N, R, V, dims
from paramsym.atlas.published import published_in
from paramsym.atlas.values import refused, whole
from paramsym.core.declared import Declared
from paramsym.core.layer import Part, Tensor
from paramsym.errors import ConfigError
from paramsym.layers.mamba import Mamba, Mamba2
from paramsym.layers.normalization import RMSNorm
from paramsym.models.activations import Activation
from paramsym.models.blocks import Residual
from paramsym.models.decoder import Decoder
from paramsym.models.key_kinds import Flag, Function, Key, Real, Sizes, Whole
from paramsym.models.model import classes, family, key
from paramsym.program import Own, Value

EXPAND = dims("e")
"""The ratio of the inner width to the hidden size."""


class _Rank(Key):
    """The rank of the time step: "auto", or a size."""

    default: str = "auto"

    def check(self, value: Any, where: str, sizes: Sizes, /) -> Any:
        if value == "auto":
            return "auto"
        sizes[R] = whole(value, where, 1)
        return R


class _Limits(Key):
    """The least and the largest time step; the second may be infinite."""

    default: tuple[float, float] = (0.0, inf)

    def check(self, value: Any, where: str, _: Sizes, /) -> tuple[float, float]:
        """Return both numbers; files without a number for infinity write a word, or ``{"__float__": "Infinity"}``."""
        listed = value if isinstance(value, list | tuple) else ()
        found = [inf if one in ("inf", "Infinity", {"__float__": "Infinity"}) else one for one in listed]
        if len(found) != 2 or any(isinstance(one, bool) or not isinstance(one, int | float) for one in found) or not found[0] <= found[1]:
            raise refused(value, where, "the least and the greatest time step, two numbers")
        return float(found[0]), float(found[1])


class _StateSpace(Decoder):
    """The common base of both generations: the keys, the names, and a block of one norm and one mixer; abstract."""

    vocab_size: Dim = key(V, 50280)
    hidden_size: Dim = key(H, 768)
    num_hidden_layers: Count = key(L, 32, least=0)
    state_size: Dim = key(N, 16)
    conv_kernel: Dim = key(K, 4)
    expand: Dim = key(EXPAND, 2)
    use_bias: bool = key(Flag())
    use_conv_bias: bool = key(Flag(default=True))
    hidden_act: str = key(Function("silu"))
    _: KW_ONLY
    layer_norm_epsilon: float = key(Real(1e-5))

    base_name = "backbone"
    stem = ("embeddings", "layers", "norm_f")
    normalised = RMSNorm

    def block(self) -> Residual:
        mixer = self.mixer()
        activated = mixer if self.hidden_act == mixer.hidden_act else ActivatedMixer(mixer, self.hidden_act)
        return Residual({"norm": self.norm(), "mixer": activated}, branches=(("norm", "mixer"),))

    def mixer(self) -> Mamba | Mamba2:
        raise NotImplementedError


class MambaLM(_StateSpace):
    """Mamba as a language model, as the reference class ``architecture`` stores it.

    The inner width is e*H, or ``intermediate_size``. The rank of the time step is the ceiling of H/16 where ``time_step_rank`` is "auto".

    >>> MambaLM(expand=2, time_step_rank=R).params
    6*H**2*L + 2*H*K*L + 6*H*L*N + 4*H*L*R + 7*H*L + H*V + H
    >>> MambaLM(architecture="MambaForCausalLM").at("state-spaces/mamba-130m-hf").params
    129135360
    """

    intermediate_size: Dim | None = key(F, None, argument=None)
    time_step_rank: Dim | Literal["auto"] = key(_Rank())
    architecture: str = classes({"Mamba": "Model ForCausalLM"})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))

    def mixer(self) -> Mamba:
        return Mamba(
            *(self.hidden_size, self.state_size, self.conv_kernel, self.expand),
            time_step_rank=self.time_step_rank,
            use_bias=self.use_bias,
            use_conv_bias=self.use_conv_bias,
            intermediate_size=self.intermediate_size,
        )


class Mamba2LM(_StateSpace):
    """Mamba-2 as a language model, as the reference class ``architecture`` stores it.

    ``head_dim`` is e*H/A; if it is given, it is checked. The recurrence is computed in chunks of ``chunk_size`` positions; time steps are
    kept within ``time_step_limit``.

    Raises:
        DivisibilityError: heads that do not divide the inner width.
        SizeError: a ``head_dim`` that is not e*H/A.

    >>> Mamba2LM(expand=2).params.coeff(L).coeff(H, 2)
    6
    >>> Mamba2LM(architecture="Mamba2ForCausalLM", tie_word_embeddings=True, head_dim=D).at("AntonV/mamba2-1.3b-hf").params
    1343757312
    """

    vocab_size: Dim = key(V, 32768)
    hidden_size: Dim = key(H, 4096)
    num_hidden_layers: Count = key(L, 64, least=0)
    num_heads: Dim = key(A, 128)
    head_dim: Dim | None = key(D, 64, argument=None)
    state_size: Dim = key(N, 128)
    n_groups: Dim = key(G, 8)
    architecture: str = classes({"Mamba2": "Model ForCausalLM"})
    _: KW_ONLY
    chunk_size: Dim = key(Whole(256))
    time_step_limit: tuple[float, float] = key(_Limits())

    published, claims = published_in("mamba2")

    def mixer(self) -> Mamba2:
        return Mamba2(
            *(self.hidden_size, self.num_heads, self.head_dim, self.state_size, self.conv_kernel, self.expand, self.n_groups),
            use_bias=self.use_bias,
            use_conv_bias=self.use_conv_bias,
            chunk_size=self.chunk_size,
            time_step_limit=self.time_step_limit,
            layer_norm_epsilon=self.layer_norm_epsilon,
        )


class ActivatedMixer(Declared):
    """A state-space layer with another activation; one with parameters is stored after (Mamba) or before (Mamba-2) the convolution.

    Its trained parameters are used here; the reference's path without kernels makes a new activation for every call and ignores them.

    >>> (ActivatedMixer(Mamba(H), "prelu").params - Mamba(H).params).expand()
    1
    """

    mixer: Mamba | Mamba2
    function: str

    def tensors(self) -> Iterator[Tensor]:
        yield from self.mixer.own_tensors

    def forward(self, own: Own, x: Value) -> Value:
        return self.mixer.forward(own, x)

    def parts(self) -> Iterator[Part]:
        first, *rest = self.mixer.own_parts
        act = Part("act", Activation(self.function))
        yield from (first, act) if isinstance(self.mixer, Mamba) else (act, first)
        yield from rest


def _check_heads(_: dict[str, Any], sizes: Sizes) -> None:
    heads, width, ratio, hidden = (sizes[letter] for letter in (A, D, EXPAND, H))
    if heads * width != ratio * hidden:
        message = f"this configuration cannot be built. num_heads {heads} * head_dim {width} is not expand {ratio} * hidden_size {hidden}."
        raise ConfigError(message)


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """An inner width that equals the expanded one needs no separate letter."""
    if sizes.get(F) == sizes[EXPAND] * sizes[H]:
        arguments["intermediate_size"] = None
        del sizes[F]
    if arguments["intermediate_size"] is not None:
        arguments["expand"] = sizes.pop(EXPAND)


_IGNORED = (
    "residual_in_fp32 rescale_prenorm_residual use_mambapy use_associative_scan time_step_scale time_step_min time_step_max"
    " time_step_init_scheme time_step_floor layer_types d_model d_inner n_layer ssm_cfg fused_add_norm rms_norm"
    " norm_before_gate pad_vocab_size_multiple"
)
FAMILIES = (
    family("mamba", MambaLM, "", {}, _settle, ignored=f"{_IGNORED} chunk_size time_step_limit"),
    family("mamba2", Mamba2LM, "", {}, _check_heads, ignored=f"{_IGNORED} time_step_rank intermediate_size"),
)

"""Mamba and Mamba-2 (Gu and Dao 2023, arXiv:2312.00752; Dao and Gu 2024, arXiv:2405.21060).

References: ``transformers.models.mamba`` and ``mamba2`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Sequential
from paramsym.errors import ConfigError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.embedding import Embedding
from paramsym.layers.mamba import Mamba, Mamba2
from paramsym.layers.normalization import RMSNorm
from paramsym.models.activations import Activation, check_activation
from paramsym.models.blocks import Holder
from paramsym.models.decoder import Decoder, decoder_family
from paramsym.models.keys import Flag, Key, Real, Size, Sizes, Whole, Word, shown, whole
from paramsym.models.published import published_in
from paramsym.program import Own, Value
from paramsym.size import Count, Dim
from paramsym.symbols import A, D, F, G, H, K, L, N, R, V, dims

Architecture = Literal["MambaModel", "MambaForCausalLM"]
Architecture2 = Literal["Mamba2Model", "Mamba2ForCausalLM"]
EXPAND = dims("e")
"""How many times the hidden width the inner width is."""


class _StateSpace(Decoder):
    """What both generations share: the names, and a block of one scale and one mixer; abstract."""

    hidden_act: str
    layer_norm_epsilon: float

    base_name: ClassVar[str] = "backbone"
    table_name: ClassVar[str] = "embeddings"

    def conditions(self) -> None:
        """The reference knows the activation."""
        check_activation(self.hidden_act, "hidden_act")

    def base(self) -> Sequential:
        """The table, the blocks, the last scale."""
        return Sequential(embeddings=Embedding(self.vocab_size, self.hidden_size), layers=self.blocks(), norm_f=self.norm())

    def norm(self) -> RMSNorm:
        """A scale for each entry."""
        return RMSNorm(self.hidden_size, self.layer_norm_epsilon)

    def block(self, kind: str = "full_attention") -> MixerBlock:  # noqa: ARG002 - there is one kind
        """A scale, then the mixer."""
        mixer = self.mixer()
        activated = mixer if self.hidden_act == mixer.hidden_act else ActivatedMixer(mixer, self.hidden_act)
        return MixerBlock({"norm": self.norm(), "mixer": activated})

    def mixer(self) -> Mamba | Mamba2:
        """Return the state-space layer."""
        raise NotImplementedError


@dataclass(frozen=True)
class MambaLM(_StateSpace):
    """Mamba as a language model, as the reference class ``architecture`` stores it.

    The arguments are the keys of the reference's configuration. The base model stores a table of V*H; L blocks of one scale of H and one
    ``Mamba`` layer with N states, a convolution of K and an inner width of e*H (or ``intermediate_size``); and a last scale of H. The
    rank of the time step is the ceiling of H/16 where ``time_step_rank`` is "auto".

    Raises:
        ArgumentError: an activation or architecture that the reference does not know.

    >>> MambaLM(expand=2, time_step_rank=R).params
    6*H**2*L + 2*H*K*L + 6*H*L*N + 4*H*L*R + 7*H*L + H*V + H
    >>> MambaLM(architecture="MambaForCausalLM").at("state-spaces/mamba-130m-hf").params
    129135360
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    state_size: Dim = N
    conv_kernel: Dim = K
    expand: Dim = EXPAND
    intermediate_size: Dim | None = None
    time_step_rank: Dim | Literal["auto"] = "auto"
    use_bias: bool = False
    use_conv_bias: bool = True
    hidden_act: str = "silu"
    tie_word_embeddings: bool = True
    architecture: Architecture = "MambaModel"
    _: KW_ONLY
    layer_norm_epsilon: float = 1e-5

    num_labels: ClassVar[None] = None  # type: ignore[misc]  # fixed here
    published, claims = published_in("mamba")

    def mixer(self) -> Mamba:
        """The selective state-space layer."""
        return Mamba(
            *(self.hidden_size, self.state_size, self.conv_kernel, self.expand),
            time_step_rank=self.time_step_rank,
            use_bias=self.use_bias,
            use_conv_bias=self.use_conv_bias,
            intermediate_size=self.intermediate_size,
        )


@dataclass(frozen=True)
class Mamba2LM(_StateSpace):
    """Mamba-2 as a language model, as the reference class ``architecture`` stores it.

    The arguments are the keys of the reference's configuration. The base model stores a table of V*H; L blocks of one scale of H and one
    ``Mamba2`` layer with A heads, N states in G groups, a convolution of K and an inner width of e*H; and a last scale of H. ``head_dim``
    is e*H/A; where it is given, it is checked. The recurrence is computed in chunks of ``chunk_size`` positions; time steps are kept within
    ``time_step_limit``.

    Raises:
        DivisibilityError: heads that do not divide the inner width.
        SizeError: a ``head_dim`` that is not e*H/A.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Mamba2LM(expand=2).params.coeff(L).coeff(H, 2)
    6
    >>> Mamba2LM(architecture="Mamba2ForCausalLM", tie_word_embeddings=True, head_dim=D).at("AntonV/mamba2-1.3b-hf").params
    1343757312
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_heads: Dim = A
    head_dim: Dim | None = None
    state_size: Dim = N
    n_groups: Dim = G
    conv_kernel: Dim = K
    expand: Dim = EXPAND
    use_bias: bool = False
    use_conv_bias: bool = True
    hidden_act: str = "silu"
    tie_word_embeddings: bool = False
    architecture: Architecture2 = "Mamba2Model"
    _: KW_ONLY
    layer_norm_epsilon: float = 1e-5
    chunk_size: Dim = 256
    time_step_limit: tuple[float, float] = (0.0, inf)

    num_labels: ClassVar[None] = None  # type: ignore[misc]  # fixed here
    published, claims = published_in("mamba2")

    def mixer(self) -> Mamba2:
        """The state-space layer with heads."""
        return Mamba2(
            *(self.hidden_size, self.num_heads, self.head_dim, self.state_size, self.conv_kernel, self.expand, self.n_groups),
            use_bias=self.use_bias,
            use_conv_bias=self.use_conv_bias,
            chunk_size=self.chunk_size,
            time_step_limit=self.time_step_limit,
            layer_norm_epsilon=self.layer_norm_epsilon,
        )


@dataclass(frozen=True)
class MixerBlock(Holder):
    """What ``mixer`` makes of the normalised positions, added to what passes by; the reference may do that in single precision."""

    def forward(self, own: Own, x: Value) -> Value:
        """The mixer behind the norm, and the input."""
        return x + own.mixer(own.norm(x))


@dataclass(frozen=True)
class ActivatedMixer(Layer):
    """A state-space layer with another activation; one that learns is stored after (Mamba) or before (Mamba-2) the convolution.

    What it learned is used here; the reference's path without kernels makes a fresh activation for every call and overlooks it.

    >>> (ActivatedMixer(Mamba(H), "prelu").params - Mamba(H).params).expand()
    1
    """

    mixer: Mamba | Mamba2
    function: str

    def tensors(self) -> Iterator[Tensor]:
        """The layer's own."""
        yield from self.mixer.own_tensors

    def forward(self, own: Own, x: Value) -> Value:
        """What the layer computes, with its tensors and parts."""
        return self.mixer.forward(own, x)

    def parts(self) -> Iterator[Part]:
        """The layer's parts, and the activation next to the convolution."""
        first, *rest = self.mixer.own_parts
        act = Part("act", Activation(self.function))
        yield from (first, act) if isinstance(self.mixer, Mamba) else (act, first)
        yield from rest


class _Rank:
    """The key of the time step's rank: "auto", or a size."""

    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> Any:
        """Return the word, or the letter."""
        if value == "auto":
            return "auto"
        sizes[R] = whole(value, where, 1)
        return R

    def missing(self, sizes: Sizes) -> str:
        """Return the word."""
        del sizes
        return "auto"


class _Limits:
    """The key of the least and the greatest time step, of which the second one may be infinite."""

    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> tuple[float, float]:
        """Return both numbers; files without a number for infinity write a word, or ``{"__float__": "Infinity"}``."""
        del sizes
        listed = value if isinstance(value, list | tuple) else ()
        found = [inf if one in ("inf", "Infinity", {"__float__": "Infinity"}) else one for one in listed]
        if len(found) != 2 or any(isinstance(one, bool) or not isinstance(one, int | float) for one in found) or not found[0] <= found[1]:
            message = f"{where} is {shown(value)}; wanted the least and the greatest time step, two numbers."
            raise ConfigError(message)
        return float(found[0]), float(found[1])

    def missing(self, sizes: Sizes) -> tuple[float, float]:
        """Return the default."""
        del sizes
        return 0.0, inf


def _check_heads(arguments: dict[str, Any], sizes: Sizes) -> None:
    """The heads make up the inner width, as the reference checks."""
    del arguments
    if sizes[A] * sizes[D] != sizes[EXPAND] * sizes[H]:
        message = (
            "this configuration cannot be built."
            f" num_heads {sizes[A]} * head_dim {sizes[D]} is not expand {sizes[EXPAND]} * hidden_size {sizes[H]}."
        )
        raise ConfigError(message)


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """An inner width that is the expanded one needs no letter of its own."""
    if sizes.get(F) == sizes[EXPAND] * sizes[H]:
        arguments["intermediate_size"] = None
        del sizes[F]
    if arguments["intermediate_size"] is not None:
        arguments["expand"] = sizes.pop(EXPAND)


def _keys(vocab_size: int, width: int, layers: int, states: int, *, tied: bool, **own: Key) -> dict[str, Key]:
    return {
        "vocab_size": Size(V, vocab_size),
        "hidden_size": Size(H, width),
        "num_hidden_layers": Size(L, layers, least=0),
        "state_size": Size(N, states),
        "conv_kernel": Size(K, 4),
        "expand": Size(EXPAND, 2),
        "use_bias": Flag(default=False),
        "use_conv_bias": Flag(default=True),
        "hidden_act": Word("silu"),
        "tie_word_embeddings": Flag(default=tied),
        "layer_norm_epsilon": Real(1e-5),
        **own,
    }


_IGNORED = (
    "residual_in_fp32 rescale_prenorm_residual use_mambapy use_associative_scan time_step_scale time_step_min time_step_max"
    " time_step_init_scheme time_step_floor layer_types d_model d_inner n_layer ssm_cfg fused_add_norm rms_norm"
    " norm_before_gate pad_vocab_size_multiple"
)
FAMILIES = (
    decoder_family(
        "mamba",
        MambaLM,
        get_args(Architecture),
        _keys(50280, 768, 32, 16, tied=True, time_step_rank=_Rank(), intermediate_size=Size(F, None, null=True)),
        _settle,
        ignored=f"{_IGNORED} chunk_size time_step_limit",
    ),
    decoder_family(
        "mamba2",
        Mamba2LM,
        get_args(Architecture2),
        _keys(
            *(32768, 4096, 64, 128),
            tied=False,
            num_heads=Size(A, 128),
            head_dim=Size(D, 64),
            n_groups=Size(G, 8),
            chunk_size=Whole(256),
            time_step_limit=_Limits(),
        ),
        _check_heads,
        ignored=f"{_IGNORED} time_step_rank intermediate_size",
    ),
)

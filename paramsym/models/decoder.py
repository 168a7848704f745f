"""What decoder-only language models share: token table, L blocks, last normalisation, head; and how their configurations are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

from sympy import Symbol, floor

from paramsym.compose import Repeat
from paramsym.errors import ArgumentError, ConfigError
from paramsym.extents import up_over
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.attention import ByHead
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.experts import StackedExperts
from paramsym.models.activations import learned
from paramsym.models.blocks import Gated, Ladder, Stem, activation, last_position, tokens
from paramsym.models.family import Family, Flag, Key, Number as Real, Size, Sizes, Word, shown, whole
from paramsym.program import ROPE, Own, Rope, Value, contract, rotation as turned
from paramsym.size import Count, Dim, Shape, divides, same
from paramsym.symbols import A, B, D, F, H, L, N, S, V, dims

ROTATED = dims("r")
"""The entries of a head that are rotated, where not all of them are."""


class Decoder(Layer):
    """A decoder-only language model, abstract: a family states its fields and its block, and may state other names.

    ``architecture`` is the reference's class name. What stands behind its ``For`` is the head: a matrix of V rows (``CausalLM``), of
    ``num_labels`` rows (``SequenceClassification``, without a bias, and ``TokenClassification``, with one), or of two
    (``QuestionAnswering``). With ``tie_word_embeddings`` the output matrix is the token table. ``num_labels`` is N where the architecture
    has labels and no number is given.
    """

    vocab_size: Dim
    hidden_size: Dim
    num_hidden_layers: Count
    tie_word_embeddings: bool
    num_labels: Dim | None
    architecture: Any  # each family's own words

    base_name: ClassVar[str] = "model"
    answering_base_name: ClassVar[str] = "model"
    table_name: ClassVar[str] = "embed_tokens"
    output_name: ClassVar[str] = "lm_head"
    output_bias: ClassVar[bool] = False
    classifier_name: ClassVar[str] = "score"

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        if self.num_labels is None and isinstance(self.architecture, str) and self.architecture.endswith("Classification"):
            object.__setattr__(self, "num_labels", N)
        super().__post_init__()

    def parts(self) -> Iterator[Part]:
        """The base model, under its name where a head follows, then the head."""
        width, task = self.output_width(), self.task
        yield Part(self.base_path, self.base())
        if task == "CausalLM":
            yield Part(self.output_name, Dense(width, self.vocab_size, bias=self.output_bias))
        elif task == "QuestionAnswering":
            yield Part("qa_outputs", Dense(width, self.answers()))
        elif task and self.num_labels is not None:
            tokens = task == "TokenClassification"
            yield Part(self.classifier_name if tokens else "score", Dense(width, self.num_labels, bias=tokens))

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the token table with ``tie_word_embeddings``."""
        tied = self.task == "CausalLM" and self.tie_word_embeddings
        return {f"{self.output_name}.weight": f"{self.base_name}.{self.table_name}.weight"} if tied else {}

    @property
    def task(self) -> str:
        """What the head is for; empty for the base model."""
        return self.architecture.partition("For")[2]

    @property
    def kind(self) -> str:
        """The family's prefix of the class name: ``Qwen2`` of ``Qwen2ForCausalLM``."""
        return self.architecture.partition("For")[0].removesuffix("Model")

    def refuse(self, **given: object) -> None:
        """Raise ``ArgumentError`` for an argument that this architecture's reference does not have."""
        for name, value in given.items():
            if value:
                message = f"{name}={value!r}: {self.architecture} has no {name}."
                raise ArgumentError(message)

    def output_width(self) -> Dim:
        """Return the width that the head reads."""
        return self.hidden_size

    def answers(self) -> Dim:
        """Return the outputs of question answering: where an answer begins, and where it ends."""
        return 2

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The numbers of tokens: (batch, positions)."""
        return {"input_ids": (B, S)}

    @property
    def base_path(self) -> str:
        """The name of the base model; empty where it is the whole model."""
        return "" if not self.task else self.answering_base_name if self.task == "QuestionAnswering" else self.base_name

    def forward(self, own: Own, input_ids: Value) -> Any:
        """Last hidden states, scores of tokens or labels per position, or scores of each text, at its last position."""
        return self.answered(own, own[self.base_path](tokens(input_ids)))

    def answered(self, own: Own, x: Value) -> Any:
        """Return what the head makes of the last hidden states; the base model has no head."""
        task = self.task
        if not task:
            return x
        if task == "CausalLM":
            return self.scores(own[self.output_name](x))
        if task == "QuestionAnswering":
            return own.qa_outputs(x)
        scores = own[self.classifier_name if task == "TokenClassification" else "score"](x)
        return last_position(scores) if task == "SequenceClassification" else scores

    def scores(self, x: Value) -> Value:
        """Return the scores of tokens from what the output matrix gives; a family may scale or limit them."""
        return x

    def base(self) -> Layer:
        """Return the base model: the token table, the blocks, the last normalisation, the rotary frequencies."""
        return Stem(
            {
                "embed_tokens": Embedding(self.vocab_size, self.hidden_size),
                "layers": self.blocks(),
                "norm": self.norm(),
                "rotary_emb": self.frequencies(),
            },
            scale=self.embedding_scale,
        )

    @property
    def embedding_scale(self) -> float:
        """What the rows of the token table are multiplied by."""
        return 1.0

    def blocks(self) -> Layer:
        """Return the blocks; L that store the same, unless a family says otherwise, each kind of them with its own attention."""
        blocks = tuple(self.block(kind) for kind in self.kinds)
        if all(block == blocks[0] for block in blocks):
            return Repeat(blocks[0], self.num_hidden_layers)
        return Ladder(blocks, self.num_hidden_layers)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of blocks, by turns; ``sliding_attention`` sees a window."""
        return ("full_attention",)

    def block(self, kind: str = "full_attention") -> Layer:
        """Return one block."""
        raise NotImplementedError

    def norm(self) -> Layer:
        """Return one normalisation of the hidden width."""
        raise NotImplementedError

    def frequencies(self) -> Layer:
        """Return what the rotary embedding keeps."""
        raise NotImplementedError


class GroupedDecoder(Decoder):
    """A decoder with A query heads and G key/value heads of one width, rotated; abstract.

    ``num_key_value_heads`` None is A; ``head_dim`` None is H/A; ``rotary_dim`` None rotates the whole head.
    """

    num_attention_heads: Dim
    num_key_value_heads: Dim | None
    head_dim: Dim | None
    rotary_dim: Count | None
    rope: Rope

    def conditions(self) -> None:
        """Key/value heads divide heads, and heads the width where their own is not given."""
        self.head_width()
        if self.num_key_value_heads is not None:
            divides(self.num_key_value_heads, self.num_attention_heads, "num_key_value_heads", "num_attention_heads")

    def head_width(self) -> Dim:
        """Return the width of a head."""
        if self.head_dim is not None:
            return self.head_dim
        return divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")

    def sliced(self) -> tuple[tuple[Dim, Dim], tuple[Dim, Dim]]:
        """Return the axes of queries and of keys (and values): heads times width."""
        width, heads = self.head_width(), self.num_attention_heads
        return (heads, width), (heads if self.num_key_value_heads is None else self.num_key_value_heads, width)

    def projections(self, *, bias: bool = False, output_bias: bool | None = None, output: str = "o_proj") -> dict[str, Layer]:
        """Return the four matrices of attention; ``output_bias`` follows ``bias`` where it is None."""
        query, key = self.sliced()
        width = self.hidden_size
        inward = Dense(width, key, bias)
        outward = Dense(query, width, bias if output_bias is None else output_bias)
        return {"q_proj": Dense(width, query, bias), "k_proj": inward, "v_proj": inward, output: outward}

    def shared_norms(self, query: str, key: str, norm: Layer) -> dict[str, Layer]:
        """Return, under two names, a norm that all heads of the queries share, and one that those of the keys share."""
        (heads, _), (groups, _) = self.sliced()
        return {query: ByHead(heads, norm), key: ByHead(groups, norm)}

    def frequencies(self) -> Layer:
        """Return the frequencies of the rotated part of a head."""
        return RotaryFrequencies(self.head_width() if self.rotary_dim is None else self.rotary_dim, rope=self.rope)


def gated(width: Dim, inner: Dim, function: str, *, bias: bool = False) -> Gated:
    """Return a gated feed-forward network: ``gate_proj`` and ``up_proj`` (F, H), ``down_proj`` (H, F), what the activation learns.

    >>> gated(H, F, "silu").params, gated(H, 0, "silu", bias=True).shapes()["down_proj.weight"]
    (3*F*H, (H, 0))
    """
    if same(inner, 0):
        empty = EmptyDense(width, 0, bias)
        layers = {"gate_proj": empty, "up_proj": empty, "down_proj": EmptyDense(0, width, bias)}
        return Gated({**layers, **learned("act_fn", function)}, function)
    up = Dense(width, inner, bias)
    return Gated({"gate_proj": up, "up_proj": up, "down_proj": Dense(inner, width, bias), **learned("act_fn", function)}, function)


@dataclass(frozen=True)
class EmptyDense(Layer):
    """A linear layer without inputs or without outputs, as torch builds it: its matrix is stored and empty.

    >>> EmptyDense(0, H, bias=True).shapes()
    {'weight': (H, 0), 'bias': (H,)}
    """

    in_features: Count
    out_features: Count
    bias: bool = False

    def tensors(self) -> Iterator[Tensor]:
        """The matrix, then the bias."""
        yield Tensor("weight", (self.out_features, self.in_features))
        if self.bias:
            yield Tensor("bias", (self.out_features,), role="bias")

    def forward(self, own: Own, x: Value) -> Value:
        """The product, which is empty or zero, and the bias."""
        y = contract("... i, o i -> ... o", x, own.weight)
        return y + own.bias if self.bias else y


Storage: TypeAlias = Literal["stacked", "separate"]
"""How experts are stored: *stacked* in two tensors, as transformers 5 holds them, or *separate*, one by one, as checkpoint files do."""


def experts(width: Dim, inner: Dim, stored: Dim, used: Dim | None, function: str, storage: Storage) -> Layer:
    """Return gated experts, of which a token uses ``used``; where that is None nothing is known, and all are counted as used."""
    used = stored if used is None else used
    if storage == "separate":
        return Repeat(gated(width, inner, function), stored, used=used)
    return Experts(width, inner, stored, used, activation=function)


@dataclass(frozen=True)
class Experts(StackedExperts):
    """Stacked experts with an activation by its configuration name; one that learns is stored once for all of them.

    >>> from paramsym.symbols import E, K
    >>> Experts(H, F, E, K, activation="prelu").params
    3*E*F*H + 1
    """

    def parts(self) -> Iterator[Part]:
        """What the activation learns."""
        for name, layer in learned("act_fn", self.activation).items():
            yield Part(name, layer)

    def function(self, own: Own, y: Value) -> Value:
        """The activation."""
        return activation(own, self.activation, y)


@dataclass(frozen=True)
class RotaryFrequencies(Layer):
    """The inverse frequencies of rotary positions (Su et al. 2021), twice: one for each two entries; the reference does not save them.

    ``layer_types`` are the kinds of layers that have frequencies of their own. ``rope`` is how fast the positions turn; a tuple has one
    entry for each of these kinds.

    >>> RotaryFrequencies(D).params, len(RotaryFrequencies(64).ledger(buffers=True))
    (0, 2)
    """

    rotary_dim: Count
    layer_types: tuple[str, ...] | None = None
    rope: Rope | tuple[Rope, ...] = ROPE

    def tensors(self) -> Iterator[Tensor]:
        """The frequencies, and those before any scaling."""
        if self.rotary_dim == 0:
            return
        shape = (up_over(self.rotary_dim, 2),)
        for prefix in ("",) if self.layer_types is None else (f"{kind}_" for kind in self.layer_types):
            for name in ("inv_freq", "original_inv_freq"):
                yield Tensor(prefix + name, shape, role="statistic", buffer=True, persistent=False)

    def forward(self, own: Own, x: Value) -> tuple[Value, ...]:  # noqa: ARG002 - frequencies follow from the settings
        """Cosines and sines for the positions of (batch, positions, features), each (positions, rotated); none where nothing is rotated.

        With several kinds of layers, those of each kind follow one another.
        """
        ropes = self.rope if isinstance(self.rope, tuple) else (self.rope,)
        ropes = () if self.rotary_dim == 0 else ropes
        return tuple(one for rope in ropes for one in turned(x.sizes[1], self.rotary_dim, rope))


# Published sizes and configurations -------------------------------------------------------------------------------------------


def grouped_size(vocab_size: int, hidden_size: int, layers: int, heads: int, groups: int, inner: int, **other: Any) -> dict[str, Any]:
    """Return a published size of a grouped decoder, by constructor argument."""
    return {
        "vocab_size": vocab_size,
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": groups,
        "intermediate_size": inner,
        **other,
    }


@dataclass(frozen=True)
class OptionalSize:
    """A key that holds a size or null, whatever its default is: null is the constructor's None."""

    letter: Symbol
    default: int | None
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> Symbol | None:
        """Return the letter, or None."""
        if value is None:
            return None
        sizes[self.letter] = whole(value, where, 1)
        return self.letter

    def missing(self, sizes: Sizes) -> Symbol | None:
        """Return the letter with the default for its size."""
        return self.read(self.default, "the default", sizes)


@dataclass(frozen=True)
class OptionalFlag:
    """A key that is true, false or null, which is false."""

    default: bool = False
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> bool:
        """Return the flag."""
        del sizes
        if value is not None and not isinstance(value, bool):
            message = f"{where} is {shown(value)}; wanted true, false or null."
            raise ConfigError(message)
        return bool(value)

    def missing(self, sizes: Sizes) -> bool:
        """Return the default."""
        del sizes
        return self.default


@dataclass(frozen=True)
class OptionalWhole:
    """A key that holds a whole number or null, and whose number is not a letter of its own: a window, or another spelling of a size."""

    default: int | None = None
    only: tuple[str, ...] = ()
    least: int = 1

    def read(self, value: Any, where: str, sizes: Sizes) -> int | None:
        """Return the number, or None."""
        del sizes
        return None if value is None else whole(value, where, self.least)

    def missing(self, sizes: Sizes) -> int | None:
        """Return the default."""
        del sizes
        return self.default


@dataclass(frozen=True)
class OptionalReal:
    """A key that holds a number or null; the number is no size: a limit or a scale."""

    default: float | None = None
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> float | None:
        """Return the number, or None."""
        return None if value is None else Real(0.0).read(value, where, sizes)

    def missing(self, sizes: Sizes) -> float | None:
        """Return the default."""
        del sizes
        return self.default


@dataclass(frozen=True)
class Names:
    """A key that holds a list of words from a small vocabulary, one per layer, or null."""

    known: frozenset[str]
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> tuple[str, ...] | None:
        """Return the words."""
        del sizes
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            message = f"{where} is {shown(value)}; wanted a list of words, one per layer."
            raise ConfigError(message)
        for position, word in enumerate(value):
            if not isinstance(word, str) or word not in self.known:
                message = f"{where}[{position}] is {shown(word)}; known are {', '.join(sorted(self.known))}."
                raise ConfigError(message)
        return tuple(value)

    def missing(self, sizes: Sizes) -> None:
        """Return None."""
        del sizes


@dataclass(frozen=True)
class Share:
    """A key that holds the share of a head that is rotated, from 0 to 1."""

    default: float | None = None
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> float | None:
        """Return the share."""
        del sizes
        if value is None:
            return self.default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            message = f"{where} is {shown(value)}; wanted a number from 0 to 1."
            raise ConfigError(message)
        return value

    def missing(self, sizes: Sizes) -> float | None:
        """Return the default."""
        del sizes
        return self.default


@dataclass(frozen=True)
class RopeSettings:
    """A key that says how positions are rotated: an object with a ``rope_type`` (once ``type``), or null."""

    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> dict[str, Any] | None:
        """Return the settings: the type, the share of a head that is rotated, and the numbers."""
        del sizes
        if value is None or value == {}:
            return None
        if not isinstance(value, Mapping):
            message = f"{where} is {shown(value)}; wanted an object such as {{'rope_type': 'default'}}, or null."
            raise ConfigError(message)
        kind = value.get("rope_type", value.get("type", "default"))
        if not isinstance(kind, str) or kind not in _ROPE_TYPES:
            message = f"{where}: rope_type is {shown(kind)}; known are {', '.join(sorted(_ROPE_TYPES))}."
            raise ConfigError(message)
        numbers = {name: _setting(name, value[key], f"{where}: {key}") for key, name in _ROPE_NUMBERS.items() if value.get(key) is not None}
        share = Share().read(value.get("partial_rotary_factor"), f"{where}: partial_rotary_factor", {})
        return {"kind": kind, "share": share, "numbers": numbers}

    def missing(self, sizes: Sizes) -> None:
        """Return None."""
        del sizes


_ROPE_NUMBERS: Mapping[str, str] = {
    "rope_theta": "theta",
    "original_max_position_embeddings": "original_positions",
    **{
        name: name
        for name in (
            "factor",
            "attention_factor",
            "low_freq_factor",
            "high_freq_factor",
            "beta_fast",
            "beta_slow",
            "truncate",
            "mscale",
            "mscale_all_dim",
            "short_factor",
            "long_factor",
        )
    },
}
"""The settings of a rotation by their names in a configuration."""


def _setting(name: str, value: Any, where: str) -> Any:
    """Check one setting of a rotation: a number, a list of numbers, or a flag."""
    if name == "truncate":
        return Flag(default=True).read(value, where, {})
    if name == "original_positions":
        return whole(value, where, 1)
    if not name.endswith(("short_factor", "long_factor")):
        return Real(0.0).read(value, where, {})
    if not isinstance(value, list | tuple) or len(value) > 4096:
        message = f"{where} is {shown(value)}; wanted a list of numbers, one for each pair of entries."
        raise ConfigError(message)
    return tuple(Real(0.0).read(one, f"{where}[{position}]", {}) for position, one in enumerate(value))


_ROPE_TYPES = frozenset({"default", "linear", "dynamic", "yarn", "longrope", "su", "llama3", "proportional"})
_LAYER_TYPES = frozenset(
    {
        "full_attention",
        "sliding_attention",
        "chunked_attention",
        "window_attention",
        "indexed_attention",
        "compressed_sparse_attention",
        "heavily_compressed_attention",
        "minimax_m3_sparse",
        "conv",
        "moe",
        "hybrid",
        "hybrid_sliding",
        "reference_sliding_attention",
        "linear_attention",
        "mamba",
        "attention",
        "deepseek_sparse_attention",
        "qwen_sparse_attention",
    }
)
"""What the reference knows, and the four old names it still reads."""
IGNORED: Mapping[str, str] = {
    "drops values while training": (
        "attention_dropout resid_pdrop embd_pdrop attn_pdrop hidden_dropout embedding_dropout residual_dropout classifier_dropout"
        " attention_probs_dropout_prob hidden_dropout_prob"
    ),
    "keeps a quotient finite": "rms_norm_eps layer_norm_eps norm_epsilon layer_norm_epsilon",
    "bounds the positions, which are computed and not stored": (
        "max_position_embeddings original_max_position_embeddings model_max_length max_sequence_length"
    ),
    "turns positions, in the same number of frequencies": "rope_theta rope_local_base_freq rope_interleave use_mrope",
    "limits which positions attend to which": "sliding_window use_sliding_window max_window_layers use_bidirectional_attention",
    "scales or clips values": (
        "logit_scale logits_scaling embedding_multiplier residual_multiplier attention_multiplier query_pre_attn_scalar clip_qkv"
        " final_logit_softcapping attn_logit_softcapping"
    ),
    "splits a computation, not a tensor": "pretraining_tp",
    "says what these models are anyway": "is_decoder",
    "says how numbers are packed in a file": "quantization_config",
    "weighs or reports the routing, or disturbs it while training": (
        "router_aux_loss_coef output_router_logits router_jitter_noise norm_topk_prob aux_loss_alpha seq_aux"
    ),
}
USUAL: Mapping[str, tuple[Any, ...]] = {
    "token_classification_bias": (True,),
    "is_heterogeneous": (False,),
    "attention_bias": (False,),
    "mlp_bias": (False,),
}


def grouped_keys(
    vocab_size: int,
    hidden_size: int,
    layers: int,
    heads: int,
    groups: Key,
    inner: int,
    *,
    act: str = "silu",
    tied: bool = False,
    positions: int = 2048,
    **own: Key,
) -> dict[str, Key]:
    """Return the keys that grouped decoders have in common, with a family's defaults, and the family's own."""
    return {
        "vocab_size": Size(V, vocab_size),
        "hidden_size": Size(H, hidden_size),
        "num_hidden_layers": Size(L, layers, least=0),
        "num_attention_heads": Size(A, heads),
        "num_key_value_heads": groups,
        "head_dim": Size(D, None),
        "intermediate_size": Size(F, inner),
        "hidden_act": Word(act),
        "tie_word_embeddings": Flag(default=tied),
        "layer_types": Names(_LAYER_TYPES),
        "rope_parameters": RopeSettings(),
        "rope_scaling": RopeSettings(),
        "rope_theta": Real(10000.0),
        "max_position_embeddings": OptionalWhole(positions),
        "partial_rotary_factor": Share(),
        **own,
    }


def decoder_family(
    model_type: str,
    model: type[Layer],
    architectures: tuple[str, ...],
    keys: Mapping[str, Key],
    arrange: Callable[[dict[str, Any], Sizes], None] | None,
    *,
    ignored: str = "",
    usual: Mapping[str, tuple[Any, ...]] = MappingProxyType({}),
    labelled: tuple[str, ...] = (),
    **own: Any,
) -> Family:
    """Return one ``model_type``: its classes, the base class first; its keys, and on top of all decoders' those it does not read."""
    reasons = {**IGNORED, **({"is of a relative, and this family does not read it": ignored} if ignored else {})}
    handled = {*keys, *own.get("aliases", ())}
    unread = {reason: " ".join(name for name in names.split() if name not in handled) for reason, names in reasons.items()}
    return Family(
        model_type=model_type,
        model=model,
        architectures=architectures,
        labelled=frozenset(name for name in architectures if name.endswith(("Classification", *labelled))),
        keys=keys,
        ignored=unread,
        usual={name: values for name, values in {**USUAL, **usual}.items() if name not in handled},
        arrange=arrange,
        **own,
    )


def of_kind(architectures: tuple[str, ...], prefix: str) -> tuple[str, ...]:
    """Return the class names of one family: ``Qwen2Model``, ``Qwen2ForCausalLM``, but not ``Qwen2MoeModel``."""
    return tuple(name for name in architectures if name.startswith((f"{prefix}Model", f"{prefix}For")))


@dataclass(frozen=True)
class Number:
    """A key whose number decides which tensors there are, so that no letter can stand for it; from ``least`` to ``most``."""

    default: int
    least: int = 1
    most: int = 256
    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> int:
        """Return the number."""
        del sizes
        if (found := whole(value, where, self.least)) > self.most:
            message = f"{where} is {shown(value)}; at most {self.most} can be built."
            raise ConfigError(message)
        return found

    def missing(self, sizes: Sizes) -> int:
        """Return the default."""
        del sizes
        return self.default


def settled(
    *, floors: bool = True, share: float | None = None, partial: bool = False, named: bool = False
) -> Callable[[dict[str, Any], Sizes], None]:
    """Return how a family of grouped decoders settles what depends on sizes.

    ``floors``: the reference rounds the width of a head down where heads do not divide the width, rather than refuse. ``partial``: it
    rotates a share of a head whatever the rope's type is, ``share`` where the configuration does not say. ``named``: it names the width of
    a head, given or not, and so refuses to rotate an odd one.
    """

    def settle(arguments: dict[str, Any], sizes: Sizes) -> None:
        check_length(arguments, sizes, "layer_types")
        round_heads(arguments, sizes, floors=floors)
        kind, factor = rotation(arguments, share)
        given = arguments.get("head_dim") == D
        width = sizes[D] if given else sizes[H] // sizes[A]
        if named or given:
            check_even(width, factor)
        rotate(arguments, sizes, width, kind, factor, partial=partial)

    return settle


def check_length(arguments: dict[str, Any], sizes: Sizes, name: str) -> tuple[str, ...] | None:
    """Take a list with one entry per layer out of the arguments; raise ``ConfigError`` where its length is another."""
    found: tuple[str, ...] | None = arguments.pop(name, None)
    if found is not None and len(found) != sizes[L]:
        message = f"{name} has {len(found)} entries for num_hidden_layers {sizes[L]}; wanted one per layer."
        raise ConfigError(message)
    return found


def check_window(kinds: tuple[str, ...], window: Dim | None) -> None:
    """Raise ``ArgumentError`` for layers that see a window, where no width is given; what they store does not depend on it."""
    if "sliding_attention" in kinds and window is None:
        message = "layer_types has sliding_attention, and sliding_window is None; give the number of positions that these layers see."
        raise ArgumentError(message)


def by_turns(listed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the shortest beginning of a list that makes the list when it is repeated.

    >>> by_turns(("sliding", "full", "sliding"))
    ('sliding', 'full')
    """
    return next((listed[:n] for n in range(1, len(listed)) if listed[n:] == listed[:-n]), listed)


def round_heads(arguments: dict[str, Any], sizes: Sizes, *, floors: bool) -> None:
    """Round the width of a head down where the reference does, in the open: a floor enters the formula."""
    divided = sizes[H] % sizes[A] == 0
    if not divided and not floors:
        message = f"this configuration cannot be built. hidden_size {sizes[H]} is not divisible by num_attention_heads {sizes[A]}."
        raise ConfigError(message)
    if arguments.get("head_dim") is None and not divided and sizes[H] > sizes[A]:
        arguments["head_dim"] = floor(H / A)


_ROPE_KEYS = ("rope_scaling", "rope_parameters", "rope_theta", "max_position_embeddings", "partial_rotary_factor")


def rotation(arguments: dict[str, Any], share: float | None = None) -> tuple[str, float | None]:
    """Put the keys of the rotation together to one argument, ``rope``; return its type and the share of a head that is rotated."""
    taken: dict[str, Any] = {name: arguments.pop(name, None) for name in _ROPE_KEYS}
    given: Mapping[str, Any] = taken["rope_scaling"] or taken["rope_parameters"] or {"kind": "default", "share": None, "numbers": {}}
    kind: Any = "longrope" if given["kind"] == "su" else given["kind"]
    share = next((found for found in (given["share"], taken["partial_rotary_factor"], share) if found is not None), None)
    settings: dict[str, Any] = {"theta": 10000.0 if taken["rope_theta"] is None else taken["rope_theta"], **given["numbers"]}
    if taken["max_position_embeddings"] is not None:
        settings["positions"] = taken["max_position_embeddings"]
    arguments["rope"] = Rope(kind=kind, share=1.0 if share is None or kind != "proportional" else share, **settings)
    return kind, share


def check_even(width: int, factor: float | None) -> None:
    """Raise ``ConfigError`` for an odd width that is rotated as a whole; the reference lets up to four entries pass."""
    if width > 4 and width % 2 and int(width * (1 if factor is None else factor)) == width:
        message = f"this configuration cannot be built. Rotation takes pairs, and a head has {width} entries; wanted an even width."
        raise ConfigError(message)


def rotate(arguments: dict[str, Any], sizes: Sizes, width: int, kind: str, factor: float | None, *, partial: bool = False) -> None:
    """Give the number of rotated entries a letter where it is not the width; where none is left, it is the number 0."""
    if kind == "default" and not partial:
        return
    rotated = 2 * (width // 2) if kind == "proportional" else int(width * (1 if factor is None else factor))
    if rotated == 0:
        arguments["rotary_dim"] = 0
    elif rotated != width:
        arguments["rotary_dim"] = ROTATED
        sizes[ROTATED] = rotated

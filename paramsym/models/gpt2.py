"""GPT-2 (Radford et al. 2019). Reference: ``transformers.models.gpt2`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from sympy import Expr

from paramsym.algebra.size import canonical, cat, per
from paramsym.algebra.symbols import index
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense, TransposedDense
from paramsym.models.activations import check_activation, learned
from paramsym.models.blocks import PreNorm, Summary, tokens
from paramsym.models.gpt import ALIASES, Gpt
from paramsym.models.key_kinds import Flag, Real, Word
from paramsym.models.model import classes, family, key
from paramsym.program import Kept, Own, Value, axes, compact, rearrange, region, take
from paramsym.program.attention import root_reciprocal

_LANGUAGE = frozenset({"GPT2LMHeadModel", "GPT2DoubleHeadsModel"})
_SUMMARIES = frozenset({"last", "first", "mean", "cls_index"})


class Gpt2(Gpt):
    """GPT-2 and its heads, as the reference class ``architecture`` stores them.

    Matrices are stored (in, out); query, key and value are one tensor. With ``add_cross_attention`` the blocks attend to a second input, if
    it is given.

    Raises:
        ArgumentError: a summary that the reference does not build, beside the errors of every model.

    >>> Gpt2().params
    12*H**2*L + 13*H*L + H*P + H*V + 2*H
    >>> Gpt2(architecture="GPT2LMHeadModel").at("gpt2").params
    124439808
    """

    summary_type: str = key(Word("cls_index"))
    summary_use_proj: bool = key(Flag(default=True))
    summary_activation: str | None = key(Word(None))
    summary_proj_to_labels: bool = key(Flag(default=True))
    add_cross_attention: bool = key(Flag())
    architecture: str = classes(
        {"GPT2": "Model LMHeadModel DoubleHeadsModel ForSequenceClassification ForTokenClassification ForQuestionAnswering"}
    )
    _: KW_ONLY
    scale_attn_weights: bool = key(Flag(default=True))
    scale_attn_by_inverse_layer_idx: bool = key(Flag())
    summary_first_dropout: float = key(Real(0.1))
    summary_last_dropout: float = key(Real(0.0))

    ignored: ClassVar[Mapping[str, str]] = {
        "drops values while training": ("resid_pdrop embd_pdrop attn_pdrop classifier_dropout hidden_dropout"),
        "raises a precision": "reorder_and_upcast_attn",
        "repeats n_positions, and no class reads it": "n_ctx",
        "is read by the generation, not by a class": "is_decoder",
    }
    usual: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    def conditions(self) -> None:
        super().conditions()
        if self.architecture != "GPT2DoubleHeadsModel":
            return
        if self.summary_activation:
            check_activation(self.summary_activation, "summary_activation")
        if self.summary_type not in _SUMMARIES:
            raise ArgumentError(f"summary_type is {self.summary_type!r}; GPT2DoubleHeadsModel builds {', '.join(sorted(_SUMMARIES))}.")

    @property
    def task(self) -> str:
        """Both classes with an output matrix give scores of tokens."""
        return "CausalLM" if self.architecture in _LANGUAGE else super().task

    def parts(self) -> Iterator[Part]:
        yield from super().parts()
        if self.architecture == "GPT2DoubleHeadsModel":
            yield Part("multiple_choice_head", self._summary())

    def forward(self, own: Own, input_ids: Value, *along: Value) -> Any:
        """Like every decoder; with two heads the scores of tokens, and one score of each text, also for (batch, choices, positions)."""
        if self.architecture != "GPT2DoubleHeadsModel":
            return super().forward(own, input_ids, *along)
        if input_ids.rank != 3:
            x = own.transformer(tokens(input_ids), *along)
        else:
            x = own.transformer(rearrange(axes(input_ids, "batch choices positions")[0], "b c s -> (b c) s"), *along)
            x = rearrange(x, "(b c) s h -> b c s h", b=input_ids.sizes[0], c=input_ids.sizes[1])
        return own.lm_head(x), own.multiple_choice_head(x)

    def blocks(self) -> Layer:
        """The blocks; each may divide its scores by its number from 1 on."""
        if not self.scale_attn_by_inverse_layer_idx:
            return super().blocks()
        number = index("i")
        scale = root_reciprocal(canonical(per(self.n_embd, self.n_head))) if self.scale_attn_weights else 1.0
        return Repeat(self.block(scale / (number + 1)), self.n_layer, index=number)

    def block(self, scale: Expr | None = None) -> PreNorm:
        """Return a block; ``scale`` is the factor of the scores if it depends on the block."""
        sliced = (self.n_head, self.head_width())
        shared = cat(key=sliced, value=sliced) if self.add_cross_attention else None
        plain = None if self.scale_attn_weights else 1.0
        return self.fused_block(TransposedDense, cat(query=sliced, key=sliced, value=sliced), shared, plain if scale is None else scale)

    def _summary(self) -> OneScore:
        # The reference sets num_labels to 1 here, for every configuration.
        scores, function = self.summary_use_proj and self.summary_proj_to_labels, self.summary_activation or "linear"
        layers: dict[str, Layer] = {"summary": Dense(self.n_embd, 1 if scores else self.n_embd)} if self.summary_use_proj else {}
        rates = (self.summary_first_dropout, self.summary_last_dropout)
        return OneScore({**layers, **learned("activation", function)}, function, self.summary_type, rates, scores)


class OneScore(Summary):
    """The summary of a text, as one score with ``squeeze``."""

    squeeze: bool = False

    def forward(self, own: Own, x: Value) -> Value:
        x = super().forward(own, x)
        return take(x, x.rank - 1, 0) if self.squeeze else x

    def position(self, x: Value) -> Value:
        if self.kind != "cls_index":
            return super().position(x)
        size = canonical(x.sizes[-2] - 1)
        index = Kept("own", factors=(*x.sizes[:-2], x.sizes[-1]), kind="index")  # torch.gather needs a position for every feature
        return region("gather", lambda x: compact(take(x, x.rank - 2, size)), x, keeps=(index,))


FAMILIES = (family("gpt2", Gpt2, defaults={"vocab_size": 50257}, aliases=ALIASES),)

"""GPT-J (Wang and Komatsuzaki 2021). Reference: ``transformers.models.gptj`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any

from paramsym.algebra.convolution import negative, up_over
from paramsym.algebra.size import Dim, canonical
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import ShapeError
from paramsym.models.blocks import Parallel, RotatedAttention, feed_forward, inward_and_out
from paramsym.models.gpt import ALIASES, SUMMARY, Gpt
from paramsym.models.key_kinds import Flag, Sizes
from paramsym.models.model import classes, family, key
from paramsym.models.rope import ROTATED
from paramsym.program import Own, Value, join, rearrange, rotate, rotation, segments


class GptJ(Gpt):
    """GPT-J and its heads, as the reference class ``architecture`` stores them.

    One normalisation precedes attention and feed-forward network, which are parallel. The output has a bias. Each block keeps the sines and
    cosines of P positions for the ``rotary_dim`` entries of a head that are rotated, or for H if it is None, and does not save them.
    Question answering, too, has N labels.

    >>> GptJ().params
    12*H**2*L + 7*H*L + H*V + 2*H
    >>> GptJ(architecture="GPTJForCausalLM").at("EleutherAI/gpt-j-6b").params
    6050882784
    """

    rotary_dim: Dim | None = key(ROTATED, 64, least=0)
    architecture: str = classes({"GPTJ": "Model ForCausalLM ForSequenceClassification ForQuestionAnswering"})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag())

    labelled = ("Classification", "QuestionAnswering")
    output_bias = True
    table_dropout = "embd_pdrop"

    def base(self) -> Layer:
        return self.stemmed({"wte": self.token_table(), "h": self.blocks(), "ln_f": self.norm()})

    def block(self) -> Parallel:
        width = self.n_embd
        matrices = inward_and_out(width, (self.n_head, self.head_width()), bias=False, output_bias=False)
        rotated = width if self.rotary_dim is None else self.rotary_dim
        layers = {
            "ln_1": self.norm(),
            "attn": TurnedAttention(matrices, self.n_positions, rotated, output="out_proj", dropout=self.attn_pdrop),
            "mlp": feed_forward(width, self.inner, self.activation_function, ("fc_in", "act", "fc_out")),
        }
        return Parallel(layers, names=("ln_1", "attn", "ln_1", "mlp"), dropped=(self.resid_pdrop, self.resid_pdrop))


class TurnedAttention(RotatedAttention):
    """Causal attention whose queries and keys are rotated by pairs of neighbours, in the first ``rotary_dim`` entries of each head.

    The sines and cosines of all positions are a buffer (P, rotary_dim) that is not saved.

    >>> from paramsym.algebra.symbols import P
    >>> TurnedAttention({}, P, 64).params
    0
    """

    positions: Dim
    rotary_dim: Dim
    wide = False

    def tensors(self) -> Iterator[Tensor]:
        shape = (self.positions, 2 * up_over(self.rotary_dim, 2))
        yield Tensor("embed_positions", shape, role="statistic", buffer=True, persistent=False)

    def projected(self, own: Own, x: Value) -> tuple[Value, Value, Value]:
        query, key, value = super().projected(own, x)
        query, key = (self.turned(one, *rotation(x.sizes[1], self.rotary_dim)) for one in (query, key))  # computed for each
        return query, key, value

    def turned(self, x: Value, *turn: Value) -> Value:
        """Rotate pairs of neighbours: move them to the halves, rotate these against each other, and move them back.

        Raises:
            ShapeError: more entries to rotate than a head has.
        """
        rest = canonical(x.sizes[-1] - self.rotary_dim)
        if negative(rest):
            raise ShapeError(f"rotary_dim is {self.rotary_dim}; wanted at most {x.sizes[-1]}, the width of a head.")
        x, *still = segments(x, self.rotary_dim, rest) if rest != 0 else (x,)
        x = rotate(rearrange(x, "b s a (p two) -> b s a (two p)", two=2), *turn)
        x = rearrange(x, "b s a (two p) -> b s a (p two)", two=2)
        return join(x, *still) if still else x


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Read a rotary size of 0 as the hidden size, as in the reference."""
    if sizes[ROTATED] == 0:
        arguments["rotary_dim"] = None
        del sizes[ROTATED]


_DEFAULTS = {"V": 50400, "P": 2048, "H": 4096, "L": 28, "A": 16, **dict.fromkeys(("attn_pdrop", "embd_pdrop", "resid_pdrop"), 0.0)}
FAMILIES = (family("gptj", GptJ, "", _DEFAULTS, _settle, ignored=f"rotary scale_attn_weights n_ctx {SUMMARY}", aliases=ALIASES),)

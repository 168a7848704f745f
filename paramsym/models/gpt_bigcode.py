"""SantaCoder and StarCoder (Ben Allal et al. 2023, arXiv:2301.03988; Li et al. 2023, arXiv:2305.06161).

Reference: ``transformers.models.gpt_bigcode`` 5.23, names and shapes of its state dict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY

from paramsym.algebra.size import Axis, Dim, cat
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense
from paramsym.models.blocks import PreNorm
from paramsym.models.gpt import ALIASES, SUMMARY, Gpt
from paramsym.models.key_kinds import Flag, Function
from paramsym.models.model import classes, family, key


class GptBigCode(Gpt):
    """SantaCoder, StarCoder and their heads, as the reference class ``architecture`` stores them: GPT-2 with one key and one value.

    With ``multi_query`` all heads share one key and one value. A mask of P*P entries is kept and not saved.

    Raises:
        ArgumentError: cross attention with ``multi_query``, beside the errors of every model.

    >>> GptBigCode(multi_query=False).params
    12*H**2*L + 13*H*L + H*P + H*V + 2*H
    >>> GptBigCode(architecture="GPTBigCodeForCausalLM").at("bigcode/gpt_bigcode-santacoder").params
    1124886528
    """

    activation_function: str = key(Function("gelu_pytorch_tanh"))
    multi_query: bool = key(Flag(default=True))
    add_cross_attention: bool = key(Flag())
    architecture: str = classes({"GPTBigCode": "Model ForCausalLM ForSequenceClassification ForTokenClassification"})
    _: KW_ONLY
    scale_attn_weights: bool = key(Flag(default=True))

    def conditions(self) -> None:
        super().conditions()
        if self.add_cross_attention and self.multi_query:
            message = "add_cross_attention=True needs multi_query=False: the reference has no cross attention with one key for all heads."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        first, *head = super().parts()
        yield Part(first.name, CausalMask(self.n_positions, first.layer))
        yield from head

    def block(self) -> PreNorm:
        heads, own = self.n_head, self.head_width()
        fused: Axis = cat(query=(heads, own), key=own, value=own) if self.multi_query else (heads, cat(query=own, key=own, value=own))
        shared = (heads, cat(key=own, value=own)) if self.add_cross_attention else None
        return self.fused_block(Dense, fused, shared, None if self.scale_attn_weights else 1.0)


class CausalMask(Declared):
    """A model and its causal mask ``bias``, a buffer (P, P) that is not saved.

    >>> from paramsym.algebra.symbols import P
    >>> CausalMask(P, Dense(1, 1, bias=False)).params
    1
    """

    in_order = True

    positions: Dim
    layer: Layer

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("bias", (self.positions, self.positions), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        yield Part("", self.layer)


_IGNORED = (
    f"num_key_value_heads attention_softmax_in_fp32 scale_attention_softmax_in_fp32 n_ctx {SUMMARY}"
    " inference_runner max_batch_size pad_key_length pre_allocate_kv_cache validate_runner_input"
)
FAMILIES = (
    family(
        "gpt_bigcode",
        GptBigCode,
        defaults={"vocab_size": 50257},
        ignored=_IGNORED,
        aliases=ALIASES,
        usual={"attention_type": (2, None)},  # replaced by multi_query: 1 is one key per head, 3 splits the fused matrix
        former={"GPTBigCodeLMHeadModel": "GPTBigCodeForCausalLM"},
    ),
)

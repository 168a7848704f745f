"""BART, mBART, PEGASUS and Marian: one encoder-decoder in four variants.

Lewis et al. 2020, arXiv:1910.13461; Liu et al. 2020, arXiv:2001.08210; Zhang et al. 2020, arXiv:1912.08777; Junczys-Dowmunt et al. 2018,
arXiv:1804.00344. Reference: ``transformers.models.bart``, ``mbart``, ``pegasus`` and ``marian`` 5.23, their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import P, V, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import Counting, LearnedPositions, SinusoidalPositions
from paramsym.models.bert_blocks import text_classifier
from paramsym.models.blocks import last_of, tokens
from paramsym.models.family import Family
from paramsym.models.key_kinds import Flag, Real, left_out
from paramsym.models.model import classes, family, key
from paramsym.models.seq2seq import Seq2Seq, Stacks
from paramsym.models.stacks import Stack, TwoStacks
from paramsym.program import Own, Value, roll

DECODER_WORDS = dims("V_d")


class Bart(TwoStacks, Seq2Seq):
    """BART, mBART, PEGASUS, Marian and their heads, as the reference class ``architecture`` stores them.

    H is ``d_model``. Encoder, decoder and output share one table. The relatives differ in little:

    =======  ====================  ===================================  =========================
    variant  positions             normalisations of a stack            normalisations in a block
    =======  ====================  ===================================  =========================
    BART     P + 2 learned         after the embeddings                 after each sum
    mBART    P + 2 learned         after the embeddings and at the end  before each sub-layer
    PEGASUS  P sinusoids, frozen   at the end                           before each sub-layer
    Marian   P sinusoids, frozen   none                                 after each sum
    =======  ====================  ===================================  =========================

    The classes that generate keep V zeros as a buffer that is added to the output. The causal classes are the decoder alone. Marian may
    have a vocabulary for each side: ``share_encoder_decoder_embeddings=False``, and ``decoder_vocab_size``, which is ``vocab_size`` if it
    is None. With ``scale_embedding`` the rows of the table are multiplied by the root of the width.

    >>> from paramsym.algebra.symbols import A, F, L
    >>> Bart(decoder_layers=L, decoder_ffn_dim=F, decoder_attention_heads=A).params
    4*F*H*L + 2*F*L + 12*H**2*L + 24*H*L + 2*H*P + H*V + 8*H
    >>> Bart(architecture="BartForConditionalGeneration").at("facebook/bart-large").params
    406291456
    """

    max_position_embeddings: Dim = key(P, 1024)
    decoder_vocab_size: Dim | None = key(DECODER_WORDS, None, least=0, of="Marian", argument=None)
    share_encoder_decoder_embeddings: bool = key(Flag(default=True), of="Marian")
    architecture: str = classes(
        {
            "Bart MBart": "Model ForConditionalGeneration ForCausalLM ForSequenceClassification ForQuestionAnswering",
            "Pegasus": "Model ForConditionalGeneration ForCausalLM",
            "Marian": "Model MTModel ForCausalLM",
        }
    )
    _: KW_ONLY
    scale_embedding: bool = key(Flag(null=True))
    classifier_dropout: float | None = key(Real(0.0, null=True))

    def tensors(self) -> Iterator[Tensor]:
        """A bias of the output: zeros, which are saved and not trained."""
        if self._translates:
            yield Tensor("final_logits_bias", (1, self._outputs), role="bias", buffer=True)

    def parts(self) -> Iterator[Part]:
        width = self.d_model
        if self._causal:
            yield Part(self._base_name, Sequential(decoder=self._decoder()))
        else:
            shared = Embedding(self.vocab_size, width) if self.share_encoder_decoder_embeddings else None
            encoder = self._stack(self.vocab_size, Repeat(self.encoder_block(), self.encoder_layers), "each")
            yield Part(self._base_name, Stacks(encoder, self._decoder(), shared))
        if self._translates or self._causal:
            yield Part("lm_head", Dense(width, self._outputs, bias=False))
        elif self.task == "QuestionAnswering":
            yield Part("qa_outputs", Dense(width, 2))
        elif self.task and self.num_labels is not None:
            yield Part("classification_head", text_classifier(width, self.num_labels, self.classifier_dropout))

    def forward(self, own: Own, input_ids: Value, decoder_input_ids: Value | None = None) -> Value:
        """Last hidden states, scores of tokens or labels for each position, or scores of each text at its last end token."""
        x = own[self._base_name](*self.texts(input_ids, decoder_input_ids))
        if self._translates or self._causal:
            scores = own.lm_head(x)
            return scores if self._causal else scores + own.final_logits_bias
        if self.task == "QuestionAnswering":
            return own.qa_outputs(x)
        return own.classification_head(last_of(x, tokens(input_ids), self.eos_token_id)) if self.task else x

    def moved(self, source: Value) -> Value:
        """The source shifted by one position; mBART puts its last token, the language, in front."""
        return roll(source, (1,), (1,)) if self.kind == "MBart" else super().moved(source)

    def ties(self) -> Mapping[str, str]:
        if not self.tie_word_embeddings:
            return {}
        under = f"{self._base_name}." if self._base_name else ""
        shares = self.share_encoder_decoder_embeddings and not self._causal
        ties = {f"{under}{stack}.embed_tokens.weight": f"{under}shared.weight" for stack in (("encoder", "decoder") if shares else ())}
        if self._translates or self._causal:
            ties["lm_head.weight"] = "model.shared.weight" if shares else "model.decoder.embed_tokens.weight"
        return ties

    @property
    def decodes(self) -> bool:
        return not self._causal

    @property
    def one_text(self) -> bool:
        return self.task in {"SequenceClassification", "QuestionAnswering"}

    @property
    def norm_first(self) -> bool:
        return self.kind in {"MBart", "Pegasus"}

    @property
    def _base_name(self) -> str:
        return "model" if self.task or self._translates else ""

    @property
    def _translates(self) -> bool:
        return self.task == "ConditionalGeneration" or self.architecture == "MarianMTModel"

    @property
    def _causal(self) -> bool:
        return self.task == "CausalLM"

    @property
    def _decoder_words(self) -> Dim:
        """If the tables are shared and tied, the decoder's vocabulary is the encoder's."""
        shared = self.share_encoder_decoder_embeddings and self.tie_word_embeddings and not self._causal
        return self.vocab_size if self.decoder_vocab_size is None or shared else self.decoder_vocab_size

    @property
    def _outputs(self) -> Dim:
        if self._causal:
            return self._decoder_words if self.tie_word_embeddings else self.vocab_size
        return self.vocab_size if self.share_encoder_decoder_embeddings else self._decoder_words

    def _decoder(self) -> Stack:
        return self._stack(self._decoder_words, self.decoder_blocks())

    def _stack(self, words: Dim, blocks: Repeat, counted: Counting = "once") -> Stack:
        width, positions = self.d_model, self.max_position_embeddings
        layers: dict[str, Layer] = {"embed_tokens": Embedding(words, width)}
        if self.kind in {"Bart", "MBart"}:
            # The reference offsets positions by two, which an older padding needed.
            layers |= {"embed_positions": LearnedPositions(positions, width, offset=2, counted=counted), "layers": blocks}
            layers["layernorm_embedding"] = LayerNorm(width)
        else:
            layers |= {"embed_positions": SinusoidalPositions(positions, width, "frozen"), "layers": blocks}
        if self.norm_first:
            layers["layer_norm"] = LayerNorm(width)
        return Stack(layers, scales=self.scale_embedding, dropped=self.dropout)


_OLD = {
    "described variants of the first release, which no class reads": (
        "add_bias_logits add_final_layer_norm normalize_before normalize_embedding static_position_embeddings extra_pos_embeddings"
        " force_bos_token_to_be_generated"
    ),
}


def _family(model_type: str, prefix: str, defaults: Mapping[str, Any], labels: int = 2) -> Family:
    arrange = left_out(V, decoder_vocab_size=DECODER_WORDS)
    return family(model_type, Bart, prefix, defaults, arrange, ignored=_OLD, labels=labels)


FAMILIES = (
    _family("bart", "Bart", {}, labels=3),
    _family("mbart", "MBart", {"decoder_start_token_id": None}),
    _family("pegasus", "Pegasus", {"decoder_start_token_id": 0}),
    _family("marian", "Marian", {"vocab_size": 58101, "decoder_start_token_id": 58100}),
)

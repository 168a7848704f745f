"""The common base of models with a text tower and an image tower: the towers, and the products of their outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, replace
from types import MappingProxyType
from typing import Any, ClassVar

from sympy import Symbol

from paramsym.algebra.size import Count, Dim, Shape
from paramsym.algebra.symbols import A, B, F, H, K, L, P, S, V, W, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv2d
from paramsym.layers.embedding import Embedding
from paramsym.layers.position import LearnedPositions
from paramsym.models.blocks import Attention, PreNorm, inward_and_out, tokens
from paramsym.models.family import Family
from paramsym.models.images import Classifying, behind, feed_forward, in_row, mean_of_places
from paramsym.models.key_kinds import Function, Real, Size
from paramsym.models.model import Ignored, Model, key
from paramsym.models.patches import PatchModel
from paramsym.program import ALL, Mask, Own, Value, apply, contract, rearrange, reduce

SEEING: Mapping[Symbol, Symbol] = dict(zip((H, L, A, F), dims("H_v L_v A_v F_v"), strict=True))
"""Width, depth, heads and feed-forward width of the image tower beside a text tower."""
PROJECTED = dims("H_p")


class Tower(Model):
    """One tower, abstract: L blocks of 4*H**2 + 2*F*H + 9*H + F, with the parts before and after them."""

    hidden_size: Dim = key(H, 768)
    intermediate_size: Dim = key(F, 3072)
    num_hidden_layers: Count = key(L, 12, least=0)
    num_attention_heads: Dim = key(A, 12, divides="hidden_size")
    hidden_act: str = key(Function("gelu"))
    _: KW_ONLY
    layer_norm_eps: float = key(Real(1e-5))
    attention_dropout: float = key(Real(0.0))

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {}  # the sizes in the data file are of both towers
    ignored: ClassVar[Ignored] = {
        "drops values while training in no class": "dropout",
        "the output is no word": "tie_word_embeddings",
    }

    def parts(self) -> Iterator[Part]:
        yield Part("", self.tower())

    def tower(self) -> Layer:
        raise NotImplementedError

    def blocks(self, *, norm_first: bool = False, mask: Mask = ALL) -> Sequential:
        """Return the blocks; CLIP's and SigLIP's differ in the order in which they store their parts."""
        width, sliced, norm = self.hidden_size, (self.num_attention_heads, self.head_width()), self.norm()
        parts: dict[str, Layer] = {
            "self_attn": Attention(inward_and_out(width, sliced), output="out_proj", mask=mask, dropout=self.attention_dropout),
            "layer_norm1": norm,
            "mlp": feed_forward(width, self.intermediate_size, self.hidden_act),
            "layer_norm2": norm,
        }
        order = ("layer_norm1", "self_attn", "layer_norm2", "mlp")
        block = PreNorm({name: parts[name] for name in order} if norm_first else parts, names=order)
        return Sequential(layers=Repeat(block, self.num_hidden_layers))


class ReadingTower(Tower):
    """A text tower, abstract: V words and P positions of H before the blocks."""

    vocab_size: Dim = key(V, 32000)
    max_position_embeddings: Dim = key(P, 64)

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"input_ids": (B, S)}

    def embeddings(self) -> TextEmbeddings:
        return TextEmbeddings(self.vocab_size, self.max_position_embeddings, self.hidden_size)


class SeeingTower(Tower, PatchModel):
    """An image tower for square images, abstract: patches and their positions before the blocks."""

    image_size: Dim = key(W, 224)
    patch_size: Dim = key(K, 16)

    def conditions(self) -> None:
        super().conditions()
        self.patches()

    def embeddings(self, *, class_token: bool) -> PatchEmbeddings:
        return PatchEmbeddings(self.patches()[0], self.patch_size, self.num_channels, self.hidden_size, class_token)


class TwoTowers(Classifying):
    """A text tower and an image tower, and the products of their outputs; or the image tower with a classifier.

    The inputs are (batch, positions) of the texts and (batch, channels, height, width) of the images; the outputs are the scores of each
    image for each text, (images, texts), and the same as (texts, images). The classifier takes only the images, and the mean of the
    positions from ``first_place`` on. Abstract.
    """

    text_config: Any
    vision_config: Any

    first_place: ClassVar[int] = 0
    by_power: ClassVar[bool] = False
    ignored: ClassVar[Ignored] = {"the output is no word": "tie_word_embeddings"}

    def parts(self) -> Iterator[Part]:
        if self.compares:
            yield Part("text_model", self.text_config.tower())
        yield Part("vision_model", self.vision_config.tower())
        yield from self.classifier(self.vision_config.hidden_size)

    @property
    def inputs(self) -> Mapping[str, Shape]:
        (name, seen), *_ = self.vision_config.inputs.items()
        return {"input_ids": (B, S), name: (dims("B_v"), *seen[1:])} if self.compares else {name: seen}

    @property
    def compares(self) -> bool:
        return self.architecture.endswith("Model")

    def seen(self, own: Own, images: Value) -> Value:
        """Return a vector of each image that can be compared."""
        raise NotImplementedError

    def read(self, own: Own, input_ids: Value) -> Value:
        """Return a vector of each text that can be compared."""
        raise NotImplementedError

    def forward(self, own: Own, *given: Value) -> Any:
        """The scaled products of images with texts, and of texts with images; or the scores of labels."""
        *texts, images = given
        images = self.vision_config.checked(images)
        if not self.compares:
            x, *_ = own.vision_model(images)
            mean = mean_of_places(x, self.first_place)
            return own.classifier(mean) if "classifier" in own else mean
        seen, read = (unit(one, by_power=self.by_power) for one in (self.seen(own, images), self.read(own, tokens(*texts))))
        per_text = contract("t p, i p -> t i", read, seen) * apply("exp", own.logit_scale)
        per_text = per_text + own.logit_bias if "logit_bias" in own else per_text
        return rearrange(per_text, "t i -> i t"), per_text


def unit(x: Value, *, by_power: bool = False) -> Value:
    """Return vectors divided by their length; with ``by_power`` the root of a length is computed as a power of its square."""
    squared = reduce("sum", x * x, -1, keep=True)
    return x / (squared**0.5 if by_power else apply("sqrt", squared))


class TextEmbeddings(Declared):
    """Word and position tables: (V + P)*H. The index buffer is in no state dict.

    >>> TextEmbeddings(V, P, H).params
    H*P + H*V
    """

    vocab_size: Dim
    max_position_embeddings: Dim
    hidden_size: Dim

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("position_ids", (1, self.max_position_embeddings), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        yield Part("token_embedding", Embedding(self.vocab_size, self.hidden_size))
        yield Part("position_embedding", LearnedPositions(self.max_position_embeddings, self.hidden_size, counted="buffer"))

    def forward(self, own: Own, input_ids: Value) -> Value:
        return own.position_embedding(own.token_embedding(input_ids))


class PatchEmbeddings(Declared):
    """The projection of a patch and a position per patch; ``class_token`` adds one vector with a position, and removes the bias.

    ``patches`` is their number along one side. The index buffer is in no state dict.

    >>> PatchEmbeddings(7, 32, 3, H).params, PatchEmbeddings(7, 32, 3, H, class_token=False).params
    (3123*H, 3122*H)
    """

    patches: Dim
    patch_size: Dim
    num_channels: Dim
    hidden_size: Dim
    class_token: bool = True

    def tensors(self) -> Iterator[Tensor]:
        if self.class_token:
            yield Tensor("class_embedding", (self.hidden_size,), role="table")
        yield Tensor("position_ids", (1, self._positions), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        patch = self.patch_size
        projection = Conv2d(self.num_channels, self.hidden_size, patch, stride=patch, bias=not self.class_token)
        yield Part("patch_embedding", projection)
        yield Part("position_embedding", LearnedPositions(self._positions, self.hidden_size, counted="buffer"))

    def forward(self, own: Own, pixel_values: Value) -> Value:
        x = in_row(own.patch_embedding(pixel_values), self.patches, self.patches)
        if self.class_token:
            x = behind(rearrange(own.class_embedding, "h -> () () h"), x)
        return own.position_embedding(x)

    @property
    def _positions(self) -> Dim:
        return self.patches * self.patches + (1 if self.class_token else 0)


def inside(reader: Family, letters: Mapping[Symbol, Symbol] = MappingProxyType({}), overruled: str = "") -> Family:
    """Return the reader of a tower's configuration inside another one: with other letters, without the keys that the whole overrides."""
    keys = {name: one for name, one in reader.keys.items() if name != overruled}
    keys |= {
        name: replace(one, letter=letters[one.letter]) for name, one in keys.items() if isinstance(one, Size) and one.letter in letters
    }
    return replace(reader, keys=keys, ignored={**reader.ignored, "is overridden by the same key of the whole model": overruled})

"""The common base of models with an encoder and a decoder: two stacks and a target that is the shifted source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any

from paramsym.algebra.size import Shape, canonical
from paramsym.algebra.symbols import B, S, dims
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part
from paramsym.errors import ShapeError
from paramsym.models.blocks import tokens
from paramsym.models.key_kinds import Real, Sizes, Whole
from paramsym.models.model import Model, key
from paramsym.program import Own, Value, constant, join, take
from paramsym.program.state import after

TARGET = dims("S_d")
"""The positions of the target."""


class Ending(Whole):
    """The token that ends a text. A list of tokens is read as None: generation may stop at several tokens, a classifier reads at one."""

    def read(self, value: Any, where: str, sizes: Sizes, /) -> Any:
        return super().read(None if isinstance(value, list) else value, where, sizes)


class Seq2Seq(Model):
    """A model that reads the token ids of a source, ``input_ids``, and of a target, ``decoder_input_ids``; abstract.

    Without a target it is the source shifted by one position, after ``decoder_start_token_id``. Classes that read one text make their
    target from it; some have only one stack. A classifier reads a text at its last ``eos_token_id``; the reference refuses texts without
    this token. If it is None, the classifier reads the last position. ``classifier_dropout`` is the dropout rate of the classifier's input.
    """

    _: KW_ONLY
    decoder_start_token_id: int | None = key(Whole(2, least=0))
    eos_token_id: int | None = key(Ending(2, least=0))
    classifier_dropout: float | None = key(Real(0.0))

    @property
    def decodes(self) -> bool:
        """Whether there is a decoder after an encoder."""
        raise NotImplementedError

    @property
    def one_text(self) -> bool:
        """Whether the target is usually made from the source."""
        raise NotImplementedError

    @property
    def inputs(self) -> Mapping[str, Shape]:
        target: dict[str, Shape] = {} if self.one_text or not self.decodes else {"decoder_input_ids": (B, TARGET)}
        return {"input_ids": (B, S), **target}

    def texts(self, input_ids: Value, decoder_input_ids: Value | None) -> tuple[Value, ...]:
        """Return the token ids for the base model: of the source, and of the target if there is a decoder after an encoder.

        Raises:
            ShapeError: another number of axes, or a target for one stack.
        """
        source = tokens(input_ids)
        if self.decodes:
            return source, self.moved(source) if decoder_input_ids is None else tokens(decoder_input_ids)
        if decoder_input_ids is not None:
            raise ShapeError("wanted one shape, for one input; found 2.")
        return (source,)

    def moved(self, source: Value) -> Value:
        """Return the source shifted by one position; the first token is the start."""
        batch, length = source.sizes
        start = constant("full", (batch, 1), self.decoder_start_token_id or 0, kind="index")
        return join(start, take(source, 1, 0, canonical(length - 1)), axis=1)


class Stacks(Declared):
    """An encoder and a decoder that attends to it, and the table they share if present; or the encoder alone."""

    encoder: Layer
    decoder: Layer | None = None
    shared: Layer | None = None

    def parts(self) -> Iterator[Part]:
        if self.shared is not None:
            yield Part("shared", self.shared)
        yield Part("encoder", self.encoder)
        if self.decoder is not None:
            yield Part("decoder", self.decoder)

    def forward(self, own: Own, source: Value, target: Value | None = None) -> Value:
        """The encoder's output for the source, or the decoder's for the target with it; without a target the source is both.

        The encoder has no past: it reads the whole source in every step. The table is used under its names in the stacks.
        """
        with after(0):
            memory: Value = own.encoder(source)
        return memory if self.decoder is None else own.decoder(source if target is None else target, memory)

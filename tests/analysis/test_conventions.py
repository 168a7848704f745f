"""The named conventions: published counts of real models, and the terms by which they differ."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import expand

import paramsym as ps
from paramsym import A, F, H, L, P, T, V
from paramsym.errors import UnknownNameError


def gpt2() -> ps.Layer:
    """GPT-2 with its tied output matrix, at the published size."""
    return ps.models.Gpt2(architecture="GPT2LMHeadModel").at("gpt2")


PUBLISHED = [
    ("stored", 124_439_808),  # the unique count, as transformers counts it
    ("rows as listed", 163_037_184),  # transformers issue 14960: 124,439,808 + 38,597,376
    ("non-embedding (nanoGPT)", 123_653_376),  # nanoGPT, get_num_params(non_embedding=True)
    ("non-embedding (Hugging Face)", 85_056_000),  # num_parameters(exclude_embeddings=True)
    ("non-embedding (Kaplan)", 84_934_656),  # TransformerLens, cfg.n_params: 12 * L * H**2
]


@pytest.mark.parametrize(("name", "count"), PUBLISHED)
def test_gpt2_as_published(name: str, count: int) -> None:
    """GPT-2's five counts in circulation, each from its own source."""
    assert ps.conventions(gpt2())[name].params == count


def test_differences_are_terms() -> None:
    """Each convention departs from storage by a term in letters, and names the tensors behind it."""
    found = ps.conventions(gpt2())
    assert found["rows as listed"].formula_difference == H * V
    assert found["rows as listed"].added == ("lm_head.weight",)
    assert found["non-embedding (nanoGPT)"].formula_difference == -H * P
    assert found["non-embedding (nanoGPT)"].left_out == ("transformer.wpe.weight",)
    assert expand(found["non-embedding (Kaplan)"].formula - 12 * L * H**2) == 0
    for item in found:
        assert expand(item.params - found["stored"].params - item.difference) == 0


def test_frozen_and_tied() -> None:
    """The encoder-decoder of 10,152,448: its rows sum to 15,676,928, and 10,118,656 of it are trained."""
    found = ps.conventions(ps.models.EncoderDecoder().at("one-layer"))
    counts = [found[name].params for name in ("stored", "rows as listed", "trainable")]
    assert counts == [10_152_448, 15_676_928, 10_118_656]
    assert found["rows as listed"].formula_difference == 2 * H * V


def test_touched_is_one_row() -> None:
    """Of a table that is only looked up, one token reads one row."""
    found = ps.conventions(ps.models.Bert())
    assert expand(found["touched"].difference - ((1 - V) * H + (1 - P) * H + (1 - T) * H)) == 0


def test_active_and_buffers() -> None:
    """One token uses k of E experts; a state dict also holds statistics."""
    experts, used = ps.dims("n k")
    layer = ps.Block(experts=ps.Repeat(ps.Dense(H, F, bias=False), experts, used=used), norm=ps.BatchNorm1d(H))
    found = ps.conventions(layer)
    assert found["active"].params == F * H * used + 2 * H
    assert found["with buffers"].difference == 2 * H + 1
    assert found["non-embedding (Kaplan)"].params == F * H * experts


def test_shown() -> None:
    """They print as one table, one row each, and as HTML and LaTeX."""
    found = ps.conventions(gpt2())
    assert len(found) == len(found.names) == 9
    assert "123,653,376" in str(found)
    assert "<table" in found._repr_html_()
    assert r"\toprule" in found.to_latex()
    assert str(found["stored"]) == "stored: 124,439,808"
    assert found[0].name == "stored"
    assert [item.name for item in found[:2]] == ["stored", "rows as listed"]
    with pytest.raises(UnknownNameError, match="no convention 'unique'"):
        found["unique"]


def test_kaplan_counts_the_blocks() -> None:
    """N = 2 * d_model * n_layer * (2 * d_attn + d_ff), equation 2.1: what stands behind the blocks, as BERT's pooler, is none of it."""
    assert expand(ps.conventions(ps.models.Bert())["non-embedding (Kaplan)"].formula - 2 * H * L * (2 * H + F)) == 0


def test_symbols_that_cancel_leave_no_trace() -> None:
    """No convention brings the heads back."""
    assert all(A not in item.params.free_symbols for item in ps.conventions(ps.models.Bert()))


def test_nanogpt_keeps_a_table_that_is_the_output_matrix() -> None:
    """``get_num_params(non_embedding=True)`` takes positions away; tokens stay where they are the head, too."""
    untied = ps.Block(embed=ps.Embedding(7, 4), head=ps.Dense(4, 7, bias=False))
    tied = ps.Tied(untied, {"head.weight": "embed.weight"})
    for layer, left in ((untied, 28), (tied, 28), (ps.Block(embed=ps.Embedding(7, 4), head=ps.Dense(4, 6, bias=False)), 28 + 24)):
        assert ps.conventions(layer)["non-embedding (nanoGPT)"].params == left


def test_every_convention_says_what_it_counts_where_it_is_written_and_where_it_is_wrong() -> None:
    """None of the three is empty; names are those that the functions take."""
    listed = ps.conventions("all")
    assert all(one.counts and one.source and one.wrong for one in listed)
    assert {"causal", "torch-sdpa", "adamw", "gptq-g128", "zero-3", "h100"} <= set(listed.names)


def test_the_terms_of_the_scaling_book() -> None:
    """Its chapter on transformers counts 12BTDV for the vocabulary's matrix and the looked-up tokens."""
    assert "12BTDV with the logits" in " ".join(str(ps.conventions("work")).split())


@pytest.mark.parametrize(
    ("topic", "name", "words"),
    [
        ("formats", "int4", "1/2 bytes per number"),
        ("formats", "int8", "1 byte per number"),
        ("formats", "gguf-q4_0", "9/2 bits per number of matrices and tables; other tensors in float32"),
        ("formats", "mxfp8", "33/4 bits per number of the matrices of repeated blocks"),
        ("formats", "mxfp4", "17/4 bits per number of stacks of experts"),
        ("formats", "bnb-int8", "8 bits per number of the matrices of repeated blocks, and 4 bytes for each row"),
        ("formats", "gptq-g128", "133/32 bits per number of the matrices of repeated blocks, and 4 bytes for each column"),
        ("formats", "nvfp4", "9/2 bits per number of the matrices of repeated blocks, and 4 bytes for each tensor"),
        ("optimizers", "momentum", "1 number of 4 bytes per parameter"),
        ("optimizers", "adam", "2 numbers of 4 bytes per parameter"),
    ],
)
def test_bytes_in_words(topic: Any, name: str, words: str) -> None:
    """The bits of a block of 32 numbers with its scale, by hand: (4*32 + 16)/32 in q4_0, (8*32 + 8)/32 in mxfp8, (4*32 + 8)/32 in mxfp4."""
    assert ps.conventions(topic)[name].counts == words

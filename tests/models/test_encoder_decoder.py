"""The encoder-decoder Transformer: its printed table, the paper's sizes, ties, and the reference rebuilt from torch's layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from frameworks import imported
from hypothesis import given, settings, strategies as st
from recorded import document

from paramsym import A, D, F, H, L, P, V, dims, run
from paramsym.errors import ArgumentError, DivisibilityError, SizeError, StructureError, UnknownNameError
from paramsym.models import EncoderDecoder
from paramsym.models.encoder_decoder import CLAIMS

M, W2 = dims("M W2")
TABLE = {"V": 5395, "P": 33, "H": 512, "A": 8, "L": 1, "F": 2048}


@dataclass(frozen=True)
class Reference:
    """The reference of a year, built from torch's own layers in its order of registration, with its ties."""

    torch: Any
    revision: int
    source: int
    target: int
    rows: int
    width: int
    inner: int
    depth: int
    heads: int
    key: int
    value: int
    shared: tuple[bool, bool]

    @property
    def early(self) -> bool:
        """Whether it is the reference of 2018."""
        return self.revision == 2018

    @property
    def side(self) -> str:
        """What the target is called."""
        return "tgt" if self.early else "trg"

    def attention(self) -> Any:
        """Build one attention with its norm."""
        module = self.torch.nn.Module()
        for name, size in (("w_qs", self.key), ("w_ks", self.key), ("w_vs", self.value)):
            module.add_module(name, self.torch.nn.Linear(self.width, self.heads * size, bias=self.early))
        last = [
            ("fc", self.torch.nn.Linear(self.heads * self.value, self.width, bias=self.early)),
            ("layer_norm", self.torch.nn.LayerNorm(self.width)),
        ]
        for name, layer in reversed(last) if self.early else last:
            module.add_module(name, layer)
        return module

    def feed_forward(self) -> Any:
        """Build one feed-forward network with its norm."""
        module = self.torch.nn.Module()
        for name, sizes in (("w_1", (self.width, self.inner)), ("w_2", (self.inner, self.width))):
            module.add_module(name, self.torch.nn.Conv1d(*sizes, 1) if self.early else self.torch.nn.Linear(*sizes))
        module.layer_norm = self.torch.nn.LayerNorm(self.width)
        return module

    def positions(self) -> Any:
        """Build what is stored of the sinusoids."""
        if self.early:
            return self.torch.nn.Embedding.from_pretrained(self.torch.zeros(self.rows, self.width), freeze=True)
        module = self.torch.nn.Module()
        module.register_buffer("pos_table", self.torch.zeros(1, self.rows, self.width))
        return module

    def layer(self, *, crosses: bool) -> Any:
        """Build one layer of the encoder or the decoder."""
        module = self.torch.nn.Module()
        module.slf_attn = self.attention()
        if crosses:
            module.enc_attn = self.attention()
        module.pos_ffn = self.feed_forward()
        return module

    def stack(self, side: str, words: int, *, crosses: bool) -> Any:
        """Build the encoder or the decoder."""
        module = self.torch.nn.Module()
        module.add_module(f"{side}_word_emb", self.torch.nn.Embedding(words, self.width))
        module.position_enc = self.positions()
        module.layer_stack = self.torch.nn.ModuleList([self.layer(crosses=crosses) for _ in range(self.depth)])
        if not self.early:
            module.layer_norm = self.torch.nn.LayerNorm(self.width)
        return module

    def build(self) -> Any:
        """Build the whole model."""
        model = self.torch.nn.Module()
        model.encoder = self.stack("src", self.source, crosses=False)
        model.decoder = self.stack(self.side, self.target, crosses=True)
        projection = self.torch.nn.Linear(self.width, self.target, bias=False)
        model.add_module(f"{self.side}_word_prj", projection)
        words = model.decoder.get_submodule(f"{self.side}_word_emb")
        if self.shared[0]:
            projection.weight = words.weight
        if self.shared[1]:
            model.encoder.src_word_emb.weight = words.weight
        return model


@given(
    revision=st.sampled_from([2018, 2021]),
    words=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    rows=st.integers(1, 5),
    heads=st.integers(1, 3),
    per_head=st.integers(1, 3),
    inner=st.integers(1, 7),
    depth=st.integers(0, 3),
    widths=st.none() | st.tuples(st.integers(1, 4), st.integers(1, 4)),
    shared=st.tuples(st.booleans(), st.booleans()),
)
@settings(max_examples=40, deadline=None)
def test_against_the_reference(
    revision: Any,
    words: tuple[int, int],
    rows: int,
    heads: int,
    per_head: int,
    inner: int,
    depth: int,
    widths: tuple[int, int] | None,
    shared: tuple[bool, bool],
) -> None:
    """Names, shapes, order, ties, frozen tables and buffers are the reference's."""
    source, target = words if not shared[1] else (words[0], words[0])
    key, value = widths or (per_head, per_head)
    theirs = Reference(imported("torch"), revision, source, target, rows, heads * per_head, inner, depth, heads, key, value, shared).build()
    ours = EncoderDecoder(
        source,
        target,
        rows,
        d_model=heads * per_head,
        d_inner=inner,
        n_layers=depth,
        n_head=heads,
        d_k=widths and widths[0],
        d_v=widths and widths[1],
        tgt_emb_prj_weight_sharing=shared[0],
        emb_src_tgt_weight_sharing=shared[1],
        revision=revision,
    )
    assert list(ours.shapes().items()) == [(name, tuple(weight.shape)) for name, weight in theirs.named_parameters()]
    assert ours.trainable == sum(weight.numel() for weight in theirs.parameters() if weight.requires_grad)
    every = dict(theirs.named_parameters(remove_duplicate=False))
    first: dict[int, str] = {}
    assert ours.tied == {name: first[id(weight)] for name, weight in every.items() if first.setdefault(id(weight), name) != name}
    state = [(name, tuple(tensor.shape)) for name, tensor in theirs.state_dict().items() if name not in ours.tied]
    assert list(ours.shapes(buffers=True).items()) == state


def attended(torch: Any, module: Any, reference: Reference, x: Any, seen: Any, *, causal: bool) -> Any:
    """Compute one attention of the reference, and the norm after it."""
    q, k, v = (part(one).unflatten(-1, (reference.heads, -1)) for part, one in ((module.w_qs, x), (module.w_ks, seen), (module.w_vs, seen)))
    scores = torch.einsum("bqad,bkad->baqk", q, k) / reference.key**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
    return module.layer_norm(module.fc(torch.einsum("baqk,bkad->bqad", scores.softmax(-1), v).flatten(2)) + x)


def stacked(torch: Any, module: Any, reference: Reference, words: Any, memory: Any = None) -> Any:
    """Compute the encoder or the decoder of the reference; positions count from 1 in 2018, and the norm comes first in 2021."""
    x = next(part for name, part in module.named_children() if name.endswith("word_emb"))(words)
    length = words.shape[1]
    if reference.early:
        x = x + module.position_enc(torch.arange(1, length + 1))
    else:
        x = module.layer_norm(x + module.position_enc.pos_table[:, :length])
    for layer in module.layer_stack:
        x = attended(torch, layer.slf_attn, reference, x, x, causal=memory is not None)
        if memory is not None:
            x = attended(torch, layer.enc_attn, reference, x, memory, causal=False)
        y = x.transpose(1, 2) if reference.early else x
        y = layer.pos_ffn.w_2(torch.relu(layer.pos_ffn.w_1(y)))
        x = layer.pos_ffn.layer_norm((y.transpose(1, 2) if reference.early else y) + x)
    return x


@pytest.mark.parametrize("revision", [2018, 2021])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("widths", [(4, 4), (3, 5)])
def test_runs_as_the_reference_does(revision: Any, shared: bool, widths: tuple[int, int]) -> None:
    """Source and target on random weights; a tied projection is divided by the root of the width."""
    torch = imported("torch")
    reference = Reference(torch, revision, 11, 11, 9, 8, 6, 2, 2, *widths, (shared, shared))
    theirs = reference.build().double()
    with torch.no_grad():
        for tensor in (*theirs.parameters(), *theirs.buffers()):
            tensor.uniform_(-0.5, 0.5)
        for module in theirs.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.eps = 1e-5 if reference.early else 1e-6
        source, target = torch.randint(0, 11, (2, 7)), torch.randint(0, 11, (2, 5))
        decoded = stacked(torch, theirs.decoder, reference, target, stacked(torch, theirs.encoder, reference, source))
        wanted = theirs.get_submodule(f"{reference.side}_word_prj")(decoded) * (8**-0.5 if shared else 1)
    sharing = {"tgt_emb_prj_weight_sharing": shared, "emb_src_tgt_weight_sharing": shared}
    ours = EncoderDecoder(
        11, n_position=9, d_model=8, d_inner=6, n_layers=2, n_head=2, d_k=widths[0], d_v=widths[1], revision=revision, **sharing
    )
    tensors = {name: tensor.detach().numpy() for name, tensor in theirs.state_dict().items()}
    found = run(ours, tensors, source.numpy(), target.numpy())
    assert abs(found - wanted.numpy()).max() < 1e-12


def test_the_printed_table() -> None:
    """47 rows, 15,676,928 in all: 10,152,448 with the table of words counted once, 10,118,656 of them trained."""
    items = {item["id"]: item for item in document("seeds_audit")}
    model = EncoderDecoder().at(TABLE)
    untied = EncoderDecoder(tgt_emb_prj_weight_sharing=False, emb_src_tgt_weight_sharing=False)
    assert model.count == items["S2-03"]["correct_value"]
    assert model.trainable == items["S2-05"]["correct_value"]
    assert untied.at(TABLE).count == items["S2-04"]["correct_value"]
    assert untied.params - model.formula == 2 * H * V
    assert len(untied.at(TABLE).shapes()) == 47
    assert model.formula - EncoderDecoder().trainable == 2 * H * P
    assert EncoderDecoder().at("one-layer") == model


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ("S2-06", "encoder.src_word_emb"),
        ("S2-07", "encoder.position_enc"),
        ("S2-07", "decoder.position_enc"),
        ("S2-08", "encoder.layer_stack.0.slf_attn"),
        ("S2-08", "decoder.layer_stack.0.enc_attn"),
        ("S2-09", "encoder.layer_stack.0.pos_ffn"),
        ("S2-10", "encoder.layer_stack.0"),
        ("S2-11", "decoder.layer_stack.0"),
        ("S2-12", "tgt_word_prj"),
    ],
)
def test_parts_of_the_printed_table(item: str, path: str) -> None:
    """Every group of the table has its printed sum."""
    expected = next(entry for entry in document("seeds_audit") if entry["id"] == item)["correct_value"]
    assert EncoderDecoder().at(TABLE).part(path).count == expected


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.name}-{claim.count}")
def test_published(claim: Any) -> None:
    """A published count is the model's, apart from what the claim says it adds."""
    positions = "frozen" if claim.name == "one-layer" else "computed"
    assert EncoderDecoder(positions=positions).at(claim.name).count + claim.besides == claim.count


def test_the_papers_sizes_lie_near_the_printed_millions() -> None:
    """Base and big come within three percent of 65 and 213 million, on different sides: no one vocabulary gives both."""
    model = EncoderDecoder(positions="computed")
    base, big = model.at("base"), model.at("big")
    assert base.count == 37000 * 512 + 6 * (12 * 512**2 + 4 * 512 * 2048 + 24 * 512 + 2 * 2048)
    assert 64_500_000 - base.count > 2_700 * 512
    assert big.count - 213_500_000 > 700 * 1024
    assert abs(base.count / 65e6 - 1) < 0.03
    assert abs(big.count / 213e6 - 1) < 0.01


def test_positions_at_a_published_size_stay_open() -> None:
    """The paper stores no positions; a stored table keeps its letter until a number arrives."""
    base = EncoderDecoder().at("base")
    assert base.params == 63_082_496 + 1024 * P
    assert base.trainable == 63_082_496


def test_heads_cancel() -> None:
    """The number of heads does not change the count, unless a head's width is free of it."""
    assert EncoderDecoder().params.diff(A) == 0
    assert EncoderDecoder(d_k=D, d_v=D).params.diff(A) == 12 * D * H * L + 9 * D * L


def test_depths_apart() -> None:
    """A decoder of its own depth; a decoder layer holds one attention more than an encoder layer."""
    model = EncoderDecoder(n_decoder_layers=M)
    assert model.params.diff(M) - model.params.diff(L) == 4 * H**2 + 6 * H
    assert model.at(M=L).params == EncoderDecoder().params
    assert model.at({**TABLE, "M": 2}).count == 10_152_448 + 4_204_032


def test_vocabularies_apart() -> None:
    """Two vocabularies need two embeddings; the projection still shares the target's."""
    model = EncoderDecoder(n_tgt_vocab=W2, emb_src_tgt_weight_sharing=False)
    assert model.tied == {"tgt_word_prj.weight": "decoder.tgt_word_emb.weight"}
    assert model.params.diff(W2) == H


@pytest.mark.parametrize(("positions", "extra"), [("frozen", 2 * H * P), ("buffer", 0), ("computed", 0)])
def test_positions(positions: Any, extra: Any) -> None:
    """Frozen tables are counted, buffers and computed sinusoids are not."""
    computed = EncoderDecoder(positions="computed")
    model = EncoderDecoder(positions=positions)
    assert model.params - computed.params == extra
    assert model.trainable == computed.params
    assert ("encoder.position_enc.pos_table" in model.shapes(buffers=True)) == (positions == "buffer")


def test_attention_without_biases() -> None:
    """Without biases in attention, four vectors less in each attention of the 2018 reference."""
    assert EncoderDecoder().params - EncoderDecoder(attention_bias=False).params == 12 * H * L


@pytest.mark.parametrize(
    "layer", [EncoderDecoder(), EncoderDecoder(n_tgt_vocab=V, n_decoder_layers=M, revision=2021), EncoderDecoder().at(TABLE)], ids=str
)
def test_repr_builds_the_same(layer: EncoderDecoder) -> None:
    """What a model prints builds it again."""
    assert eval(repr(layer)) == layer


def test_letters_may_change_places() -> None:
    """All substitutions happen at once, also those of letters that stand for each other by default."""
    assert EncoderDecoder().at(F=H, H=F).params == EncoderDecoder(d_model=F, d_inner=H).params
    assert EncoderDecoder().at(F=4 * H).params == EncoderDecoder(d_inner=4 * H).params


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"d_model": 786, "n_head": 12}, DivisibilityError, "d_model 786 is not divisible by n_head 12"),
        ({"d_model": 786, "n_head": 12, "d_k": 64}, DivisibilityError, "not divisible"),
        ({"n_src_vocab": 10, "n_tgt_vocab": 11}, StructureError, "emb_src_tgt_weight_sharing=False"),
        ({"n_tgt_vocab": W2}, StructureError, "n_tgt_vocab is W2"),
        ({"d_word_vec": 300, "d_model": 512}, StructureError, "residual"),
        ({"n_layers": -1}, SizeError, "n_layers is -1"),
        ({"n_src_vocab": 0}, SizeError, "n_src_vocab is 0"),
        ({"revision": 2017}, ArgumentError, "wanted one of 2018, 2021"),
        ({"positions": "learned"}, ArgumentError, "positions is 'learned'"),
    ],
)
def test_wrong_input(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    """What the reference asserts, and what cannot be read, is one clear error."""
    with pytest.raises(error, match=words):
        EncoderDecoder(**arguments)


def test_an_unknown_size() -> None:
    """A size nobody published is refused with those there are."""
    with pytest.raises(UnknownNameError, match="base, big, one-layer"):
        EncoderDecoder().at("huge")

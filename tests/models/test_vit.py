"""ViT as algebra: patches as exact quotients, pairs, published sizes and claims, and what does not divide."""

from __future__ import annotations

import pytest
from strategies import assert_value
from sympy import Expr, floor

import paramsym as ps
from paramsym import A, C, D, F, H, K, L, N, W, cat, dims, per  # noqa: F401 - repr is evaluated with the letters in scope
from paramsym.atlas.published import Claim
from paramsym.errors import ArgumentError, DivisibilityError, SizeError
from paramsym.models import Vit, family_of
from paramsym.models.patches import Embeddings

BLOCKS = L * (2 * F * H + F + 4 * H**2 + 9 * H)
BASE = C * H * K**2 + H + H + (W**2 / K**2 + 1) * H + BLOCKS + 2 * H
ARCHITECTURES = family_of("vit").architectures
s = dims("s")


@pytest.mark.parametrize(
    ("architecture", "head"),
    [
        ("ViTModel", H**2 + H),
        ("ViTForImageClassification", H * N + N),
        ("ViTForMaskedImageModeling", H + s**2 * C * H + s**2 * C),
    ],
)
def test_closed_form(architecture: str, head: Expr) -> None:
    """Patches, positions, blocks, and each class's head."""
    vit = Vit(architecture=architecture, encoder_stride=s)
    assert (vit.params - BASE - head).expand() == 0
    assert vit.params.diff(A) == 0
    assert A in vit.symbols
    assert len(ARCHITECTURES) == 3


def test_letters() -> None:
    """Without arguments the letters are the shared ones."""
    assert Vit().symbols == {W, K, C, H, L, A, F}


def test_flags() -> None:
    """The pooler, its width, the mask token, and the biases of query, key and value are flags."""
    assert (Vit(add_pooling_layer=False).params - BASE).expand() == 0
    assert (Vit(pooler_output_size=N).params - BASE - H * N - N).expand() == 0
    assert (Vit(add_pooling_layer=False, use_mask_token=True).params - BASE - H).expand() == 0
    assert (Vit(add_pooling_layer=False, qkv_bias=False).params - BASE + 3 * H * L).expand() == 0
    assert (Vit(pooler_act="prelu", hidden_act="prelu").params - Vit().params - L - 1).expand() == 0


def test_head_width() -> None:
    """With a head width of its own the attention is A*D wide, and A no longer cancels."""
    vit = Vit(head_dim=D)
    assert vit.params.diff(A) == 4 * D * H * L + 3 * D * L
    assert vit.at(D=per(H, A)).params == Vit().params


def test_no_labels() -> None:
    """With no labels the reference stores no classifier."""
    without = Vit(architecture="ViTForImageClassification", num_labels=0)
    assert (without.params - BASE).expand() == 0
    assert not any("classifier" in name for name in without.shapes())


def test_pairs() -> None:
    """Sizes may be pairs: patches down times patches across, and an oblong patch."""
    embeddings = Vit(image_size=(32, 64), patch_size=(8, 4)).part("embeddings")
    assert embeddings.shapes() == {
        "cls_token": (1, 1, H),
        "position_embeddings": (1, 4 * 16 + 1, H),
        "patch_embeddings.projection.weight": (H, C, 8, 4),
        "patch_embeddings.projection.bias": (H,),
    }


@pytest.mark.parametrize("claim", [claim for claim in Vit.claims if claim.counts in ARCHITECTURES], ids=lambda c: c.name)
def test_claim(claim: Claim) -> None:
    """Every published count that names a class is that class's count; the classifiers have ImageNet's 1000 labels."""
    vit = Vit(architecture=claim.counts).at(claim.name)
    assert (vit.at(N=1000) if N in vit.symbols else vit).count == claim.count


@pytest.mark.parametrize(("name", "count"), [("base-patch16-224", 85_798_656), ("large-patch16-224", 303_301_632)])
def test_paper(name: str, count: int) -> None:
    """The paper's 86M is the base model to the million; its 307M is more than the large one has."""
    pooled = ps.load(f"google/vit-{name}", "ViTModel")
    assert pooled.count - count == pooled.part("pooler").count


def test_huge() -> None:
    """The paper's 632M is the huge model with the pooler of its pretraining."""
    assert Vit().at("google/vit-huge-patch14-224-in21k").count == 632_404_480


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_being_a_value(architecture: str) -> None:
    """It is equal to its copy and is written as it is built."""
    vit = Vit(architecture=architecture)
    assert_value(vit)
    embeddings = Embeddings((per(W, K), per(W, K)), K, C, H)
    assert eval(repr(embeddings)) == embeddings


def test_does_not_divide() -> None:
    """What does not divide is refused, and the message says which argument does what the reference does."""
    with pytest.raises(DivisibilityError, match=r"image_size 225 is not divisible by patch_size 16 .* image_size=224"):
        Vit(image_size=225, patch_size=16)
    with pytest.raises(DivisibilityError, match=r"hidden_size 10 is not divisible by num_attention_heads 3 .* head_dim=3"):
        Vit(hidden_size=10, num_attention_heads=3)
    with pytest.raises(DivisibilityError, match=r"image_size 8 is not divisible by patch_size 16 \(8 = 0\*16 \+ 8\)\.$"):
        Vit(image_size=8, patch_size=16)
    covered = Vit(image_size=K * floor(W / K))
    assert covered.at(W=225, K=16).params == Vit().at(W=224, K=16).params


def test_wrong_input() -> None:
    """Flags for another class, unknown activations, a negative number of labels."""
    with pytest.raises(ArgumentError, match="are for the base classes"):
        Vit(architecture="ViTForImageClassification", use_mask_token=True)
    with pytest.raises(ArgumentError, match="pooler_act is 'x'"):
        Vit(pooler_act="x")
    with pytest.raises(ArgumentError, match="hidden_act is 'x'"):
        Vit(hidden_act="x")
    with pytest.raises(SizeError, match="num_labels"):
        Vit(architecture="ViTForImageClassification", num_labels=-1)
    with pytest.raises(ArgumentError, match="wanted 2"):
        Vit(image_size=(1, 2, 3))


@pytest.mark.parametrize(
    "architecture",
    ["ViTModel", "ViTForImageClassification", "ViTForMaskedImageModeling", "DeiTModel", "DeiTForImageClassification"],
)
def test_output_shape(architecture: str) -> None:
    """Tokens, labels or the image again, as transformers returns them."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    sizes |= {"image_size": 12, "patch_size": 4, "encoder_stride": 4, "num_labels": 5}
    config = getattr(transformers, architecture[: architecture.index("T") + 1] + "Config")(**sizes)
    with torch.no_grad():
        output = getattr(transformers, architecture)(config).eval()(torch.zeros(2, 3, 12, 12))[0]
    network = ps.from_config(config.to_dict(), architecture)
    assert ps.output_shape(network, (2, 3, 12, 12)) == tuple(output.shape)
    with pytest.raises(ps.errors.ShapeError, match="the image is"):
        ps.output_shape(network, (2, 3, 12, 16))


def test_tokens_and_positions_are_tables() -> None:
    """What is put beside patches, or added to them as it is, is a table: a count without embeddings leaves all of it out."""
    found = {one.name: one.role for one in Embeddings((14, 14), 16, 3, H, use_mask_token=True, distilled=True).tensors()}
    assert found == dict.fromkeys(("cls_token", "mask_token", "position_embeddings", "distillation_token"), "table")

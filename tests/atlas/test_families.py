"""Families whose architecture is a record, beside counts by hand and published ones."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from sympy import Rational

import paramsym as ps
from paramsym import A, B, D, F, G, H, L, N, S, V
from paramsym.atlas.families import family_named
from paramsym.atlas.published import RECORDED, RECORDED_TYPES
from paramsym.errors import ArgumentError, DivisibilityError, NotYetError, ParamsymError, SizeError, StructureError
from paramsym.models import Phi, Starcoder2, family_of
from paramsym.models.key_kinds import Size

NORMS = 2 * 2 * H * L + 2 * H
PROJECTIONS = L * (2 * H**2 + 2 * G * H**2 / A + 2 * F * H)
BIASES = L * (2 * H + 2 * G * H / A + F + H)
"""StarCoder2 by hand: queries and outputs of width H, G heads of width H/A for keys and for values, an MLP of width F, LayerNorms."""
CAUSAL = "Starcoder2ForCausalLM"


def test_closed_forms() -> None:
    """In the shared letters, with and without biases; a head for labels has N rows."""
    assert (Starcoder2().params - (V * H + PROJECTIONS + BIASES + NORMS)).expand() == 0
    assert (Starcoder2(use_bias=False).params - (V * H + PROJECTIONS + NORMS)).expand() == 0
    labelled = Starcoder2(architecture="Starcoder2ForSequenceClassification")
    assert labelled.num_labels == N
    assert (labelled.params - Starcoder2().params - N * H).expand() == 0


def test_a_family_without_groups() -> None:
    """Phi by hand: four matrices (H, H) with biases, an MLP with biases, one norm for both, and a width of heads that divides H."""
    assert (Phi().params - (V * H + L * (4 * H**2 + 4 * H + 2 * F * H + F + H + 2 * H) + 2 * H)).expand() == 0
    normed = Phi(qk_layernorm=True)
    assert (normed.params - Phi().params - L * 4 * H / A).expand() == 0
    assert Phi(num_key_value_heads=G).params.coeff(G) == 2 * L * H**2 / A + 2 * L * H / A


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_a_share_of_each_head_is_rotated(share: float) -> None:
    """The backward pass needs a cosine and a sine, of 4 bytes, for each position and rotated entry of a head, of which Phi has H/A."""
    kept = ps.activations(Phi(partial_rotary_factor=share), (B, S), dtype="float32").total
    assert kept.coeff(B, 0) == 2 * 4 * S * (H / A) * Rational(str(share))
    stated = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": share}
    read = ps.from_config({"model_type": "phi", "rope_parameters": stated}, "PhiModel")
    assert ps.activations(read, (B, S), dtype="float32").total.coeff(B, 0) == 2 * 4 * S * 64 * Rational(str(share))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"partial_rotary_factor": 1.5}, r"partial_rotary_factor is 1.5; what the model computes is known up to 1"),
        ({"hidden_size": 96, "num_attention_heads": 16}, r"rotary_dim is 3; what the model computes is known for multiples of 2"),
    ],
)
def test_other_shares_are_refused(keys: dict[str, Any], words: str) -> None:
    """More than a head, and half of a head with 96/16 entries: positions turn pairs."""
    with pytest.raises(NotYetError, match=words):
        ps.flops(Phi(**keys), (B, S))


def test_sizes_are_numbers_letters_and_expressions() -> None:
    """Whatever is given is in the fields; a width of heads that is given is a letter, too."""
    assert Starcoder2(hidden_size=4 * H, num_key_value_heads=A).params.subs(H, H / 4).expand() == Starcoder2().params.subs(G, A).expand()
    assert D in Starcoder2(head_dim=D).symbols
    model = Starcoder2(hidden_size=100, num_attention_heads=10)
    assert (model.hidden_size, model.vocab_size, model.tie_word_embeddings, model.attention_dropout) == (100, V, True, 0.0)
    assert Starcoder2(num_hidden_layers=0).params == H * V + 2 * H


def test_no_layers() -> None:
    """A number of layers may be put in as 0: what is left are the words and the last norm."""
    assert Starcoder2().at(L=0).params == H * V + 2 * H


def test_connections() -> None:
    """Each token uses one row of the table, every other number once, and a tied head all rows."""
    used = PROJECTIONS + BIASES + NORMS + H
    assert (ps.connections(Starcoder2()) - S * used).expand() == 0
    assert ps.connections(ps.load("bigcode/starcoder2-3b"), (2, 7)) == 7 * (3030371328 + 3072)


@pytest.mark.parametrize(("name", "count"), [(one.name, one.count) for one in Phi.claims])
def test_published_names(name: str, count: int) -> None:
    """Phi-2 rotates 0.4 of each head."""
    model: Any = ps.load(name)
    assert (model.count, model.architecture, type(model)) == (count, "PhiForCausalLM", Phi)
    assert model.partial_rotary_factor == (0.4 if name.endswith("phi-2") else None)


@pytest.mark.parametrize(("name", "count"), [(one.name, one.count) for one in Starcoder2.claims])
def test_published_sizes(name: str, count: int) -> None:
    """By ``load`` and by ``at``."""
    model: Any = ps.load(name)
    assert (model.count, model.architecture, type(model)) == (count, CAUSAL, Starcoder2)
    tied = name != "bigcode/starcoder2-15b"
    assert Starcoder2(architecture=CAUSAL, tie_word_embeddings=tied).at(name.rpartition("/")[2]).count == count


def test_a_published_size_with_other_flags() -> None:
    """A flag that a published size states must be that of the model."""
    with pytest.raises(StructureError, match="build it with tie_word_embeddings=False"):
        Starcoder2(architecture=CAUSAL).at("bigcode/starcoder2-15b")


def test_a_model_is_a_value() -> None:
    """Its repr is the call that makes it; it is pickled by its class; configurations with the same flags have one form."""
    model: Any = ps.load("bigcode/starcoder2-7b")
    assert eval(repr(model), {"Starcoder2": Starcoder2}) == model
    again = pickle.loads(pickle.dumps(model))
    assert (again, again.origin) == (model, model.origin)
    other: Any = ps.load("bigcode/starcoder2-3b")
    assert model.origin[0] is other.origin[0]
    assert isinstance(ps.from_config({"architectures": [CAUSAL]}), Starcoder2)


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ({"hidden_act": "none of these"}, ArgumentError),
        ({"architecture": "Starcoder3Model"}, ArgumentError),
        ({"use_bias": H}, ArgumentError),
        ({"hidden_size": 0}, SizeError),
        ({"num_hidden_layers": 1.5}, SizeError),
        ({"hidden_size": 100, "num_attention_heads": 7}, DivisibilityError),
    ],
)
def test_wrong_arguments(keys: dict[str, Any], error: type[ParamsymError]) -> None:
    """One error that names the key."""
    with pytest.raises(error, match="|".join(keys)):
        Starcoder2(**keys)


def test_keys_that_published_files_still_have() -> None:
    """The files of StarCoder2 have keys that the reference does not read; another unknown key is refused."""
    left = {"activation_function": "gelu", "mlp_type": "default", "norm_type": "layer_norm", "scale_attn_weights": True}
    assert ps.from_config({"model_type": "starcoder2", **left}, strict=True).params == 3030371328
    with pytest.raises(ParamsymError, match="mlp_kind"):
        ps.from_config({"model_type": "starcoder2", "mlp_kind": "default"}, strict=True)


@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_family(name: str) -> None:
    """It is listed, and its reader has the keys that are its sizes."""
    model_type, paper = RECORDED[name]
    assert model_type in RECORDED_TYPES
    assert paper in str(family_named(name).__doc__)
    letters = {key.letter for key in family_of(model_type).keys.values() if isinstance(key, Size)}
    assert family_named(name)().symbols <= letters

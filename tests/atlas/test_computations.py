"""What the classes of the atlas compute: counts by hand, conditions, damaged files."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from amount import cases
from sympy import ceiling, expand, floor

import paramsym as ps
from paramsym import A, B, D, F, G, H, L, S, V
from paramsym.algebra.symbols import dims
from paramsym.atlas import computing
from paramsym.atlas.computing import computed_types, packed_computations
from paramsym.atlas.files import record_of
from paramsym.atlas.letters import letter_in, name_of
from paramsym.atlas.record import RecordError, plain, unpacked
from paramsym.errors import DivisibilityError, NotYetError, ParamsymError, ShapeError

DECODER = "Glm4ForCausalLM"


def glm(**keys: Any) -> ps.Layer:
    """Return GLM-4's language model."""
    return ps.from_config({"model_type": "glm4", **keys}, architecture=DECODER)


def letters(**keys: Any) -> Any:
    return glm(**keys).origin[0]


def test_products_by_hand() -> None:
    """Each token: queries and output, keys and values, three matrices of the network, the head; each pair of tokens: scores and values."""
    each_token = L * (2 * A * D * H + 2 * G * D * H + 3 * H * F) + V * H
    wanted = 2 * B * S * each_token + 4 * L * B * A * D * S**2
    assert expand(ps.flops(letters(), (B, S)).total - wanted) == 0
    assert expand(ps.flops(letters(), (B, S), way="both").total - 3 * wanted) == 0


def test_a_published_size() -> None:
    """GLM-4-9B-0414: 40 layers of width 4096 and 13696, 32 heads of 128, 2 groups, 151,552 tokens."""
    layer = 2 * 32 * 128 * 4096 + 2 * 2 * 128 * 4096 + 3 * 4096 * 13696
    tokens = 2 * 8192 * (40 * layer + 151_552 * 4096) + 4 * 40 * 32 * 128 * 8192**2
    assert ps.flops(glm(attention_bias=False), (1, 8192)).total == tokens
    assert ps.kv_cache(glm(), (1, 8192)).total == 2 * 40 * 2 * 128 * 8192
    assert ps.output_shape(glm(), (1, 7)) == (1, 7, 151_552)


def test_the_heads_are_explained() -> None:
    """The width of a head is a key of its own in GLM-4, so the number of heads stays."""
    told = str(ps.explain(ps.flops(letters(), (B, S)), "A"))
    assert "changes the FLOPs" in told
    assert "A is inside a size, A*D" in told


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"head_dim": 130}, "head_dim is 130"),
        ({"head_dim": 1024}, "head_dim is 1024"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0; .* is known above 0"),
        ({"partial_rotary_factor": 0.25}, "partial_rotary_factor is 0.25"),
        ({"rope_parameters": {"rope_theta": 10000.0, "partial_rotary_factor": 1.0}}, "partial_rotary_factor is 1.0"),
    ],
)
def test_other_computations_are_refused_by_name(keys: dict[str, Any], words: str) -> None:
    model = glm(**keys)
    assert model.count > 0
    with pytest.raises(NotYetError, match=words):
        ps.flops(model, (1, 8))


def test_another_class_of_the_type_computes() -> None:
    """EXAONE 4 was recorded with its head, and not without it."""
    with pytest.raises(
        NotYetError, match=r"known what Exaone4ForCausalLM of this type computes: write ps.load\('exaone4', 'Exaone4ForCausalLM'\)"
    ):
        ps.flops(ps.load("exaone4"), (1, 8))


def test_letters_that_must_be_numbers() -> None:
    """Swin 2 pads images for its windows, so that its pass was recorded at one size of the image; the error says what to write."""
    swin = ps.load("swinv2")
    with pytest.raises(NotYetError, match=r"known for image_size = 224, patch_size = 4 only: write at\(W=224, K=4\)"):
        ps.flops(swin, (B, 3, 224, 224))
    put_in = swin.at(W=224, K=4)
    by_default = ps.from_config({"model_type": "swinv2"}, architecture="Swinv2Model")
    found = ps.flops(put_in, (2, 3, 224, 224)).total
    assert found.subs(by_default.sizes) == ps.flops(by_default, (2, 3, 224, 224)).total


def test_heads_that_their_groups_do_not_divide() -> None:
    """The reference repeats 9 // 2 times and fails; the error names the keys."""
    words = "num_attention_heads 9 is not divisible by num_key_value_heads 2"
    model = glm(num_attention_heads=9, num_key_value_heads=2)
    for shape in ((1, 8), (B, S)):
        with pytest.raises(DivisibilityError, match=words):
            ps.flops(model, shape)


def test_heads_of_latent_attention() -> None:
    """GLM-4.7-Flash reads a number of key/value heads, which must be that of its heads; products by hand, for one layer of one token."""
    config = {"model_type": "glm4_moe_lite", "num_hidden_layers": 1, "num_attention_heads": 40}
    with pytest.raises(NotYetError, match=r"num_key_value_heads is 20; .* for that of num_attention_heads, 40"):
        ps.flops(ps.from_config(config, architecture="Glm4MoeLiteForCausalLM"), (1, 8))
    flash = ps.from_config({"model_type": "glm4_moe_lite", "num_hidden_layers": 1}, architecture="Glm4MoeLiteForCausalLM")
    queries = 2048 * 768 + 768 * 20 * (192 + 64)
    keys = 2048 * (512 + 64) + 512 * 20 * (192 + 256)
    scores_and_values = 8 * 20 * (192 + 64) + 8 * 20 * 256
    network = 3 * 2048 * 10240
    each = queries + keys + scores_and_values + 20 * 256 * 2048 + network + 2048 * 154_880
    assert ps.flops(flash, (1, 8)).total == 2 * 8 * each


FALCON_H1 = "FalconH1ForCausalLM"


def test_a_published_size_of_attention_beside_a_scan() -> None:
    """Falcon-H1-0.5B: each of 36 layers has 8 heads of 64 with 2 groups, and 24 heads of 64 with 128 states, beside each other."""
    keys = {"vocab_size": 32_784, "hidden_size": 1024, "intermediate_size": 2048, "num_hidden_layers": 36, "head_dim": 64}
    keys |= {"num_attention_heads": 8, "num_key_value_heads": 2, "mamba_d_ssm": 1536, "mamba_n_heads": 24, "mamba_d_head": 64}
    model = ps.from_config({"model_type": "falcon_h1", **keys, "mamba_d_state": 128}, architecture=FALCON_H1)
    assert model.count == 521_411_104
    attention = 2 * 8 * 64 * 1024 + 2 * 2 * 64 * 1024
    around_the_scan = (2 * 1536 + 2 * 128 + 24) * 1024 + 1536 * 1024
    each_token = 36 * (attention + around_the_scan + 3 * 1024 * 2048) + 32_784 * 1024
    work = ps.flops(model, (2, 200))
    inside = {f"model.layers.{{0..35}}.mamba.{one}" for one in ("convolution", "product")}
    found = sum(one.amount for one in work.lines if one.name not in inside)
    assert found == 2 * (2 * 200 * each_token + 2 * 36 * 2 * 8 * 64 * 200**2)
    assert work.total > found


def test_a_width_that_is_a_product() -> None:
    """The width of Falcon-H1's scan is its heads by their width, each with a key of its own; in letters the width of a head follows."""
    found = ps.from_config({"model_type": "falcon_h1"}, architecture=FALCON_H1).origin[0]._computation
    found.check({}, {"S": 8, "mamba_d_ssm": 48, "mamba_n_heads": 6, "mamba_d_head": 8})
    with pytest.raises(NotYetError, match=r"mamba_d_ssm is 50; .* known for 48, the product of mamba_n_heads and mamba_d_head"):
        found.check({}, {"S": 8, "mamba_d_ssm": 50, "mamba_n_heads": 6, "mamba_d_head": 8})


def test_a_published_text_with_room_for_pictures() -> None:
    """Qwen3-VL-8B without pictures: 36 layers of width 4096 and 12,288, 32 heads of 128, 8 groups, 151,936 tokens."""
    text = {"hidden_size": 4096, "intermediate_size": 12_288, "num_hidden_layers": 36, "num_attention_heads": 32, "head_dim": 128}
    config = {"model_type": "qwen3_vl", "text_config": {**text, "num_key_value_heads": 8, "vocab_size": 151_936}}
    model = ps.from_config(config, architecture="Qwen3VLForConditionalGeneration")
    layer = 2 * 32 * 128 * 4096 + 2 * 8 * 128 * 4096 + 3 * 4096 * 12_288
    assert ps.flops(model, (2, 512)).total == 2 * 2 * 512 * (36 * layer + 151_936 * 4096) + 2 * 4 * 36 * 32 * 128 * 512**2


def test_inputs_of_another_form() -> None:
    for given in ((3,), (1, 2, 3)):
        with pytest.raises(ShapeError):
            ps.flops(glm(), given)


BOTH_KINDS = {"granitemoehybrid": {"num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"]}}
"""Keys of types whose default has no layer with attention, which the reference does not run."""


UNTRAINED = {
    *("bamba", "data2vec-vision", "dinov3_vit", "falcon_h1", "granitemoehybrid", "groupvit_vision_model", "ibert"),
    *("mobilenet_v2", "nemotron_h", "phimoe", "swinv2", "yoso"),
}
"""Types of some of whose classes it is not known what training keeps, which differs from evaluation in more than dropout."""


@cases(3)
@pytest.mark.parametrize("model_type", computed_types())
def test_every_form_computes(model_type: str) -> None:
    """Each recorded class answers in letters; the backward pass of products has twice their work, and no answer has a floor of its own."""
    for name, entry in computing._classes_of(model_type).items():
        keys = {name_of(key): key for key in record_of(model_type)["classes"][name]["keys"]}
        recorded_at = {keys[letter]: number for letter, number in entry["forms"][0]["base"].items() if letter in keys}
        needed = dict.fromkeys(entry["forms"][0].get("needed", ()), 0)
        model = ps.from_config({"model_type": model_type, **recorded_at, **needed, **BOTH_KINDS.get(model_type, {})}, architecture=name)
        loops = {dims(length): most for length, most in entry["forms"][0].get("loops", {}).items()}
        shapes = [tuple(loops.get(axis, axis) for axis in shape) for shape in model.inputs.values()]
        forward = ps.flops(model, *shapes).total
        assert ps.flops(model, *shapes, way="both").total != forward
        letters = [dims(letter_in(axis)[1]) for axes in entry["inputs"].values() for axis in axes if isinstance(axis, str)]
        assert B in letters
        assert forward.has(B)
        try:
            kept = ps.activations(model, *shapes).total
        except NotYetError as error:
            assert model_type in UNTRAINED and "in training is not known" in str(error)  # noqa: PT017, PT018
            continue
        assert kept.has(*(letter for letter in letters if letter in {B, S}))


def _damaged(one: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(one)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return changed


FORM = ("forms", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*FORM, "sizes", 0), ["eval", "H"]),
        ((*FORM, "sizes", 0), "unknown"),
        ((*FORM, "sizes", 0), ["^", "hidden_size", 10**6]),
        ((*FORM, "recording"), None),
        ((*FORM, "recording", "top"), {"path": "", "kind": "X"}),
        ((*FORM, "recording", "outputs"), [10**9]),
        ((*FORM, "held"), []),
        (("inputs",), {}),
        (("forms",), []),
    ],
)
def test_a_damaged_file(path: tuple[Any, ...], value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is one error of the library's own."""
    classes = plain(unpacked(computing.path_of("glm4").read_bytes()))["classes"]
    damaged = {DECODER: _damaged(classes[DECODER], path, value)}
    monkeypatch.setattr(computing, "_classes_of", lambda _: plain(unpacked(packed_computations("glm4", damaged)))["classes"])
    computing._forms_of.cache_clear()
    try:
        with pytest.raises(ParamsymError):
            ps.flops(ps.from_config({"model_type": "glm4", "num_hidden_layers": 7, "vocab_size": 151_600}, architecture=DECODER), (1, 5))
    finally:
        computing._forms_of.cache_clear()


def test_a_file_of_another_format() -> None:
    with pytest.raises(RecordError):
        computing.checked_computations({"format": 2, "classes": {}})


def test_inputs_longer_than_the_positions() -> None:
    """CamemBERT has 514 positions, of which two are before the first token (Liu et al. 2019: RoBERTa reads at most 512 tokens)."""
    published = {"model_type": "camembert", "max_position_embeddings": 514, "vocab_size": 32_005}
    model = ps.from_config(published, architecture="CamembertForMaskedLM")
    assert ps.output_shape(model, (1, 512)) == (1, 512, 32_005)
    with pytest.raises(ShapeError, match=r"S is 513; the model has positions for 512 \(max_position_embeddings is 514\)"):
        ps.flops(model, (1, 513))


# Layers of several kinds, and windows ---------------------------------------------------------------------------------------------


def test_layers_of_two_kinds_by_hand() -> None:
    """SmolLM3-3B: 36 layers, every fourth without rotary positions, which cost no product; 16 heads of 128, 4 groups."""
    model = ps.from_config({"model_type": "smollm3"}, architecture="SmolLM3ForCausalLM")
    layer = 2 * 2048 * 2048 + 2 * 4 * 128 * 2048 + 3 * 2048 * 11_008
    assert ps.flops(model, (1, 4096)).total == 2 * 4096 * (36 * layer + 128_256 * 2048) + 4 * 36 * 2048 * 4096**2
    assert ps.kv_cache(model, (1, 4096)).total == 2 * 36 * 4 * 128 * 4096


def operators(called: Any) -> int:
    """Return how many operators run in a call, those of all copies."""
    if hasattr(called, "arguments"):
        return 1
    if hasattr(called, "count"):
        return int(called.count) * sum(map(operators, called.calls))
    return sum(map(operators, called.items))


def test_the_order_of_kinds_follows_a_list() -> None:
    """A layer rotates queries and keys by two slices, a sign, a join, two products and a sum each, with cosines and sines."""
    found = []
    for listed in ([0] * 36, [1, 1, 1, 0] * 9, [1, 0] * 18, [1] * 36):
        model: Any = ps.from_config({"model_type": "smollm3", "no_rope_layers": listed}, architecture="SmolLM3ForCausalLM")
        (order,) = model._computation.orders
        recording = model._computation.recording_of({order.path: model._kinds(order)}, {})
        found.append(operators(recording.top) - 16 * sum(listed))
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("listed", "words"),
    [([1, 1, 1, 0], "no_rope_layers has 4 entries for 36 layers"), ([1, 1, 1, 5] * 9, "layer 3 has no_rope_layers 5")],
)
def test_other_lists_are_refused_by_name(listed: list[int], words: str) -> None:
    model = ps.from_config({"model_type": "smollm3", "no_rope_layers": listed}, architecture="SmolLM3ForCausalLM")
    with pytest.raises(NotYetError, match=words):
        ps.flops(model, (1, 8))


def test_a_depth_in_letters() -> None:
    """Layers of several kinds are counted for any number of them; all of SmolLM3's cost the same."""
    model = ps.from_config({"model_type": "smollm3"}, architecture="SmolLM3ForCausalLM").origin[0]
    each_token = L * (2 * H * H + 2 * G * (H / A) * H + 3 * H * F) + V * H
    assert expand(ps.flops(model, (B, S)).total - 2 * B * S * each_token - 4 * L * B * H * S**2) == 0
    assert expand(ps.kv_cache(model, (B, S)).total - 2 * L * B * S * G * H / A) == 0


def test_kinds_whose_number_follows_from_the_depth() -> None:
    """MiniMax: layers of two kinds by turns, with attention to blocks of tokens and to all tokens."""
    model: Any = ps.from_config({"model_type": "minimax"}, architecture="MiniMaxForCausalLM")
    letters = model.origin[0]
    half = letters.at({size: number for size, number in model.origin[1].items() if size != L})
    total = ps.flops(half, (2, 12)).total
    assert total.has(floor, ceiling)
    for depth in (3, 32, 33):
        assert total.subs(L, depth) == ps.flops(half.at(L=depth), (2, 12)).total


def test_a_list_with_an_entry_for_each_layer_has_one_depth() -> None:
    """A list that is no default says the kinds of as many layers as it has entries."""
    keys = {"model_type": "smollm3", "no_rope_layers": [1, 0] * 18}
    model = ps.from_config(keys, architecture="SmolLM3ForCausalLM").origin[0]
    with pytest.raises(NotYetError, match=r"without a pattern, so L must be a number for what they compute: write at\(L=36\)"):
        ps.flops(model, (B, S))


def test_inputs_beside_a_window() -> None:
    """OLMo 3's default: the products are the same below and above the window of 4096."""
    model = ps.from_config({"model_type": "olmo3"}, architecture="Olmo3ForCausalLM")
    layer = 4 * 4096 * 4096 + 3 * 4096 * 11_008
    for length in (4095, 4096, 8192):
        wanted = 2 * length * (32 * layer + 50_304 * 4096) + 4 * 32 * 4096 * length**2
        assert ps.flops(model, (1, length)).total == wanted


@pytest.mark.parametrize("length", [4095, 4096, 8192])
def test_a_cache_beyond_a_window(length: int) -> None:
    """OLMo 3: 24 layers keep what a next token sees beside itself in a window of 4096, and 8 layers keep all (arXiv:2512.13961)."""
    model = ps.from_config({"model_type": "olmo3"}, architecture="Olmo3ForCausalLM")
    assert ps.kv_cache(model, (1, length)).total == 2 * 4096 * (24 * min(length, 4095) + 8 * length)


def test_a_cache_of_chunks() -> None:
    """Llama 4: three of four layers keep a chunk, whose size changes no tensor and no product."""
    keys = {"model_type": "llama4_text", "num_hidden_layers": 4}
    for given, chunk in (({}, 8192), ({"attention_chunk_size": 100}, 100)):
        model = ps.from_config({**keys, **given}, architecture="Llama4ForCausalLM")
        assert ps.kv_cache(model, (1, 9000)).total == 2 * 8 * 128 * (3 * (chunk - 1) + 9000)
    with pytest.raises(ps.ParamsymError, match=r"attention_chunk_size is 1.5 \(float\); write a whole number or null"):
        ps.from_config({**keys, "attention_chunk_size": 1.5}, architecture="Llama4ForCausalLM")


@pytest.mark.parametrize(
    ("model_type", "name", "most"), [("minimax", "MiniMaxForCausalLM", 255), ("nemotron_h", "NemotronHForCausalLM", 127)]
)
def test_loops_over_blocks_of_positions(model_type: str, name: str, most: int) -> None:
    """Attention to blocks of 256 tokens, and a scan over chunks of 128: longer inputs have other operators."""
    model = ps.from_config({"model_type": model_type}, architecture=name)
    assert ps.flops(model, (2, most)).total
    with pytest.raises(NotYetError, match=f"S is {most + 1}; what the model computes is known for S up to {most}"):
        ps.flops(model, (2, most + 1))
    with pytest.raises(NotYetError, match=f"known for S up to {most}; give a number for it"):
        ps.flops(model, (2, S))


def test_a_pattern_is_one_loop() -> None:
    """The layers of a pattern are written once, so a deeper model has no longer table."""
    rows = [
        len(
            ps.flops(ps.from_config({"model_type": "smollm3", "num_hidden_layers": depth}, architecture="SmolLM3ForCausalLM"), (1, 8)).lines
        )
        for depth in (8, 36)
    ]
    assert rows[0] == rows[1]

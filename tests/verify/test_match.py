"""What ``match`` says: every kind of disagreement, by name, axis and symbol."""

from __future__ import annotations

import pytest
from amount import cases

import paramsym as ps
from paramsym import A, C, F, H, L, V, per
from paramsym.errors import ArgumentError, CheckpointError, StructureError, UnknownNameError
from paramsym.testing import assert_matches
from paramsym.verify.match import Match

DENSE = ps.Dense(H, F)
SHAPES = {"weight": (3072, 768), "bias": (3072,)}


def test_equal_shapes_match_and_determine_the_sizes() -> None:
    """A layer with symbols is matched by solving for them."""
    found = ps.match(DENSE, SHAPES)
    assert found.ok
    assert bool(found)
    assert found.equal == ("weight", "bias")
    assert found.sizes == {H: 768, F: 3072}
    assert str(found) == "Dense: all 2 tensors match."


def test_missing_and_unexpected_are_named() -> None:
    """A bias under another name is missing here and unexpected there."""
    found = ps.match(DENSE.at(H=768, F=3072), {"weight": (3072, 768), "offset": (3072,)})
    assert not found.ok
    assert (found.missing, found.unexpected) == (("bias",), ("offset",))
    assert "bias" in str(found)
    assert "1 is not in the layer" in str(found)


def test_a_transposed_matrix_is_its_own_outcome() -> None:
    """Two axes the other way round are no wrong shape."""
    found = ps.match(DENSE.at(H=768, F=3072), {"weight": (768, 3072), "bias": (3072,)})
    assert found.transposed == ("weight",)
    assert found.mismatched == ()
    assert not found.ok


def test_a_convolution_in_keras_order_says_how_its_axes_stand() -> None:
    """Of four axes the order is given."""
    found = ps.match(ps.Conv2d(3, 8, 5, bias=False), {"weight": (5, 5, 3, 8)})
    assert found.transposed == ("weight",)
    assert "(2, 3, 1, 0)" in found.row("weight").note


def test_a_wrong_axis_is_named_with_its_symbol() -> None:
    """Which axis, which symbol, what was found and what wanted."""
    found = ps.match(DENSE.at(H=768, F=3072), {"weight": (3071, 768), "bias": (3072,)})
    assert found.mismatched == ("weight",)
    assert found.row("weight").note == "axis 0 (F) is 3071, not 3072"


def test_another_number_of_axes_is_said() -> None:
    """A vector is no matrix."""
    found = ps.match(DENSE.at(H=768, F=3072), {"weight": (768,), "bias": (3072,)})
    assert found.row("weight").note == "1 axis, not 2"


def test_contradictory_sizes_are_reported_and_the_majority_is_taken() -> None:
    """One copy of five that differs is the one that is wrong."""
    shapes = {f"{i}.{name}": shape for i in range(5) for name, shape in (("weight", (4, 3)), ("bias", (4,)))}
    found = ps.match(ps.Repeat(ps.Dense(H, F), L), {**shapes, "3.weight": (4, 5)})
    assert found.sizes == {H: 3, F: 4, L: 5}
    assert found.mismatched == ("3.weight",)
    assert "H is 3 by 4 shapes and 5 by 1 (3.weight, axis 1)" in str(found)


def test_heads_that_cancel_need_not_be_known() -> None:
    """No shape has A in it once it is multiplied out."""
    found = ps.match(
        ps.MultiHeadAttention(H, A),
        {"in_proj_weight": (36, 12), "in_proj_bias": (36,), "out_proj.weight": (12, 12), "out_proj.bias": (12,)},
    )
    assert found.ok
    assert found.sizes == {H: 12}


def test_products_that_no_shape_takes_apart_must_agree() -> None:
    """Two unknowns in one product: the same product is the same number everywhere, or it is a mismatch."""
    m, n = ps.dims("m n")
    layer = ps.Block(a=ps.Dense(m * n, 1, bias=False), b=ps.Dense(m * n, 2, bias=False))
    assert ps.match(layer, {"a.weight": (1, 12), "b.weight": (2, 12)}).ok
    found = ps.match(layer, {"a.weight": (1, 12), "b.weight": (2, 13)})
    assert found.mismatched == ("b.weight",)
    assert "no shape determines m, n" in str(found)


def test_impossible_sizes_are_a_problem_not_a_crash() -> None:
    """Shapes that no valid layer has are said to be impossible."""
    layer = ps.Block(heads=ps.Parameter((A,)), attention=ps.MultiHeadAttention(H, A, bias=False))
    found = ps.match(layer, {"heads.weight": (12,), "attention.in_proj_weight": (2358, 786), "attention.out_proj.weight": (786, 786)})
    assert not found.ok
    assert "786 is not divisible by" in str(found)


def test_steps_in_sizes_are_solved_where_they_have_one_solution() -> None:
    """A ceiling alone leaves sixteen widths; together with the width itself it fits."""
    from sympy import Rational, ceiling

    layer = ps.Block(dt=ps.Dense(ceiling(H * Rational(1, 16)), 1, bias=False), x=ps.Dense(H, 1, bias=False))
    assert ps.match(layer, {"dt.weight": (1, 3), "x.weight": (1, 40)}).ok
    assert ps.match(layer, {"dt.weight": (1, 4), "x.weight": (1, 40)}).mismatched == ("dt.weight",)


def test_alternating_blocks_determine_their_number() -> None:
    """Three of one kind and two of the other are five."""
    layer = ps.Repeat((ps.Dense(H, 1, bias=False), ps.Dense(H, H, bias=False)), L)
    shapes = {f"{i}.weight": ((7, 7) if i % 2 else (1, 7)) for i in range(5)}
    found = ps.match(layer, shapes)
    assert found.ok
    assert found.sizes == {H: 7, L: 5}


def test_copies_that_depend_on_their_number_are_solved() -> None:
    """DenseNet's growth: every copy is an equation of its own."""
    i, g, n = ps.dims("i g n")
    layer = ps.Repeat(ps.Dense(C + i * g, g, bias=False), n, index=i)
    found = ps.match(layer, {f"{k}.weight": (4, 10 + 4 * k) for k in range(6)})
    assert found.ok
    assert found.sizes == {C: 10, g: 4, n: 6}
    wrong = ps.match(layer, {f"{k}.weight": (4, 10 + 4 * k + (k == 3)) for k in range(6)})
    assert wrong.mismatched == ("3.weight",)
    assert "C + 3*g" in wrong.row("3.weight").note


def test_an_alias_may_be_left_out_of_a_file_or_stand_for_the_first() -> None:
    """Writers keep one name of a tied tensor; which one is theirs to choose."""
    model = ps.Tied(ps.Block(wte=ps.Embedding(V, H), head=ps.Dense(H, V, bias=False)), {"head.weight": "wte.weight"})
    for shapes in ({"wte.weight": (9, 4)}, {"head.weight": (9, 4)}, {"wte.weight": (9, 4), "head.weight": (9, 4)}):
        found = ps.match(model.at(V=9, H=4), shapes)
        assert found.ok, str(found)
        assert found.tied == ("head.weight",)
    assert ps.match(model.at(V=9, H=4), {"wte.weight": (9, 4), "head.weight": (9, 5)}).mismatched == ("head.weight",)
    assert ps.match(model.at(V=9, H=4), {}).missing == ("wte.weight",)


def test_a_missing_tie_is_found_against_another_layer() -> None:
    """Equal names and shapes are not enough: what is shared is compared, too."""
    loose = ps.Block(wte=ps.Embedding(9, 4), head=ps.Dense(4, 9, bias=False))
    tied = ps.Tied(loose, {"head.weight": "wte.weight"})
    assert ps.match(tied, tied).ok
    assert ps.match(tied, loose).mismatched == ("head.weight",)
    assert "the layer ties it to wte.weight" in str(ps.match(tied, loose))
    assert ps.match(loose, tied).mismatched == ("head.weight",)
    assert "the layer counts both" in str(ps.match(loose, tied))


def test_buffers_may_be_left_out_of_a_dictionary() -> None:
    """Running statistics are no parameters; where they stand, their shapes are checked."""
    norm = ps.BatchNorm1d(C)
    assert ps.match(norm, {"weight": (5,), "bias": (5,)}).ok
    assert ps.match(norm, {"weight": (5,), "bias": (5,), "running_mean": (6,)}).mismatched == ("running_mean",)


def test_fused_segments_stored_apart_are_renamed_by_label() -> None:
    """Query, key and value stored apart; the layer keeps one tensor of three labelled segments."""
    table = {"q.{}": "in_proj_{}[query]", "k.{}": "in_proj_{}[key]", "v.{}": "in_proj_{}[value]", "o.{}": "out_proj.{}"}
    shapes = {f"{part}.{name}": shape for part in "qkvo" for name, shape in (("weight", (12, 12)), ("bias", (12,)))}
    layer = ps.MultiHeadAttention(H, A).at(H=12, A=3)
    assert ps.match(layer, shapes, rename=table).ok
    del shapes["v.bias"]
    assert ps.match(layer, shapes, rename=table).missing == ("in_proj_bias[value]",)


def test_separate_projections_stored_fused_are_cut_apart() -> None:
    """Several targets of one rule lie side by side in one stored tensor."""
    layer = ps.Block(q=ps.Dense(H, H), k=ps.Dense(H, F), v=ps.Dense(H, F)).at(H=4, F=2)
    table = {"c_attn.{}": ("q.{}", "k.{}", "v.{}")}
    assert ps.match(layer, {"c_attn.weight": (8, 4), "c_attn.bias": (8,)}, rename=table).ok
    found = ps.match(layer, {"c_attn.weight": (9, 4), "c_attn.bias": (8,)}, rename=table)
    assert found.mismatched == ("q.weight", "k.weight", "v.weight")
    assert "c_attn.weight (9, 4)" in str(found)


def test_renaming_refuses_what_it_cannot_do() -> None:
    """A rule that fits nothing, two tensors of one new name, more places than texts, no table at all."""
    with pytest.raises(UnknownNameError, match="no stored tensor is named 'wieght'"):
        ps.match(DENSE, SHAPES, rename={"wieght": "weight"})
    with pytest.raises(CheckpointError, match="would both be 'weight'"):
        ps.match(DENSE, SHAPES, rename={"bias": "weight"})
    with pytest.raises(ArgumentError, match="has more"):
        ps.match(DENSE, SHAPES, rename={"bias": "{}.bias"})
    with pytest.raises(ArgumentError, match="wanted a table"):
        ps.match(DENSE, SHAPES, rename=["bias"])  # type: ignore[arg-type]
    for target in ((3,), 3):
        with pytest.raises(ArgumentError, match="not a pair of names"):
            ps.match(DENSE, SHAPES, rename={"bias": target})  # type: ignore[dict-item]
    assert ps.match(DENSE, {**SHAPES, "steps": ()}, rename={"steps": None}).ok


def test_wrong_sources_are_refused() -> None:
    """Nothing that holds no tensors, no shape that is none."""
    for nothing in (None, 7, 1.5, {1, 2}):
        with pytest.raises(ArgumentError, match="there are no tensors in"):
            ps.match(DENSE, nothing)
    for wrong in ((768.0,), (True,), "x", (-1,), 5, None):
        with pytest.raises(CheckpointError, match="weight"):
            ps.match(DENSE, {"weight": wrong})
    with pytest.raises(ArgumentError, match="still has symbols"):
        ps.match(DENSE, ps.Dense(H, F))


def test_a_tree_too_deep_is_refused() -> None:
    """A dictionary inside itself ends in one error."""
    tree: dict[str, object] = {}
    tree["a"] = tree
    with pytest.raises(CheckpointError, match="levels deep"):
        ps.match(DENSE, tree)


def test_trees_are_read_by_their_paths() -> None:
    """Nested dictionaries and lists, with or without collections."""
    layer = ps.Sequential(ps.Dense(H, F, dialect="keras"), ps.Dense(F, H, dialect="keras"))
    inner = {"kernel": (3, 4), "bias": (4,)}
    tree = {"0": inner, "1": {"kernel": (4, 3), "bias": (3,)}}
    assert ps.match(layer, tree).ok
    assert ps.match(layer, {"params": tree, "cache": {"seen": {"x": ()}}}).ok
    assert ps.match(ps.Repeat(ps.Dense(H, H, dialect="keras"), L), {"params": [{"kernel": (3, 3), "bias": (3,)}] * 2}).ok


@pytest.mark.parametrize(
    ("shapes", "scheme"),
    [
        ({"qweight": (16, 256), "qzeros": (1, 32), "scales": (1, 256), "g_idx": (128,)}, "GPTQ"),
        ({"qweight": (16, 256), "qzeros": (1, 32), "scales": (1, 256)}, "GPTQ"),
        ({"qweight": (128, 32), "qzeros": (1, 32), "scales": (1, 256)}, "AWQ"),
        ({"weight": (16384, 1), "weight.absmax": (512,), "weight.quant_map": (16,), "weight.quant_state.bitsandbytes__nf4": (90,)}, "nf4"),
        ({"weight": (256, 128), "SCB": (256,), "weight_format": ()}, "int8"),
        ({"weight": (256, 128), "weight_scale_inv": (2, 1)}, "scaled"),
        ({"weight_blocks": (256, 4, 16), "weight_scales": (256, 4)}, "MXFP4"),
        ({"weight_packed": (256, 16), "weight_scale": (256, 1), "weight_shape": (2,)}, "compressed-tensors"),
        ({"weight_packed": (256, 64), "weight_scale": (256, 4)}, "MXFP4"),
        ({"weight_packed": (256, 64), "weight_scale": (256, 8), "weight_global_scale": (1,), "input_global_scale": (1,)}, "NVFP4"),
        ({"weight": (256, 64), "weight_scale": (256, 8), "weight_scale_2": (), "input_scale": ()}, "NVFP4"),
    ],
)
def test_packed_tensors_are_recognised(shapes: dict[str, tuple[int, ...]], scheme: str) -> None:
    """Quantised checkpoints are unpacked in thought and said to be packed."""
    found = ps.match(ps.Dense(128, 256, bias=False), shapes)
    assert found.ok, str(found)
    assert found.packed == ("weight",)
    assert scheme in found.row("weight").note
    wrong = ps.match(ps.Dense(128, 257, bias=False), shapes)
    assert wrong.mismatched == ("weight",)
    assert scheme in str(wrong)


@pytest.mark.parametrize(
    "packed",
    [
        {"k_proj.weight": (128, 256), "k_proj.weight_scale_inv": (1, 2)},
        {
            "k_proj.weight": (16384, 1),
            "k_proj.weight.absmax": (512,),
            "k_proj.weight.quant_map": (16,),
            "k_proj.weight.quant_state.bitsandbytes__nf4": (90,),
        },
    ],
    ids=["fp8", "nf4"],
)
def test_packed_tensors_of_sizes_that_nothing_determines(packed: dict[str, tuple[int, ...]]) -> None:
    """How many heads share a key is in no shape; that is said, and no mismatch."""
    layer = ps.MultiHeadAttention(H, A, kv_heads=ps.G, bias=False)
    found = ps.match(layer, {"q_proj.weight": (256, 256), **packed, "v_proj.weight": (128, 256), "o_proj.weight": (256, 256)})
    assert found.ok, str(found)
    assert found.packed == ("k_proj.weight",)
    assert "no shape determines" in str(found)


def test_the_report_is_a_table_in_a_notebook() -> None:
    """HTML has every tensor, text only what is wrong, copies of one fault in one row."""
    layer = ps.Repeat(ps.Dense(2, 2), 40)
    shapes = {name: ((2, 3) if name.endswith("weight") else shape) for name, shape in layer.shapes().items()}
    found = ps.match(layer, shapes)
    assert "0.weight (and 39 like it)" in str(found)
    assert len(str(found).splitlines()) == 4
    assert found._repr_html_().count("<tr>") == 81
    assert "wrong shape" in found.table().to_markdown()
    with pytest.raises(KeyError):
        found.row("nothing")


def test_a_long_report_is_cut_short() -> None:
    """Twenty rows, and how many more."""
    layer = ps.Block({f"part{chr(97 + i)}": ps.Dense(2, 2, bias=False) for i in range(26)})
    assert "... and 6 more" in str(ps.match(layer, {}))


def test_composite_axes_are_products() -> None:
    """Heads times their width is one axis."""
    assert ps.match(ps.Dense((A, per(H, A)), F), {"weight": (5, 12), "bias": (5,)}).sizes == {F: 5, H: 12}


def own(layer: ps.Layer, **sizes: int) -> Match:
    """Match a layer with what it states at some sizes."""
    return ps.match(layer, layer.at(sizes).shapes())


def test_runs_of_copies_are_told_apart() -> None:
    """Names that both runs have give the end, those that one has the seam; also where a run is empty."""
    runs = ps.Runs((ps.Block(both=DENSE, one=DENSE), A), (ps.Block(both=DENSE, other=ps.Dense(H, 3)), L - A))
    for copies, dense in ((5, 3), (5, 0), (5, 5), (1, 1), (0, 0)):
        found = ps.match(runs, _runs(dense, copies))
        assert found.ok, str(found)
        assert (found.sizes[L], found.sizes[A]) == (copies, dense)


def _runs(first: int, copies: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for number in range(copies):
        own_name, width = ("one", 6) if number < first else ("other", 3)
        shapes |= {f"{number}.both.weight": (6, 4), f"{number}.both.bias": (6,)}
        shapes |= {f"{number}.{own_name}.weight": (width, 4), f"{number}.{own_name}.bias": (width,)}
    return shapes


def test_runs_of_equal_names_are_told_apart_by_their_shapes() -> None:
    """A name that may belong to two tensors says what both have in common; then its shape says to which it belongs."""
    n, e = ps.dims("n e")
    runs = ps.Runs((ps.Dense(H, H, bias=False), n), (ps.Dense(H, 3, bias=False), e))
    found = ps.match(runs, {"0.weight": (2, 2), "1.weight": (2, 2), "2.weight": (3, 2)})
    assert found.ok, str(found)
    assert found.sizes == {H: 2, n: 2, e: 1}
    alike = ps.match(runs, {"0.weight": (3, 3), "1.weight": (3, 3)})
    assert alike.ok, str(alike)
    assert "the names do not determine" in str(alike)


def test_one_copy_and_no_copy() -> None:
    """A first copy that differs may be the only one; without copies there is no name of any."""
    first = ps.Repeat(DENSE, L, first=ps.Dense(H, 3))
    assert ps.match(first, {"0.weight": (3, 4), "0.bias": (3,)}).sizes[L] == 1
    model = ps.Block(table=ps.Embedding(V, H), blocks=ps.Repeat(DENSE, L))
    assert ps.match(model, {"table.weight": (5, 4)}).sizes == {V: 5, H: 4, L: 0}
    assert not ps.match(model, {"table.weight": (5, 4), "block.0.weight": (6, 4)}).ok


@pytest.mark.parametrize("storage", ["stacked", "separate"])
def test_a_deepseek_of_any_depth(storage: str) -> None:
    """Dense layers up to k, experts from k on; without a layer of experts, nothing says how many experts there would be."""
    model = ps.models.Deepseek(architecture="DeepseekV3ForCausalLM", expert_storage=storage)
    width = dict.fromkeys((symbol.name for symbol in model.symbols), 4)
    for dense, depth in ((0, 0), (0, 2), (1, 1), (1, 2), (2, 2), (3, 5)):
        found = own(model, **(width | {"k": dense, "L": depth}))
        assert found.ok, str(found)


@cases(0)
def test_many_aliases_beside_fused_tensors_take_linear_time() -> None:
    """The segments of a fused tensor are looked up by its name."""
    block = ps.Block(attention=ps.MultiHeadAttention(4, 2), table=ps.Dense(4, 4))
    model = ps.Tied(ps.Block(table=ps.Dense(4, 4), blocks=ps.Repeat(block, 3000)), {"blocks.{}.table.weight": "table.weight"})
    assert ps.match(model, model.shapes()).ok


EVIL = "a\x1b[2Jb\nc\u202ed"


def test_names_from_files_steer_no_terminal() -> None:
    """A name may hold anything in a file; in words its control characters are spelt out, as data it stays what it is."""
    found = ps.match(ps.Dense(2, 3), {EVIL: (3, 2), "weight": (3, 3)})
    assert found.unexpected == (EVIL,)
    compared = ps.reconcile(ps.Dense(2, 3), {EVIL: (3, 2)})
    with pytest.raises(ps.ParamsymError) as caught:
        assert_matches(ps.Dense(2, 3), {EVIL: (3, 2)})
    for shown in (str(found), repr(found), found.to_markdown(), str(compared), str(caught.value)):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert r"x1b[2Jb" in shown


@pytest.mark.parametrize("name", [EVIL, "a\nb", "\x00", "\u2028"])
def test_a_layer_has_names_for_a_screen(name: str) -> None:
    """A part or tensor of one's own with control characters in its name is refused."""
    with pytest.raises(StructureError, match="has control characters in its name"):
        ps.Sequential({name: ps.Dense(2, 3)})
    with pytest.raises(StructureError, match="has control characters in its name"):
        ps.Tensor(name, (2,))
    with pytest.raises(StructureError, match="needs a name"):
        ps.Part(3, ps.Dense(2, 3))  # type: ignore[arg-type]


def test_a_given_number_of_groups_without_blocks() -> None:
    """Of ALBERT's groups one is there, whatever it holds; the blocks inside are those that there are none of."""
    inside = ps.dims("n_i")
    narrow = {"vocab_size": 1, "hidden_size": 1, "num_hidden_layers": 1, "num_attention_heads": 1, "embedding_size": 1}
    albert = ps.models.Albert(**narrow, inner_group_num=inside)  # type: ignore[arg-type]
    assert ps.match(albert, albert.at(n_i=0, F=1, P=1, T=1).shapes()).ok


def test_a_first_copy_of_its_own_goes_with_the_last() -> None:
    """A head without convolutions stores none, although its first one is stated apart from the others."""
    model = ps.models.Beit(architecture="BeitForSemanticSegmentation", num_labels=1)
    sizes = {symbol: {"A": 3, "n_c": 0}.get(symbol.name, 12) for symbol in model.symbols}
    found = ps.match(model, model.at(sizes).shapes())
    assert found.ok
    assert {symbol.name: size for symbol, size in found.sizes.items()}["n_c"] == 0


def test_copies_of_another_stack_are_no_copies_of_this_one() -> None:
    """One encoder layer, which is known, does not stand for a convolution of the head."""
    kept = {"num_labels": 1, "num_hidden_layers": 1, "image_size": 4, "use_relative_position_bias": False}
    model = ps.models.Beit(architecture="BeitForSemanticSegmentation", **kept)
    sizes = {symbol: {"n_c": 0, "A": 1, "K": 2}.get(symbol.name, 4) for symbol in model.symbols}
    assert ps.match(model, model.at(sizes).shapes()).ok


def test_the_output_matrix_of_gpt_neox() -> None:
    """GPT-NeoX is saved with its ``lm_head`` as ``embed_out``, as in the files of Pythia."""
    model = ps.models.GptNeoX(architecture="GPTNeoXForCausalLM").at(V=7, H=8, L=1, A=2, F=3)
    saved = {name.replace("lm_head.", "embed_out."): shape for name, shape in model.shapes().items()}
    assert "embed_out.weight" in saved
    assert ps.match(model, saved, rename="auto").ok


def test_tensors_that_join_two() -> None:
    """DINOv2's files hold gate and values of SwiGLU in one tensor, which the model has apart."""
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "image_size": 8, "patch_size": 4}
    model = ps.from_config({"model_type": "dinov2", "use_swiglu_ffn": True, **sizes})
    saved = {}
    for name, shape in model.shapes().items():
        if "gate_proj" in name:
            saved[name.replace("gate_proj", "weights_in")] = (2 * shape[0], *shape[1:])
        elif "up_proj" not in name:
            saved[name.replace("down_proj", "weights_out")] = shape
    assert len(saved) == len(model.shapes()) - 2
    assert ps.match(model, saved, rename="auto").ok

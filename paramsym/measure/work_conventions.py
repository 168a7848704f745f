"""Conventions of counting work, such as those of DeepSpeed and fvcore, as data: what each counts, its source, and what it gets wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from paramsym.core.ledger import Line
from paramsym.measure.recompute import Recompute
from paramsym.program.graph import MULTIPLY_ADD

LOOKUP = "lookup"
"""The unit of a looked-up row; counted as a product with a one-hot vector, it is one multiply-add for each row of the table."""
_POSITIONS = frozenset({"wpe", "pos_embed", "pos_embedding", "pos_emb", "pos_table"})
_ONCE: Mapping[str, int] = {MULTIPLY_ADD: 1}
_TWICE: Mapping[str, int] = {MULTIPLY_ADD: 2}
_DEEPSPEED: Mapping[str, int] = {
    MULTIPLY_ADD: 2,
    "normalise layer, scaled": 5,
    "normalise layer": 4,
    "normalise given, scaled": 2,
    "normalise given": 1,
    **dict.fromkeys(("relu", "prelu", "elu", "leaky_relu", "relu6", "silu", "gelu", "mean pool to a size"), 1),
}
_FVCORE: Mapping[str, int] = {
    MULTIPLY_ADD: 1,
    "normalise layer, scaled": 5,
    "normalise layer": 4,
    "normalise given, scaled": 2,
    "normalise given": 1,
    "mean pool to a size": 1,
}
_THOP: Mapping[str, int] = {
    MULTIPLY_ADD: 1,
    "normalise layer, scaled": 4,
    "normalise layer": 2,
    "normalise given, scaled": 4,
    "normalise given": 2,
}
_PTFLOPS: Mapping[str, int] = {
    MULTIPLY_ADD: 1,
    **dict.fromkeys(("normalise layer, scaled", "normalise given, scaled"), 2),
    **dict.fromkeys(("normalise layer", "normalise given", "relu", "prelu", "elu", "leaky_relu", "relu6", "gelu"), 1),
}
Parameters: TypeAlias = Literal["none", "all", "no positions", "no tables"]


@dataclass(frozen=True)
class Counting:
    """A convention of counting operations.

    ``units`` is the number of operations of each unit of work; units that are not listed count nothing. ``pairs`` says whether attention
    counts all pairs of queries and keys, half of them, the visible ones, at most a window of keys for each query, or half of the pairs of
    which a window of keys has none before it. ``backward`` is derived, product by product, with "fused" attention as a kernel that computes
    the scores again; or it is twice the forward pass, or thrice, which computes the forward pass again. ``recompute`` is what is computed
    again if nothing else is asked. ``blocks`` counts only repeated blocks. ``parameters`` replaces the products with weights by 2 for each
    parameter and position: of all parameters, of all but positions, or of all but tables.
    """

    name: str
    source: str
    counts: str
    wrong: str
    units: Mapping[str, int]
    unit: Literal["FLOPs", "MACs"] = "FLOPs"
    pairs: Literal["all", "half", "seen", "near", "half near", "none"] = "all"
    backward: Literal["derived", "fused", "twice", "thrice"] = "derived"
    recompute: Recompute = "none"
    blocks: bool = False
    parameters: Parameters = "none"


CONVENTIONS: Mapping[str, Counting] = {
    one.name: one
    for one in (
        Counting(
            "matmul",
            "torch 2.13, torch.utils.flop_counter.FlopCounterMode",
            "2 for each multiply-add of products and convolutions, all pairs in attention, the backward pass product by product",
            "torch's counter itself counts nothing in fused fast paths, Bilinear and LSTM on a CPU, and multiplies the weight gradient of a"
            " grouped convolution by the number of groups",
            _TWICE,
        ),
        Counting(
            "multiply-adds",
            "the same, each multiply-add once; many model cards call these FLOPs",
            "1 for each multiply-add of products and convolutions",
            "half of the FLOPs in which a device's speed is given",
            _ONCE,
            "MACs",
        ),
        Counting(
            "causal",
            "the masks themselves: S*(S + 1)/2 pairs of S positions; Dao 2023, arXiv:2307.08691, section 4.1, writes S**2/2 for it",
            "2 for each multiply-add; in attention only the visible pairs, with a window or without",
            "plain products compute all pairs and hide some afterwards; kernels that skip hidden pairs compute whole tiles",
            _TWICE,
            pairs="seen",
        ),
        Counting(
            "torch-fused",
            "torch 2.13, torch.utils.flop_counter, sdpa_backward_flop_count: the same counter where attention is fused, as on a GPU",
            "as matmul, with five products in the backward pass of fused attention: it computes the scores again, so it is 2.5 forward"
            " passes",
            "the products that a mask hides count; layers that do not use the fused function count as in matmul",
            _TWICE,
            backward="fused",
        ),
        Counting(
            "megatron",
            "Narayanan et al. 2021, arXiv:2104.04473, equation 3 and appendix",
            "2 for each multiply-add; with the backward pass the blocks' forward pass twice, because activations are recomputed",
            "without recomputation, the blocks need a quarter less; softmax, norms and activations are left out",
            _TWICE,
            backward="twice",
            recompute="full",
        ),
        Counting(
            "kaplan",
            "Kaplan et al. 2020, arXiv:2001.08361, section 2.1 and table 1",
            "2 for each multiply-add inside the blocks, half of the pairs in attention",
            "the output matrix is left out, nearly a third of the smallest GPT-2",
            _TWICE,
            pairs="half",
            backward="twice",
            blocks=True,
        ),
        Counting(
            "chinchilla",
            "Hoffmann et al. 2022, arXiv:2203.15556, appendix F",
            "2 for each multiply-add, 3 for each score in a softmax, looked-up tokens as products with one-hot vectors, backward twice"
            " forward",
            "implementations look the rows up instead; table A4 leaves these products and the logits out",
            {MULTIPLY_ADD: 2, "softmax": 3, LOOKUP: 2},
            backward="twice",
        ),
        Counting(
            "palm",
            "Chowdhery et al. 2022, arXiv:2204.02311, appendix B",
            "2 for each parameter and position, and 4*L*A*D for each position and key of attention; backward twice forward",
            "weights of norms, biases and embeddings that are only looked up count as matrices; a tied embedding counts once",
            _TWICE,
            backward="twice",
            parameters="all",
        ),
        Counting(
            "nanogpt",
            "nanoGPT, model.py, estimate_mfu",
            "as PaLM, without the position embedding",
            "as PaLM: weights of norms and biases count as matrices",
            _TWICE,
            backward="twice",
            parameters="no positions",
        ),
        Counting(
            "torchtitan",
            "torchtitan 0.2.2, models/utils.py, get_dense_model_nparams_and_flops and get_moe_model_nparams_and_flops",
            "as PaLM, without the embeddings that are only looked up",
            "as PaLM: weights of norms and biases count as matrices",
            _TWICE,
            backward="twice",
            parameters="no tables",
        ),
        Counting(
            "torchtitan-windows",
            "torchtitan, pull request 4300 of August 2026",
            "as torchtitan, in layers with a window at most the window's keys for each query",
            "as torchtitan; the first queries of a text see fewer keys than a window has",
            _TWICE,
            pairs="near",
            backward="twice",
            parameters="no tables",
        ),
        Counting(
            "megatron-lm",
            "Megatron-LM, core 0.20.0, training.py, num_floating_point_operations",
            "2 for each multiply-add, half of the pairs in attention; backward twice forward, and nothing again",
            "the router of experts is left out, and the vocabulary is padded: here the router and the model's own vocabulary count; windows"
            " are ignored",
            _TWICE,
            pairs="half",
            backward="twice",
        ),
        Counting(
            "nanotron",
            "nanotron 0.4, models/llama.py, get_flops",
            "2 for each multiply-add of products, all pairs in attention; backward twice forward",
            "the function assumes gated feed-forward networks and heads of width H/A, and leaves the router of experts out",
            _TWICE,
            backward="twice",
        ),
        Counting(
            "maxtext",
            "MaxText 0.2.4, maxtext_utils.py, calculate_tflops_training_per_device",
            "2 for each multiply-add; in attention half of the pairs, and S*W - W**2/2 of them with a window of W; backward twice forward",
            "in units of 10**12, called TFLOPs, of one device's batch; windows count in Gemma 2, 3 and GPT-OSS only",
            _TWICE,
            pairs="half near",
            backward="twice",
        ),
        Counting(
            "6ND",
            "Kaplan et al. 2020, arXiv:2001.08361, section 2.1; Hoffmann et al. 2022, arXiv:2203.15556: C = 6ND",
            "2 for each parameter that a token uses, and each token, without the pairs of queries and keys; backward twice forward",
            "looked-up embeddings count as matrices; N leaves embeddings out in the first paper, and counts them in the second",
            _TWICE,
            pairs="none",
            backward="twice",
            parameters="all",
        ),
        Counting(
            "8ND",
            "the same with full recomputation, as hardware FLOPs utilisation counts (Chowdhery et al. 2022, arXiv:2204.02311, appendix B)",
            "2 for each parameter that a token uses, and each token, without the pairs of queries and keys; the backward pass is thrice the"
            " forward pass, which is computed again",
            "as 6ND",
            _TWICE,
            pairs="none",
            backward="thrice",
            parameters="all",
        ),
        Counting(
            "deepspeed",
            "DeepSpeed 0.19.6, profiling/flops_profiler/profiler.py",
            "2 for each multiply-add, 1 for each entry of ReLU, ELU, SiLU or GELU, 5 for each entry of a scaled norm (2 in batch"
            " normalisation), 1 for each entry pooled to a size; backward twice forward",
            "the profiler also counts 1 for each bias of a convolution, each entry of another pool's input, and each entry of a softmax"
            " outside fused attention: left out here; norms that are written by operators count nothing",
            _DEEPSPEED,
            backward="twice",
        ),
        Counting(
            "scaling-book",
            "Austin et al. 2025, How to Scale Your Model, part 4, table at the end",
            "2 for each multiply-add, looked-up tokens as products with one-hot vectors (12BTDV with the logits), backward twice forward",
            "a look-up needs no multiply-add, so only 6BTDV of the 12 are computed",
            {MULTIPLY_ADD: 2, LOOKUP: 2},
            backward="twice",
        ),
        Counting(
            "cookbook",
            "EleutherAI/cookbook, calc/calc_transformer_flops.py",
            "2 for each multiply-add; with the backward pass the blocks' forward pass twice, as activations are recomputed by default",
            "the script assumes a feed-forward network of two matrices and width 4H, and forgets the tokens in the router's work",
            _TWICE,
            backward="twice",
            recompute="full",
        ),
        Counting(
            "fvcore",
            "fvcore 0.1.5, fvcore/nn/jit_handles.py",
            "1 for each multiply-add, 5 for each entry of a scaled norm (2 in batch normalisation), 1 for each entry pooled to several"
            " positions",
            "the tool does not see fused attention, convolutions with padding='same' and LSTMs; it calls multiply-adds flops, and counts"
            " pooling to one position only if it is a layer, not if it is a mean: left out here",
            _FVCORE,
            "MACs",
        ),
        Counting(
            "thop",
            "thop 0.1.1, vision/basic_hooks.py and vision/calc_func.py",
            "1 for each multiply-add of layers, 4 for each entry of a scaled norm; nothing for the pairs of queries and keys, which are no"
            " layer",
            "the tool calls multiply-adds FLOPs, sees only modules of torch.nn, and counts each average pool, too: left out here",
            _THOP,
            "MACs",
            pairs="none",
        ),
        Counting(
            "ptflops",
            "ptflops 0.6, ptflops/pytorch_ops.py, and the function get_model_complexity_info of MMCV",
            "1 for each multiply-add, 2 for each entry of a scaled norm, 1 for each entry of ReLU, ELU or GELU",
            "the tool calls these GMac; it also counts 1 for each bias and for each entry that a pool reads: left out here; version 0.7.5"
            " counts activations and pools that are layers twice",
            _PTFLOPS,
            "MACs",
        ),
        Counting(
            "torchvision",
            "torchvision, the field _ops of the weights' meta data",
            "1 for each multiply-add of products and convolutions, in units of 10**9, called GFLOPS",
            "half of the FLOPs; segmentation models count their auxiliary head",
            _ONCE,
            "MACs",
        ),
        Counting(
            "timm",
            "timm, results/*.csv, the column gmacs",
            "what fvcore counts",
            "files made with fused attention lack its products (ViT-B/16: 16.87 instead of 17.58)",
            _FVCORE,
            "MACs",
        ),
    )
}
"""Ways to count work, by name."""


def is_position(line: Line) -> bool:
    """Whether a table is a position embedding, judged by its name, because a checkpoint has no other sign."""
    return line.role == "table" and names_positions(line)


def names_positions(line: Line) -> bool:
    """Whether a path names positions."""
    return any("position" in str(step) or str(step) in _POSITIONS for step in line.path)

"""Sound and broken quantised checkpoints of a small Llama: the layouts are those of the libraries that write them, stated here again.

GPTQ: AutoGPTQ and GPTQModel, ``QuantLinear``. AWQ: AutoAWQ, ``WQLinear_GEMM``. bitsandbytes: ``QuantState.as_dict``, ``Linear8bitLt``.
Scaled float8: transformers, ``FP8Linear``, vLLM, ``Fp8Config``, and compressed-tensors, whose ``KVCacheScaleType`` names the scales of a
cache. NVFP4: ModelOpt and compressed-tensors. MXFP4: compressed-tensors.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

Tensors = dict[str, tuple[str, tuple[int, ...]]]
BYTES = {"F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I8": 1, "U8": 1, "F8_E4M3": 1}
HIDDEN, INNER, KEYS, VOCABULARY = 256, 384, 128, 40
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": HIDDEN,
    "intermediate_size": INNER,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": VOCABULARY,
    "tie_word_embeddings": False,
}
LINEAR = {
    "self_attn.q_proj": (HIDDEN, HIDDEN),
    "self_attn.k_proj": (KEYS, HIDDEN),
    "self_attn.v_proj": (KEYS, HIDDEN),
    "self_attn.o_proj": (HIDDEN, HIDDEN),
    "mlp.gate_proj": (INNER, HIDDEN),
    "mlp.up_proj": (INNER, HIDDEN),
    "mlp.down_proj": (HIDDEN, INNER),
}


@dataclass
class Checkpoint:
    """A configuration and its tensors; ``shards`` is the number of files, ``moved`` a tensor that the index names in another shard."""

    kind: str
    quantization: dict[str, Any]
    tensors: Tensors
    shards: int = 1
    broken: str = ""
    moved: str = ""
    config: dict[str, Any] = field(default_factory=lambda: dict(CONFIG))

    def write(self, folder: Path) -> Path:
        """Write it as transformers does: one file, or shards with their index."""
        folder.mkdir()
        config = {**self.config, **({"quantization_config": self.quantization} if self.quantization else {})}
        (folder / "config.json").write_text(json.dumps(config))
        names = list(self.tensors)
        if self.shards == 1:
            _file(folder / "model.safetensors", self.tensors)
            return folder
        files = {name: f"model-{number % self.shards + 1:05}-of-{self.shards:05}.safetensors" for number, name in enumerate(names)}
        for file in set(files.values()):
            _file(folder / file, {name: self.tensors[name] for name in names if files[name] == file})
        if self.moved:
            files[self.moved] = next(file for file in files.values() if file != files[self.moved])
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": files}))
        return folder


def _file(path: Path, tensors: Tensors) -> None:
    header, end = {}, 0
    for name, (dtype, shape) in tensors.items():
        size = BYTES[dtype] * prod(shape)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    written = json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + bytes(end))


# What each library stores for a weight of (out, in) --------------------------------------------------------------------------


def _gptq(bits: int, group: int, kind: str) -> Callable[[int, int], Tensors]:
    def parts(out: int, inputs: int) -> Tensors:
        groups = -(-inputs // (group if group > 0 else inputs))
        return {
            "qweight": ("I32", (inputs // 32 * bits, out)),
            "qzeros": ("I32", (groups, out // 32 * bits)),
            "scales": (kind, (groups, out)),
            "g_idx": ("I32", (inputs,)),
        }

    return parts


def _awq(group: int) -> Callable[[int, int], Tensors]:
    return lambda out, inputs: {
        "qweight": ("I32", (inputs, out // 8)),
        "qzeros": ("I32", (inputs // group, out // 8)),
        "scales": ("F16", (inputs // group, out)),
    }


def _four_bits(values: str, *, nested: bool) -> Callable[[int, int], Tensors]:
    def parts(out: int, inputs: int) -> Tensors:
        scales = -(-out * inputs // 64)
        found: Tensors = {
            "weight": ("U8", (out * inputs // 2, 1)),
            "weight.absmax": ("U8" if nested else "F32", (scales,)),
            "weight.quant_map": ("F32", (16,)),
            f"weight.quant_state.bitsandbytes__{values}": ("U8", (90,)),
        }
        if nested:
            found |= {"weight.nested_absmax": ("F32", (-(-scales // 256),)), "weight.nested_quant_map": ("F32", (256,))}
        return found

    return parts


def _eight_bits(out: int, inputs: int) -> Tensors:
    return {"weight": ("I8", (out, inputs)), "SCB": ("F32", (out,)), "weight_format": ("U8", ())}


def _blocks(out: int, inputs: int) -> Tensors:
    return {"weight": ("F8_E4M3", (out, inputs)), "weight_scale_inv": ("F32", (-(-out // 128), -(-inputs // 128)))}


def _rows(out: int, inputs: int) -> Tensors:
    return {"weight": ("F8_E4M3", (out, inputs)), "weight_scale": ("BF16", (out, 1))}


def _whole(out: int, inputs: int) -> Tensors:
    return {"weight": ("F8_E4M3", (out, inputs)), "weight_scale": ("F32", ()), "input_scale": ("F32", ())}


def _words(bits: int, group: int) -> Callable[[int, int], Tensors]:
    return lambda out, inputs: {
        "weight_packed": ("I32", (out, inputs * bits // 32)),
        "weight_scale": ("BF16", (out, inputs // group)),
        "weight_shape": ("I64", (2,)),
    }


def _nvfp4(out: int, inputs: int) -> Tensors:
    scales: Tensors = {"weight_global_scale": ("F32", (1,)), "input_global_scale": ("F32", (1,))}
    return {"weight_packed": ("U8", (out, inputs // 2)), "weight_scale": ("F8_E4M3", (out, inputs // 16)), **scales}


def _modelopt(out: int, inputs: int) -> Tensors:
    scales: Tensors = {"weight_scale_2": ("F32", ()), "input_scale": ("F32", ())}
    return {"weight": ("U8", (out, inputs // 2)), "weight_scale": ("F8_E4M3", (out, inputs // 16)), **scales}


def _mxfp4(out: int, inputs: int) -> Tensors:
    return {"weight_packed": ("U8", (out, inputs // 2)), "weight_scale": ("U8", (out, inputs // 32))}


def _plain(out: int, inputs: int) -> Tensors:
    return {"weight": ("BF16", (out, inputs))}


def _groups(bits: int, **weights: Any) -> dict[str, Any]:
    return {"config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": bits, **weights}}}, "ignore": ["lm_head"]}


def _kinds(draw: random.Random) -> dict[str, tuple[dict[str, Any], Callable[[int, int], Tensors], int]]:
    """Return the kinds: what the configuration says, the tensors of a weight, and the number of shards."""
    bits, group = draw.choice((4, 8, 2, 3)), draw.choice((32, 64, 128, -1))
    wide, narrow, values, nested = draw.choice((32, 64, 128)), draw.choice((4, 8)), draw.choice(("nf4", "fp4")), draw.random() < 0.5
    four = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": values, "bnb_4bit_use_double_quant": nested}
    gptq = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": False}
    compressed, cache = {"quant_method": "compressed-tensors"}, {"kv_cache_scheme": {"num_bits": 8, "type": "float", "strategy": "tensor"}}
    integers = compressed | _groups(narrow, type="int", strategy="group", group_size=wide)
    return {
        "GPTQ": (gptq, _gptq(bits, group, draw.choice(("F16", "BF16"))), 1),
        "GPTQ in shards": (gptq, _gptq(bits, group, "F16"), draw.randint(2, 5)),
        "AWQ": ({"quant_method": "awq", "bits": 4, "group_size": wide, "version": "gemm"}, _awq(wide), 1),
        "bitsandbytes of 4 bits": (four, _four_bits(values, nested=nested), 1),
        "bitsandbytes of 8 bits": ({"quant_method": "bitsandbytes", "load_in_8bit": True}, _eight_bits, 1),
        "float8 in blocks": ({"quant_method": "fp8", "weight_block_size": [128, 128]}, _blocks, draw.randint(1, 3)),
        "float8 in rows": (compressed | _groups(8, type="float", strategy="channel"), _rows, 1),
        "float8 in tensors": (compressed | _groups(8, type="float", strategy="tensor"), _whole, 1),
        "float8 of vLLM": ({"quant_method": "fp8", "activation_scheme": "static"}, _whole, 1),
        "float8 with its cache": (compressed | _groups(8, type="float", strategy="tensor") | cache, _whole, draw.randint(1, 2)),
        "compressed-tensors": (integers, _words(narrow, wide), 1),
        "NVFP4": (compressed | _groups(4, type="float", strategy="tensor_group", group_size=16), _nvfp4, 1),
        "NVFP4 of ModelOpt": ({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}, _modelopt, 1),
        "MXFP4": (compressed | _groups(4, type="float", strategy="group", group_size=32), _mxfp4, 1),
        "not quantised, in shards": ({}, _plain, draw.randint(2, 5)),
    }


def sound(draw: random.Random) -> Checkpoint:
    """Return a checkpoint as its library writes it."""
    kinds = _kinds(draw)
    kind = draw.choice(list(kinds))
    quantization, parts, shards = kinds[kind]
    tensors: Tensors = {"model.embed_tokens.weight": ("BF16", (VOCABULARY, HIDDEN))}
    for block in range(2):
        scope = f"model.layers.{block}."
        for name, (out, inputs) in LINEAR.items():
            tensors |= {f"{scope}{name}.{part}": stored for part, stored in parts(out, inputs).items()}
        tensors |= {f"{scope}{norm}.weight": ("BF16", (HIDDEN,)) for norm in ("input_layernorm", "post_attention_layernorm")}
        if "kv_cache_scheme" in quantization:
            tensors |= {f"{scope}self_attn.{part}_scale": ("F32", (1,)) for part in "kv"}
    tensors |= {"model.norm.weight": ("BF16", (HIDDEN,)), "lm_head.weight": ("BF16", (VOCABULARY, HIDDEN))}
    return Checkpoint(kind, quantization, tensors, shards)


# What may go wrong --------------------------------------------------------------------------------------------------------------


def broken(draw: random.Random) -> Checkpoint:
    """Return a checkpoint with one fault; ``broken`` says which."""
    while True:
        found = sound(draw)
        fault = draw.choice(FAULTS)
        words = fault(found, draw)
        if words:
            found.broken = f"{fault.__name__}: {words}"
            return found


def _parts(found: Checkpoint) -> list[str]:
    """Return the tensors of the linear layers; how long the text of ``quant_state`` is, nobody knows."""
    return [name for name in found.tensors if "_proj." in name and "quant_state" not in name]


def _shape(found: Checkpoint, draw: random.Random) -> str:
    name = draw.choice(_parts(found))
    dtype, shape = found.tensors[name]
    if not shape:
        return ""
    axis = draw.randrange(len(shape))
    old = shape[axis]
    size = draw.choice([one for one in (old + 1, old - 1, old * 2, old // 2) if one > 0 and one != old])
    found.tensors[name] = (dtype, (*shape[:axis], size, *shape[axis + 1 :]))
    return f"{name} is {found.tensors[name][1]} in the place of {shape}"


def _axes(found: Checkpoint, draw: random.Random) -> str:
    name = draw.choice(_parts(found))
    dtype, shape = found.tensors[name]
    if len(shape) != 2 or shape[0] == shape[1] or "bitsandbytes of 4" in found.kind:
        return ""
    found.tensors[name] = (dtype, shape[::-1])
    return f"{name} is {shape[::-1]} in the place of {shape}"


def _absent(found: Checkpoint, draw: random.Random) -> str:
    """Take a tensor away; what a library may leave out is left."""
    free = ("g_idx", "weight_format", "input_scale", "input_global_scale")
    name = draw.choice([name for name in found.tensors if not name.endswith(free)])
    del found.tensors[name]
    return name


def _numbers(found: Checkpoint, draw: random.Random) -> str:
    name = draw.choice([*_parts(found), *(name for name in found.tensors if "norm" in name)])
    dtype, shape = found.tensors[name]
    if name.endswith(("g_idx", "weight_shape")):  # both may have 32 or 64 bits
        return ""
    other = "I64" if not dtype.startswith("I") or draw.random() < 0.5 else "F16"
    found.tensors[name] = (other, shape)
    return f"{name} is {other} in the place of {dtype}"


def _all_whole(found: Checkpoint, _: random.Random) -> str:
    found.tensors = {name: ("I64", shape) for name, (_, shape) in found.tensors.items()}
    return "all numbers are whole"


def _setting(found: Checkpoint, draw: random.Random) -> str:
    """Change bits or the size of groups in the configuration."""
    groups = found.quantization.get("config_groups")
    said = groups["group_0"]["weights"] if groups else found.quantization
    key = draw.choice(("bits", "num_bits", "group_size", "weight_block_size"))
    if key not in said or found.kind in {"NVFP4", "MXFP4"}:
        return ""
    others: Mapping[str, tuple[Any, ...]] = {"group_size": (32, 64, 128), "weight_block_size": ([64, 64], [32, 32])}
    said[key] = draw.choice([one for one in others.get(key, (2, 3, 4, 8)) if one != said[key]])
    return f"{key} = {said[key]}"


def _method(found: Checkpoint, draw: random.Random) -> str:
    """Give the configuration of another library."""
    quantization, _, _ = _kinds(draw)[draw.choice(("GPTQ", "AWQ", "bitsandbytes of 4 bits", "bitsandbytes of 8 bits", "float8 in blocks"))]
    if all(quantization.get(key) == found.quantization.get(key) for key in ("quant_method", "load_in_8bit")):
        return ""
    found.quantization = quantization
    return f"the configuration says {quantization['quant_method']}"


def _beside(found: Checkpoint, draw: random.Random) -> str:
    name = draw.choice(_parts(found)).rpartition("_proj.")[0]
    whole = f"{name}_proj.weight"
    if whole in found.tensors:
        return ""
    found.tensors[whole] = ("BF16", LINEAR[name.split(".", 3)[3] + "_proj"])
    return f"{whole} beside its parts"


def _unpacked(found: Checkpoint, draw: random.Random) -> str:
    """Store one weight, or all of them, as they were before."""
    if not found.quantization:
        return ""
    paths = [f"model.layers.{block}.{name}" for block in range(2) for name in LINEAR]
    chosen = [draw.choice(paths)] if draw.random() < 0.5 else paths
    for path in chosen:
        for name in [name for name in found.tensors if name.startswith(f"{path}.")]:
            del found.tensors[name]
        found.tensors[f"{path}.weight"] = ("BF16", LINEAR[path.split(".", 3)[3]])
    return f"{len(chosen)} weights are not packed"


def _prefix(found: Checkpoint, draw: random.Random) -> str:
    prefix = draw.choice(("foo", "student", "net"))
    found.tensors = {f"{prefix}.{name}": stored for name, stored in found.tensors.items()}
    return prefix


def _more(found: Checkpoint, draw: random.Random) -> str:
    name = draw.choice(list(found.tensors))
    scope, _, last = name.rpartition(".")
    extra = f"{scope}.{draw.choice(('extra', 'scale', last + '_old'))}"
    found.tensors[extra] = ("F32", (3,))
    return extra


def _index(found: Checkpoint, draw: random.Random) -> str:
    if found.shards == 1:
        return ""
    found.moved = draw.choice(list(found.tensors))
    return f"the index names another shard for {found.moved}"


FAULTS = (_shape, _shape, _axes, _absent, _numbers, _all_whole, _setting, _method, _beside, _unpacked, _prefix, _more, _index)


def drawn(make: Callable[[random.Random], Checkpoint], number: int, seed: int = 0) -> Iterator[Checkpoint]:
    """Yield checkpoints from one seed after another."""
    for one in range(number):
        yield make(random.Random(seed * 1_000_000 + one))

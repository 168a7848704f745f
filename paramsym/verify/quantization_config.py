"""What a configuration says of its quantised weights (``quantization_config``), against the weights in the files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from paramsym.errors import ConfigError
from paramsym.naming import described, some
from paramsym.verify.packed import Setting
from paramsym.verify.report import without_numbers
from paramsym.verify.stored import SCALED, Stored, kind

_SCHEMES = {
    "gptq": ("GPTQ",),
    "awq": ("AWQ",),
    "bitsandbytes": ("bitsandbytes nf4", "bitsandbytes fp4", "bitsandbytes int8"),
    "fp8": (SCALED,),
    "fbgemm_fp8": (SCALED,),
    "compressed-tensors": ("compressed-tensors", SCALED, "NVFP4", "MXFP4"),
    "modelopt": (SCALED, "NVFP4"),
    "mxfp4": ("MXFP4",),
}
"""The schemes of each ``quant_method`` of transformers 5.23 whose files are read; of another method nothing is known."""
_LEFT_OUT = ("modules_to_not_convert", "llm_int8_skip_modules", "ignore", "ignored_layers", "exclude_modules")
_OPEN = ("dynamic", "modules_in_block_to_quantize")
"""Keys that choose modules, or give single ones other settings; with them, no weight has to be like the others."""
_MOST_BITS, _MOST_GROUP = 16, 1 << 20


@dataclass(frozen=True)
class Quantised:
    """A ``quantization_config``: its method, the schemes that it means, its setting, and the modules that stay as they are."""

    method: str
    schemes: tuple[str, ...]
    setting: Setting = field(default_factory=Setting)
    left_out: tuple[str, ...] = ()
    every: bool = True

    def problems(self, stored: Stored) -> Iterator[str]:
        """Yield what differs between the configuration and the stored tensors, which have their names in the files."""
        packed = stored.packed
        if not packed:
            yield f"the config has quant_method {self.method!r}, and the file has no quantised weights: it belongs to another config"
            return
        others = [name for name, found in packed.items() if found.scheme not in self.schemes and not found.faults]
        if others:
            words = " or ".join(self.schemes)
            yield f"{some(others)}: packed by {packed[others[0]].scheme}, where the config's quant_method {self.method!r} means {words}"
        mine = {name: found for name, found in packed.items() if found.scheme in self.schemes}
        if self.every:
            for key in ("bits", "group"):
                wanted = getattr(self.setting, key)
                unlike = [name for name, found in mine.items() if wanted is not None and getattr(found, key) != wanted]
                if unlike:
                    found, said = getattr(mine[unlike[0]], key), "bits" if key == "bits" else "groups"
                    yield f"{some(unlike)}: packed with {said} {found}, where the config says {said} {wanted}"
            forms = {without_numbers(name) for name in mine}
            plain = [name for name in stored.shapes if name not in packed and without_numbers(name) in forms and not self._leaves_out(name)]
            if plain:
                yield f"{some(plain)}: not quantised, although its copies in other blocks are, and the config does not leave it out"

    def _leaves_out(self, name: str) -> bool:
        return any(module.startswith("re:") or module.strip("*") in name for module in self.left_out)


def quantised(config: Mapping[str, Any]) -> Quantised | None:
    """Return what a configuration says of its quantised weights; None if it says nothing, or has a method that is not known.

    Raises:
        ConfigError: bits or a group that cannot be.

    >>> quantised({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": -1}}).setting
    Setting(bits=4, group='channel')
    """
    stated = _stated(config)
    method = stated.get("quant_method")
    if method is None and (stated.get("load_in_4bit") or stated.get("load_in_8bit")):
        method = "bitsandbytes"
    if not isinstance(method, str) or method not in _SCHEMES or stated.get("checkpoint_format") == "marlin":
        return None
    left_out = [module for key in _LEFT_OUT for module in _listed(stated.get(key)) if isinstance(module, str)]
    schemes, setting = _SCHEMES[method], Setting()
    every = not any(stated.get(key) for key in _OPEN)
    if method in {"gptq", "awq"}:
        bits, group = (stated.get(key, stated.get(other)) for key, other in (("bits", "w_bit"), ("group_size", "q_group_size")))
        setting = Setting(_whole("bits", bits, _MOST_BITS), _group(group))
    elif method == "bitsandbytes":
        chosen = "int8" if stated.get("load_in_8bit") else stated.get("bnb_4bit_quant_type")
        schemes = tuple(scheme for scheme in schemes if chosen is None or scheme.endswith(f" {chosen}"))
    elif method == "fp8":
        # Without the key, transformers has blocks, and vLLM one scale a tensor.
        setting = Setting(8, _block(stated.get("weight_block_size")))
    elif method == "compressed-tensors":
        settings = {_of_group(group) for group in _listed(stated.get("config_groups"))}
        setting = settings.pop() if len(settings) == 1 else setting
    return Quantised(method, schemes, setting, tuple(left_out), every)


def _stated(config: Mapping[str, Any]) -> Mapping[str, Any]:
    texts = config.get("text_config")
    inner = texts.get("quantization_config") if isinstance(texts, Mapping) else None
    stated = config.get("quantization_config") or config.get("compression_config") or inner
    return stated if isinstance(stated, Mapping) else {}


def cache_scales(config: Mapping[str, Any], stored: Stored) -> list[str]:
    """Return the scales of a quantised cache, if the configuration has a ``kv_cache_scheme``: a pair of numbers for each attention.

    compressed-tensors names them ``self_attn.k_scale`` and ``self_attn.v_scale``, ModelOpt ``k_proj.k_scale`` and ``v_proj.v_scale``.
    """
    scaled = _stated(config).get("kv_cache_scheme") is not None
    single = dict.fromkeys(name for name, shape in stored.shapes.items() if scaled and shape in {(), (1,)})
    pairs = ((name, name.replace("k_proj.k_scale", "v_proj.k_scale").removesuffix("k_scale") + "v_scale") for name in single)
    return [name for key, value in pairs if key.endswith(".k_scale") and value in single for name in (key, value)]


def _of_group(group: object) -> Setting:
    """Return what a group of compressed-tensors' ``config_groups`` says of weights."""
    weights = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(weights, Mapping):
        return Setting()
    bits, strategy = _whole("num_bits", weights.get("num_bits"), _MOST_BITS), weights.get("strategy")
    if strategy in {"group", "tensor_group"}:
        return Setting(bits, _group(weights.get("group_size")))
    if strategy == "block":
        return Setting(bits, _block(weights.get("block_structure")))
    return Setting(bits, strategy if strategy in {"channel", "tensor"} else None)


def _listed(value: object) -> list[Any]:
    return list(value.values() if isinstance(value, Mapping) else value) if isinstance(value, Mapping | list | tuple) else []


def _whole(key: str, value: object, most: int) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most):
        raise ConfigError(f"quantization_config has {key} = {described(value)}; wanted a whole number from 1 to {most:,}.")
    return value


def _group(size: object) -> str | None:
    if size == -1:
        return "channel"
    found = _whole("group_size", size, _MOST_GROUP)
    return None if found is None else str(found)


def _block(sizes: object) -> str | None:
    if sizes is None:
        return None
    if not isinstance(sizes, list | tuple) or len(sizes) != 2:
        raise ConfigError(f"quantization_config has a block of {described(sizes)}; wanted a list of two sizes, such as [128, 128].")
    return "x".join(str(_whole("a block of", size or 0, _MOST_GROUP)) for size in sizes)


def scaleless(config: Mapping[str, Any], stored: Stored) -> str:
    """Return what is wrong with weights of 8 bits without a scale; empty if the configuration says this dtype, or there are none."""
    if "float8" in str(config.get("dtype") or config.get("torch_dtype")):
        return ""
    bare = [name for name in stored.shapes if name not in stored.packed and kind(stored.dtypes.get(name, "")) == "float8"]
    return f"{some(bare)}: {stored.dtypes[bare[0]]} without a scale, and no such dtype in the config" if bare else ""

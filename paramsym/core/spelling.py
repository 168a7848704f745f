"""The rules for other names of a model's tensors: prefixes, names of older versions, steps that wrappers add (``module.``, ``_orig_mod.``).

The prefix of the base model may be missing or extra, older versions used other names, wrappers add steps, and one stored tensor may hold
two.

A name is respelt only if the model has a tensor of the new name and the file has none. So a rule can never hide a missing or an extra
tensor. Shapes are always compared afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

_SHOWN = 2  # names that a note gives as examples


@dataclass(frozen=True)
class Spelling:
    """One spelling: ``rules`` are patterns and their replacements, applied one after another; ``halves`` are tensors that hold two."""

    words: str
    rules: tuple[tuple[str, str], ...]
    halves: tuple[tuple[str, str, str], ...] = ()

    def read(self, name: str) -> str:
        """Return the name in the model's spelling."""
        for pattern, target in self.rules:
            name = re.sub(pattern, target, name)
        return name


_WRAPPERS = Spelling(
    "wrappers add their own steps",
    (
        (r"(^|\.)((module|_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.)+", r"\1"),
        (r"^base_model\.model\.", ""),
        (r"\.modules_to_save\.[^.]+\.", "."),
    ),
)
"""``DataParallel``, ``torch.compile``, sharding, checkpointed activations (torch 2.13); ``PeftModel`` (peft 0.21)."""
_LEGACY = (
    (r"LayerNorm\.gamma$", "LayerNorm.weight"),
    (r"LayerNorm\.beta$", "LayerNorm.bias"),
    (r"\.weight_g$", ".parametrizations.weight.original0"),
    (r"\.weight_v$", ".parametrizations.weight.original1"),
)
_VISION = (
    (r"encoder\.layer\.", "layers."),
    (r"attention\.query", "q_proj"),
    (r"attention\.key", "k_proj"),
    (r"attention\.value", "v_proj"),
    (r"attention\.output\.dense", "attention.o_proj"),
    (r"intermediate\.dense", "mlp.fc1"),
    (r"output\.dense", "mlp.fc2"),
)
SPELLINGS = (
    Spelling("older versions wrote these names", _LEGACY),
    Spelling("vision transformers are saved with these names", _VISION),
    Spelling("GPT-NeoX is saved with these names", ((r"^embed_out\.", "lm_head."),)),
    Spelling(
        "PEFT leaves out the name of an adapter",
        (
            (r"\.lora_(A|B)\.(weight|bias)$", r".lora_\1.default.\2"),
            (r"\.lora_embedding_(A|B)$", r".lora_embedding_\1.default"),
            (r"\.lora_magnitude_vector$", ".lora_magnitude_vector.default.weight"),
        ),
    ),
    Spelling("NNX cannot name a gate as a keyword of Python", ((r"(^|\.)if_\.", r"\1if."),)),
    Spelling(
        "BEiT is saved with these names",
        (
            (r"attention\.attention\.relative_position_bias\.", "relative_position_bias."),
            *_VISION,
            (r"encoder\.relative_position_bias", "shared_position_bias"),
        ),
    ),
    Spelling(
        "Swin is saved with these names",
        (
            (r"attention\.self\.(query|key|value)", r"attention.\1_projection"),
            (r"attention\.query_projection", "attention.q_proj"),
            (r"attention\.key_projection", "attention.k_proj"),
            (r"attention\.value_projection", "attention.v_proj"),
            (r"attention\.self\.relative_position_bias_table", "attention.relative_position_bias.relative_position_bias_table"),
            *_VISION[4:],
        ),
    ),
    Spelling(
        "DINOv2 is saved with these names",
        (
            (r"attention\.attention\.query", "attention.q_proj"),
            (r"attention\.attention\.key", "attention.k_proj"),
            (r"attention\.attention\.value", "attention.v_proj"),
            (r"attention\.output\.dense", "attention.o_proj"),
            (r"mlp\.weights_out", "mlp.down_proj"),
        ),
        ((r"mlp\.weights_in\.", "mlp.gate_proj.", "mlp.up_proj."),),
    ),
)
"""The reference renames in this way when it loads and saves (transformers 5.23, ``conversion_mapping``; peft 0.21; Flax 0.12)."""

_DROPPED = re.compile(r"(^|\.)(position_ids|token_type_ids|inv_freq|masked_bias|attn\.bias|attention\.bias|causal_mask|embed_scale)$")
"""Buffers that older versions saved and the reference now computes."""


def respelt(stored: Collection[str], wanted: Collection[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return ``{stored name: the model's name}``, for names that are respelt, and notes about what was respelt.

    >>> respelt(["bert.pooler.dense.bias"], {"pooler.dense.bias"})[0]
    {'bert.pooler.dense.bias': 'pooler.dense.bias'}
    """
    names = _unwrapped(stored, wanted)
    notes: list[str] = []
    for step in (_prefix, _spelling):
        changed, note = step(names, wanted)
        if changed:
            names |= changed
            notes.append(note)
    wrapped = [name for name, other in names.items() if other in wanted and _WRAPPERS.read(name) != name != other]
    if wrapped:
        notes.insert(0, f"{len(wrapped)} names have steps that belong to a wrapper, such as {wrapped[0]}")
    return {name: other if other in wanted else name for name, other in names.items()}, tuple(notes)


def unwrapped(name: str) -> str:
    """Return a name without the steps that wrappers put in.

    >>> unwrapped("module._orig_mod.encoder.weight"), unwrapped("base_model.model.head.weight")
    ('encoder.weight', 'head.weight')
    """
    return _WRAPPERS.read(name)


def is_dropped_buffer(name: str) -> bool:
    """Whether the name is a buffer that older versions saved.

    >>> is_dropped_buffer("bert.embeddings.position_ids"), is_dropped_buffer("attention.bias_table")
    (True, False)
    """
    return _DROPPED.search(name) is not None


def _unwrapped(stored: Collection[str], wanted: Collection[str]) -> dict[str, str]:
    """Return the names without the steps of wrappers, unless two of them would become equal."""
    names = {name: name if name in wanted else unwrapped(name) for name in stored}
    return names if len(set(names.values())) == len(names) else {name: name for name in names}


def _read_so(read: Callable[[str], str], names: Mapping[str, str], wanted: Collection[str]) -> dict[str, str]:
    """Return the names that become a wanted and missing name, each once."""
    there = set(names.values())
    found: dict[str, str] = {}
    for stored, name in names.items():
        other = read(name) if name not in wanted else name
        if other != name and other in wanted and other not in there:
            there.add(other)
            found[stored] = other
    return found


def extra_prefix(stored: Collection[str], wanted: Collection[str]) -> str:
    """Return the first step that the stored names have in addition to the model's; empty if there is none.

    >>> extra_prefix(["bert.pooler.dense.bias"], {"pooler.dense.bias"}), extra_prefix(["pooler.dense.bias"], {"bert.pooler.dense.bias"})
    ('bert', '')
    """
    found, first, extra = _moved_by_prefix(_unwrapped(stored, wanted), wanted)
    return first if found and extra else ""


def _prefix(names: Mapping[str, str], wanted: Collection[str]) -> tuple[dict[str, str], str]:
    found, first, extra = _moved_by_prefix(names, wanted)
    place = "the file, as in a model with a head, but not in the layer"
    if not extra:
        place = "the layer, but not in the file, as in a model without a head"
    return found, f"{len(found)} names have the prefix {first!r} in {place}"


def _moved_by_prefix(names: Mapping[str, str], wanted: Collection[str]) -> tuple[dict[str, str], str, bool]:
    """Strip or add the first step with which the most names fit; return these names, the step, and whether it is extra in the file."""
    without = [
        ({stored: name.removeprefix(f"{first}.") for stored, name in names.items()}, first) for first in _first_steps(names.values())
    ]
    longer = [({stored: f"{first}.{name}" for stored, name in names.items()}, first) for first in _first_steps(wanted)]
    tried = ((moved, first, extra) for steps, extra in ((without, True), (longer, False)) for moved, first in steps)
    found = ((_moved(moved, names, wanted), first, extra) for moved, first, extra in tried)
    return max(found, key=lambda one: len(one[0]), default=({}, "", False))


def _most(found: Iterable[tuple[dict[str, str], str]]) -> tuple[dict[str, str], str]:
    return max(found, key=lambda pair: len(pair[0]), default=({}, ""))


def _moved(moved: Mapping[str, str], names: Mapping[str, str], wanted: Collection[str]) -> dict[str, str]:
    """Return the moved names that fit directly or in another spelling, without those that exist already."""
    there = {*names.values()}
    able = {stored: name for stored, name in moved.items() if names[stored] not in wanted and name not in there}
    fits = {stored: name for stored, name in able.items() if name in wanted}
    others = {stored: name for stored, name in able.items() if name not in wanted}
    spelt = max((_read_so(spelling.read, others, wanted) for spelling in SPELLINGS), key=len)
    return fits | {stored: others[stored] for stored in spelt}


def _first_steps(names: Collection[str]) -> list[str]:
    return list(dict.fromkeys(name.partition(".")[0] for name in names if "." in name))[:64]


def _spelling(names: Mapping[str, str], wanted: Collection[str]) -> tuple[dict[str, str], str]:
    found, words = _most((_read_so(spelling.read, names, wanted), spelling.words) for spelling in SPELLINGS)
    examples = ", ".join(f"{stored} is {name}" for stored, name in list(found.items())[:_SHOWN])
    return found, f"{len(found)} names are spelt otherwise in the file ({examples}): {words}"


def halves_of(name: str) -> Iterator[tuple[str, str]]:
    """Yield the model's two names for a stored tensor that holds two."""
    for spelling in SPELLINGS:
        for pattern, first, second in spelling.halves:
            if re.search(pattern, name):
                yield re.sub(pattern, first, name), re.sub(pattern, second, name)

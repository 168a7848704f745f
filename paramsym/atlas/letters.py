"""The letters of a recorded model: the shared ones of the field for usual keys, and the names of the keys for all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from paramsym.atlas.values import Value

_KEYS: Mapping[str, str] = {
    "H": "hidden_size d_model n_embd embed_dim",
    "L": "num_hidden_layers n_layer n_layers num_layers encoder_layers depth",
    "A": "num_attention_heads n_head n_heads num_heads encoder_attention_heads",
    "F": "intermediate_size ffn_dim d_ff encoder_ffn_dim mlp_dim n_inner",
    "G": "num_key_value_heads",
    "D": "head_dim attention_head_dim d_kv",
    "V": "vocab_size",
    "P": "max_position_embeddings n_positions max_source_positions max_encoder_position_embeddings",
    "P_d": "max_target_positions max_decoder_position_embeddings",
    "T": "type_vocab_size",
    "E": "num_experts num_local_experts n_routed_experts",
    "F_e": "moe_intermediate_size",
    "F_s": "shared_expert_intermediate_size",
    "R": "kv_lora_rank",
    "R_q": "q_lora_rank",
    "D_n": "qk_nope_head_dim",
    "D_r": "qk_rope_head_dim",
    "D_v": "v_head_dim",
    "L_d": "decoder_layers num_decoder_layers",
    "A_d": "decoder_attention_heads",
    "F_d": "decoder_ffn_dim",
    "H_p": "projection_dim",
    "C": "num_channels in_channels in_chans",
    "K": "patch_size",
    "W": "image_size",
    "N": "num_labels num_classes",
}
"""The keys of each letter, those of transformers, timm and diffusers."""
_LETTERS = {key: letter for letter, keys in _KEYS.items() for key in keys.split()}
_WITHIN = {
    "": "",
    "text_config": "",
    "vision_config": "v",
    "audio_config": "a",
    "encoder": "",
    "decoder": "d",
    "encoder_config": "",
    "decoder_config": "d",
}
"""The subscript of the letters of usual inner configurations; others have their name as subscript."""
_IMAGE = ("C", "K", "W")  # letters of images, without a subscript


def name_of(key: str) -> str:
    """Return the name that a key of a configuration has as a letter: inside another configuration, a dot becomes an underscore.

    >>> name_of("text_config.hidden_size")
    'text_config_hidden_size'
    """
    return key.replace(".", "_")


def letter_in(axis: str) -> tuple[int, str]:
    """Return the name of the letter of an input's size, after the number of which it is a multiple.

    >>> letter_in("8*rows"), letter_in("vision_config.num_channels")
    ((8, 'rows'), (1, 'vision_config_num_channels'))
    """
    unit, _, key = axis.rpartition("*")
    return int(unit or 1), name_of(key)


def size_of(axis: str, sizes: Mapping[str, Any]) -> Any:
    """Return an input's size for those of letters."""
    unit, name = letter_in(axis)
    return unit * sizes[name]


def letter_names(keys: Iterable[str]) -> dict[str, str]:
    """Return the name of the letter of each key.

    Of two keys that would have one letter, the outer one has it, and the other has the name of its inner configuration as subscript. Two
    keys of one configuration keep their own names; in a name a dot becomes an underscore.

    >>> letter_names(["hidden_size", "vision_config.hidden_size", "vision_config.patch_size", "vision_config.rank"])
    {'hidden_size': 'H', 'vision_config.hidden_size': 'H_v', 'vision_config.patch_size': 'K', 'vision_config.rank': 'vision_config_rank'}
    >>> letter_names(["num_hidden_layers", "text_config.num_hidden_layers", "vision_config.detr_config.num_layers"])
    {'num_hidden_layers': 'L', 'text_config.num_hidden_layers': 'L_text', 'vision_config.detr_config.num_layers': 'L_vision_detr'}
    >>> letter_names(["num_layers", "n_layer"])
    {'num_layers': 'num_layers', 'n_layer': 'n_layer'}
    """
    usual = {key: _letter(key, _WITHIN.get(_within(key), _word(key))) for key in keys}
    first = {letter: min(_rank(key) for key, one in usual.items() if one == letter) for letter in usual.values()}
    wanted = {key: letter if _rank(key) == first[letter] else _letter(key, _word(key)) for key, letter in usual.items()}
    times = Counter(wanted.values())
    return {key: letter if letter and times[letter] == 1 else name_of(key) for key, letter in wanted.items()}


def _within(key: str) -> str:
    """Return the inner configuration that a key is in."""
    return key.rpartition(".")[0]


def _rank(key: str) -> tuple[int, int]:
    """Return the place of a key's configuration in the order of who has a letter: outer ones first, then usual ones."""
    usual = list(_WITHIN)
    return key.count("."), usual.index(_within(key)) if _within(key) in usual else len(usual)


def _word(key: str) -> str:
    """Return the name of the inner configuration that a key is in, as a subscript."""
    return "_".join(step.removesuffix("_config") for step in _within(key).split("."))


def _letter(key: str, subscript: str) -> str:
    letter = _LETTERS.get(key.rpartition(".")[2], "")
    if not letter or (subscript and "_" in letter):
        return ""
    return letter if not subscript or (subscript == "v" and letter in _IMAGE) else f"{letter}_{subscript}"


def entries_of(name: str, value: Value) -> Iterator[tuple[str, Value]]:
    """Yield a value, or the entries of a list, under the names of their letters."""
    if isinstance(value, tuple):
        for place, one in enumerate(value):
            yield from entries_of(f"{name}_{place}", one)
    else:
        yield name, value

"""timm's architectures: their names and tags, and configurations as timm writes them.

Each module of timm has one file with the records of its architectures, one a line; ``names.json.gz`` has the module of each name, the
former names, and the reasons of those that were refused::

    {"format": 1, "reference": "timm 1.0.31", "modules": {name: module}, "aliases": {former name: name.tag}, "refused": {name: reason}}

The record of an architecture has the type ``timm/NAME``, one class, and ``defaults``: for each tag (``""`` for none) the number of classes,
the channels and the sides of the image, ``null`` if the class decides; or ``null`` for a tag that changes the architecture. Its keys are
``num_classes``, ``in_chans``, ``global_pool``, and ``img_height`` with ``img_width``, or ``img_size`` if the image must be a square.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramsym.atlas.common_keys import CENTRAL, COMMON, labels_of
from paramsym.atlas.expression import OutsideError
from paramsym.atlas.files import TIMM, record_of, timm_index
from paramsym.atlas.record import RecordError
from paramsym.atlas.values import shown, whole
from paramsym.errors import UnknownNameError
from paramsym.naming import nearest

SIDES = ("img_height", "img_width")
_PREFIXES = (TIMM, "hf-hub:timm/", "hf_hub:timm/")
_PLAIN_SIZE = [3, 224, 224]  # of timm's PretrainedCfg, as the number of classes
_PLAIN_CLASSES = 1000
_FIELDS = """
architecture classifier crop_mode crop_pct custom_load description file first_conv fixed_input_size hf_hub_filename hf_hub_id input_size
interpolation label_descriptions label_names label_offset labels license mean min_input_size notes num_classes num_features origin_url
paper_ids paper_name pool_size source state_dict std tag test_crop_pct test_input_size test_pool_size url
"""
_PRETRAINED = frozenset(_FIELDS.split())  # the fields of its PretrainedCfg, and two that older files have
_TOP = _PRETRAINED | {"global_pool", "model_args", "pretrained_cfg"}
_BARE, _HEADED = "TimmWrapperModel", "TimmWrapperForImageClassification"
WRAPPERS = {"timm_wrapper": (_BARE, _HEADED), "gemma3n_vision": (_BARE,)}
"""The classes of transformers around a network of timm, by model type."""
_WRAPPED = {"timm_wrapper": "resnet50", "gemma3n_vision": "mobilenetv5_300m_enc"}  # the default network
_PLAIN = "do_pooling hidden_size is_encoder_decoder rms_norm_eps vocab_offset vocab_size"
_OF_WRAPPER = frozenset(" ".join((_PLAIN, *COMMON.values())).split()) | CENTRAL


def timm_type(config: Mapping[str, Any]) -> str | None:
    """Return the type of the record for a configuration of timm; None for another configuration.

    >>> timm_type({"architecture": "resnet50"}), timm_type({"model_type": "bert"})
    ('timm/resnet50', None)
    """
    name = config.get("architecture")
    if "model_type" in config or not isinstance(name, str):
        return None
    aliases = timm_index()["aliases"]
    return TIMM + (aliases[name].partition(".")[0] if name in aliases else name)


def timm_record(model_type: str) -> Mapping[str, Any]:
    """Return the record of one architecture.

    Raises:
        RecordError: timm has no such name, or it was refused; the message has the nearest names or the reason.
    """
    name, index = model_type.removeprefix(TIMM), timm_index()
    if name in index["modules"]:
        return record_of(model_type)
    if name in index["refused"]:
        raise RecordError(f"{name} is not in the atlas: {index['refused'][name].rstrip('.')}.")
    near = nearest(name, [*index["modules"], *index["aliases"]], cutoff=0.6)
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    raise RecordError(f"{index['reference']} has no architecture {name[:60]!a}{hint}")


def timm_config(text: str, *, prefixed: bool) -> dict[str, Any] | None:
    """Return the configuration of a name with or without a tag, as timm writes it; None for a name that is not one of timm.

    ``prefixed``: only a name after ``timm/``.

    Raises:
        UnknownNameError: a name after ``timm/``, or a tag, that timm does not have.

    >>> timm_config("timm/vit_base_patch16_224.augreg_in21k", prefixed=True)["num_classes"]
    21843
    """
    prefix = next((one for one in _PREFIXES if text.startswith(one)), "")
    full = text.removeprefix(prefix)
    index = timm_index()
    name, _, tag = index["aliases"].get(full, full).partition(".")
    if not prefix and (prefixed or name not in index["modules"]):
        return None
    try:
        defaults = timm_record(TIMM + name)["defaults"]
    except RecordError as error:
        raise UnknownNameError(str(error)) from None
    if defaults.get(tag) is None:
        known = [one for one, its in defaults.items() if one and its]
        near = nearest(tag, known, cutoff=0.4) or known[:3]
        raise UnknownNameError(f"{name} has no tag {tag[:60]!a} with known arguments; it has {', '.join(near) or 'none'}.")
    classes, channels, sides = defaults[tag]
    size = [channels, *(sides or _PLAIN_SIZE[1:])]
    cfg = {"tag": tag, "input_size": size, "fixed_input_size": sides is not None, "num_classes": classes}
    return {"architecture": name, "num_classes": classes, "pretrained_cfg": cfg}


def timm_keys(config: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a record's keys that a configuration of timm gives, with timm's precedence.

    An argument in ``model_args`` goes first; then ``num_classes`` of the configuration; then ``pretrained_cfg``, or without one timm's own.
    The sides in ``input_size`` count if ``fixed_input_size`` is true and no argument lets the size vary. ``global_pool`` outside
    ``model_args`` is a remark.

    Raises:
        OutsideError: a key that timm's configurations do not have, or a value of another kind.
    """
    given, sides = timm_arguments(config, record)
    size = given.pop("img_size", sides)
    keys = next(iter(record["classes"].values()))["keys"]
    known = sorted({"img_size" if key in SIDES else key for key in keys})
    for other in sorted(given.keys() - keys):
        if not nearest(other, known, cutoff=0.85):
            raise OutsideError(f"no laws of {other[:60]!a} were found; of this architecture, the arguments {', '.join(known)} are read.")
    return {"global_pool": None, **given, **_sides(size, keys)}


def timm_arguments(config: Mapping[str, Any], record: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return the arguments that a configuration gives to an architecture, and the sides that count if no argument states them.

    Raises:
        OutsideError: a key that timm's configurations do not have, or a value of another kind.
    """
    stated, arguments = _object(config, "pretrained_cfg"), _object(config, "model_args")
    _check_keys(config, _TOP, "; an argument of the architecture belongs in model_args")
    _check_keys(stated or {}, _PRETRAINED, " in pretrained_cfg")
    tag = (config if stated is None else stated).get("tag")
    if isinstance(tag, str) and record["defaults"].get(tag, ()) is None:
        raise OutsideError(f"the tag {tag!a} changes the architecture, which was not verified.")
    classes, channels, sides = record["defaults"][""]
    if stated is not None:
        classes = stated.get("num_classes", _PLAIN_CLASSES)
        channels, sides = _sized(stated)
        if _is_of_any_size(arguments or {}):
            sides = None
    elif "input_size" in config or "fixed_input_size" in config:
        channels, sides = _sized(config)
    given = {"num_classes": config.get("num_classes", classes), "in_chans": channels}
    given |= {key: value for key, value in (arguments or {}).items() if value is not None}
    for key in SIDES:
        if key in given:
            raise OutsideError(f"the key {key!r} is not one of timm's; write img_size, one side or a list of height and width.")
    return given, sides


def _is_of_any_size(arguments: Mapping[str, Any]) -> bool:
    """Whether timm's reader of config.json leaves out the sides in ``input_size``, because the network takes images of any size."""
    return bool(arguments.get("dynamic_img_size") or arguments.get("use_naflex")) or arguments.get("strict_img_size") is False


def wrapped(config: Mapping[str, Any], architecture: str | None) -> dict[str, Any]:
    """Return the configuration of the network inside one of ``WRAPPERS``.

    Without a head, the number of classes is 0. Of the other keys, only ``model_args`` reaches the network.

    Raises:
        OutsideError: another class, an unknown key, or numbers of classes that differ.

    >>> cats = {"model_type": "timm_wrapper", "architecture": "resnet50", "label_names": ["cat", "dog"]}
    >>> wrapped(cats, "TimmWrapperForImageClassification")["num_classes"]
    2
    """
    listed = config.get("architectures")
    model_type = config["model_type"]
    known = WRAPPERS[model_type]
    name = architecture or (listed[0] if isinstance(listed, list | tuple) and listed else known[0])
    if name not in known:
        raise OutsideError(f"architecture {str(name)[:60]!a} is not among those of {model_type}, which are {', '.join(known)}.")
    _check_keys(config, _TOP | _OF_WRAPPER, "; an argument of the architecture belongs in model_args")
    arguments = dict(_object(config, "model_args") or {})
    if "num_classes" in arguments:
        raise OutsideError(f"num_classes is in model_args; {model_type} gives the number of classes itself.")
    network = config.get("architecture", _WRAPPED[model_type])
    if not isinstance(network, str):
        raise OutsideError(f"architecture is {shown(network)}; wanted a name of timm.")
    plain = timm_config(network, prefixed=False) or {"architecture": network}
    cfg = plain.get("pretrained_cfg", {})
    if cfg.get("fixed_input_size"):  # the sides are those of timm's registry, whatever the arguments are
        arguments = {"img_size": cfg["input_size"][1:]} | {key: value for key, value in arguments.items() if value is not None}
        plain |= {"pretrained_cfg": {**cfg, "fixed_input_size": False}}
    return plain | {"num_classes": _classes(config) if name == _HEADED else 0, "model_args": arguments}


def _classes(config: Mapping[str, Any]) -> int:
    names = config.get("label_names")
    stated = [config.get("num_classes"), labels_of(config), len(names) if isinstance(names, list | tuple | Mapping) else None]
    found = {repr(one): one for one in stated if one is not None}
    if len(found) != 1:
        stated_by = "num_classes, num_labels, id2label and label_names"
        raise OutsideError(f"{stated_by} give {' and '.join(found) or 'nothing'}; wanted one number of classes.")
    return whole(next(iter(found.values())), "num_classes", 1)


def _object(config: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    found = config.get(key)
    if found is not None and not isinstance(found, Mapping):
        raise OutsideError(f"{key} is {shown(found)}; wanted an object of keys.")
    return found


def _check_keys(config: Mapping[str, Any], known: frozenset[str], what: str) -> None:
    unknown = next((key for key in config if key not in known), None)
    if unknown is not None:
        raise OutsideError(f"the key {str(unknown)[:60]!a} is not one of timm's{what}.")


def _sized(cfg: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the channels, and the sides if they are fixed."""
    size = cfg.get("input_size", _PLAIN_SIZE)
    if not isinstance(size, list | tuple) or len(size) != 3:
        raise OutsideError(f"input_size is {shown(size)}; wanted a list of channels, height and width.")
    fixed = cfg.get("fixed_input_size", False)
    if not isinstance(fixed, bool):
        raise OutsideError(f"fixed_input_size is {shown(fixed)}; wanted true or false.")
    return size[0], list(size[1:]) if fixed else None


def _sides(size: Any, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sides of the image under the keys of a record."""
    sides = list(size) if isinstance(size, list | tuple) else [size, size]
    if len(sides) != len(SIDES):
        raise OutsideError(f"img_size is {shown(size)}; wanted one side, or a list of height and width.")
    if SIDES[0] in keys:
        return dict(zip(SIDES, sides, strict=True))
    return {"img_size": sides[0] if sides[0] == sides[1] else sides} if "img_size" in keys or size is not None else {}

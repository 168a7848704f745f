"""The page of closed forms: every layer in every dialect and every model, with what each letter means."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import MISSING, fields
from types import UnionType
from typing import Any

from sympy import Expr, Symbol

import paramsym as ps
from paramsym.errors import ParamsymError

KNOWN = {
    "in_features": "i", "out_features": "o", "embed_dim": "H", "num_heads": "A", "hidden_size": "H", "input_size": "i",
    "in_channels": "C", "out_channels": "F", "kernel_size": "K", "num_embeddings": "V", "embedding_dim": "H",
    "normalized_shape": "H", "num_features": "C", "d_model": "H", "dim_feedforward": "F", "nhead": "A",
    "query_dim": "d", "channels": "C", "in1_features": "i_1", "in2_features": "i_2", "input_width": "i", "output_width": "o",
    "depth": "D", "rank": "R", "num_experts": "E", "experts_per_token": "k", "input_dim": "i", "output_dim": "o",
    "num_positions": "P", "num_channels": "C", "num_attention_heads": "A", "kv_lora_rank": "c", "qk_nope_head_dim": "d_n",
    "qk_rope_head_dim": "d_r", "v_head_dim": "d_v", "n_classes": "N", "cutoffs": "c",
}  # fmt: skip
"""The letters that papers use for the arguments of layers."""
_PLACE = {letter.name: place for place, letter in enumerate(ps.LETTERS)}
"""The place of each letter in the order in which the library writes a product."""


def layers() -> str:
    """Return a Markdown table of all layers that store something: class and arguments, dialect, closed form, letters."""
    found = [thing for thing in (getattr(ps, name) for name in dir(ps)) if isinstance(thing, type) and issubclass(thing, ps.Layer)]
    classes = sorted({cls for cls in found if cls is not ps.Layer}, key=lambda cls: cls.__name__)
    rows = [row for cls in classes for row in _rows(cls)]
    return "\n".join(["| layer, its arguments and their letters | dialect | parameters |", "|:--|:--|:--|", *rows])


def models() -> str:
    """Return every model as Markdown, one heading each: its class, its closed form, its letters."""
    lines: list[str] = []
    for name in dir(ps.models):
        cls = getattr(ps.models, name)
        if not isinstance(cls, type) or not issubclass(cls, ps.Layer):
            continue
        try:
            model = cls()
        except (TypeError, ParamsymError):
            continue
        called = f", here the reference's `{model.architecture}`," if getattr(model, "architecture", "") else ""
        where = _where(model)
        lines += [f"### {name}", "", f"`ps.models.{name}()`{called} stores", "", "$$", model.to_latex(width=67), "$$", ""]
        lines += [f"parameters, where {where}." if where else "parameters.", ""]
    return "\n".join(lines)


def _rows(cls: Any) -> Iterator[str]:
    plain = _symbolic(cls)
    if plain is None or not plain.lines:
        return
    hint = next((field for field in fields(cls) if field.name == "dialect"), None)
    names = typing.get_args(typing.get_type_hints(cls, include_extras=True)["dialect"]) if hint is not None else ()
    forms: dict[str, tuple[ps.Layer, list[str]]] = {}
    for dialect in names or ("",):
        layer = _symbolic(cls, dialect) if dialect else plain
        if layer is not None and layer.lines:
            forms.setdefault(str(layer.params), (layer, []))[1].append(dialect)
    for layer, dialects in forms.values():
        letters = _letters(layer)
        arguments = ", ".join(f"`{symbol.name}` ${letters[symbol.name]}$" for symbol in _in_order(layer))
        formula = layer.to_latex(letters=letters, width=45).replace("\n", " ")
        shown = "all" if len(dialects) > 1 and len(forms) == 1 else ", ".join(f"`{one}`" for one in dialects if one) or "torch"
        yield f"| `{cls.__name__}`({arguments}) | {shown} | ${formula}$ |"


def _symbolic(cls: Any, dialect: str = "") -> ps.Layer | None:
    """Build a layer with its required sizes as symbols; None if sizes alone do not define it."""
    hints = typing.get_type_hints(cls, include_extras=True)
    arguments = []
    for field in fields(cls):
        if not field.init or field.default is not MISSING or field.default_factory is not MISSING:
            continue
        hint = hints[field.name]
        if typing.get_origin(hint) in {typing.Union, UnionType}:
            hint = typing.get_args(hint)[0]
        if typing.get_origin(hint) is not typing.Annotated:
            return None
        arguments.append(Symbol(field.name, integer=True, positive=True))
    try:
        return cls(*arguments, **({"dialect": dialect} if dialect else {}))  # type: ignore[no-any-return]
    except (ParamsymError, TypeError):
        return None


def _in_order(layer: ps.Layer) -> list[Symbol]:
    names = [field.name for field in fields(layer)]  # type: ignore[arg-type]
    return sorted((symbol for symbol in layer.symbols if symbol.name in names), key=lambda symbol: names.index(symbol.name))


def _letters(layer: ps.Layer) -> dict[str, str]:
    """Return the letter of every argument; if two would have the same one, each is written out."""
    forms = {symbol.name: KNOWN.get(symbol.name, _written_out(symbol.name)) for symbol in layer.symbols}
    forms = {name: form if list(forms.values()).count(form) == 1 else _written_out(name) for name, form in forms.items()}
    return dict(sorted(forms.items(), key=lambda pair: (_PLACE.get(pair[1], len(_PLACE)), pair[1])))


def _written_out(name: str) -> str:
    return r"\mathit{" + name.replace("_", r"\_") + "}"


def _where(model: ps.Layer) -> str:
    """Return text that names the argument of each letter of a model."""
    given: dict[str, list[str]] = {}
    within: dict[str, str] = {}  # of a letter that is not an argument by itself: MViT's images are 32 W wide
    for name, value in _arguments(model):
        if isinstance(value, Symbol) and f"`{name}`" not in given.setdefault(value.name, []):
            given[value.name].append(f"`{name}`")
        elif isinstance(value, Expr):
            within |= {letter.name: f"given by `{name}` $= {ps.Parameter((value,)).to_latex()}$" for letter in value.free_symbols}
    forms = {symbol.name: ps.Parameter((symbol,)).to_latex() for symbol in model.params.free_symbols}
    order = [letter.name for letter in ps.LETTERS]
    named = sorted(forms, key=lambda name: (order.index(name) if name in order else len(order), name))
    by_argument: dict[str, list[str]] = {}
    for name in named:
        by_argument.setdefault(" and ".join(given.get(name) or [within[name]]), []).append(f"${forms[name]}$")
    return ", ".join(f"{', '.join(letters)} {'is' if len(letters) == 1 else 'are'} {said}" for said, letters in by_argument.items())


def _arguments(model: ps.Layer, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a model, and those of the models that it is given, each with its name; tuples entry by entry."""
    for field in fields(model):  # type: ignore[arg-type]
        yield from _entries(before + field.name, getattr(model, field.name))


def _entries(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, ps.Layer):
        yield from _arguments(value, f"{name}.")
    elif isinstance(value, tuple):
        for one in value:
            yield from _entries(name, one)
    else:
        yield name, value

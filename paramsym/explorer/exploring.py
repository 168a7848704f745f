"""``explore``: a page with sliders for one model, or for two side by side."""

from __future__ import annotations

import gc
import tempfile
import webbrowser
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from paramsym.algebra.size import symbols_in
from paramsym.analysis.counted import Counted
from paramsym.analysis.named import lettered
from paramsym.core.layer import Layer, check_layer
from paramsym.errors import ArgumentError, NotYetError, ParamsymError, UnknownInputError
from paramsym.explorer.data import variant_data
from paramsym.explorer.packing import family_script, pack, reasons_script
from paramsym.explorer.page import known, listed, page
from paramsym.explorer.reasons import reasons_data
from paramsym.explorer.source import published_name, python
from paramsym.explorer.usual import first_sizes, usual_sizes
from paramsym.explorer.variant import Variant
from paramsym.measure.cost import Cost
from paramsym.measure.work import flops


@dataclass(frozen=True, repr=False)
class Explorer:
    """A page with sliders, as ``explore`` returns it: ``html`` is the whole file. A notebook shows the page in the cell.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> explore(MultiHeadAttention(H, A))
    <page of MultiHeadAttention, 0.6 MB: save("page.html") writes it, open() shows it in a browser>
    """

    title: str
    html: str

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page and return its path.

        Raises:
            ArgumentError: a path that cannot be written.
        """
        try:
            Path(path).write_text(self.html, encoding="utf-8", newline="\n")
        except OSError as error:
            raise ArgumentError(f"the page cannot be written to {str(path)[:200]!r}: {error.strerror}.") from None
        return Path(path)

    def open(self) -> Path:
        """Show the page in a browser, from a temporary file, and return the path of this file, also if there is no browser."""
        path = self.save(Path(tempfile.mkdtemp(prefix="paramsym-")) / "page.html")
        webbrowser.open(path.as_uri())
        return path

    def __repr__(self) -> str:
        size = f"{len(self.html.encode()) / 1e6:.1f} MB"
        return f'<page of {self.title}, {size}: save("page.html") writes it, open() shows it in a browser>'

    def _repr_html_(self) -> str:
        style = "box-sizing: border-box; width: 100%; height: 46rem; border: 1px solid #8884; border-radius: 6px"
        return f'<iframe srcdoc="{escape(self.html)}" title="Explorer of {escape(self.title)}" style="{style}"></iframe>'


def explore(model: Layer, *more: Any, **named: Any) -> Explorer:
    """Return a page with sliders for the sizes of a model and of its inputs, or for two models side by side.

    ``explore(model)`` takes any layer. The page answers for parameters, FLOPs, activations, caches and memory: the number, the closed form
    term by term, the parts, why a letter cancels or stays, a chart. It is one HTML file that needs no server and no network. ``explore(one,
    other)`` shows two models. Layers that do not state their inputs take shapes as ``flops`` does, in order or by name; shapes are those of
    both models. A layer in numbers gets letters for its own arguments.

    Raises:
        ArgumentError: something else than layers and shapes, or more than two layers.
        ShapeError: inputs that the layer cannot take.
        UnknownInputError: an input by a name that the layer does not have.

    >>> from paramsym import A, B, H, MultiHeadAttention, S
    >>> explore(MultiHeadAttention(H, A, batch_first=True), (B, S, H)).title
    'MultiHeadAttention'
    """
    models = [model, *(one for one in more if isinstance(one, Layer))]
    if len(models) > 2:
        raise ArgumentError(f"explore shows one model, or two side by side, not {len(models)}.")
    shapes = tuple(one for one in more if not isinstance(one, Layer))
    try:
        return page_of([variant_of(one, shapes, named) for one in models])
    except UnknownInputError as error:
        said = 'explore has no options: save("page.html") of its answer writes the page.'
        raise UnknownInputError(error.name, error.layer, error.takes, said) from None


def variant_of(model: Layer, shapes: tuple[Any, ...] = (), named: dict[str, Any] | None = None) -> Variant:
    """Return a model with its inputs as the page shows it: in letters, with the sizes that it has or usual ones.

    Raises:
        ArgumentError: something else than a layer.
        ShapeError: inputs that the layer cannot take.
    """
    check_layer(model)
    layer = lettered(model)
    root, sizes = layer.origin
    if any(symbols_in((size,)) for size in sizes.values()):
        root, sizes = layer, {}  # such as F=4*H, where no letter has a number
    work = _work(root if not shapes and not named else layer, shapes, named or {})
    inputs: tuple[Any, ...] = ()
    if work is not None and (shapes or named):
        origin, every = work.origin
        sizes, inputs = (every, origin.inputs) if origin.layer == root else (sizes, work.inputs)
        work = flops(root, *inputs)
    own = {symbol.name: int(size) for symbol, size in sizes.items() if symbol in root.symbols}
    extents = {symbol.name: int(size) for symbol, size in sizes.items() if symbol not in root.symbols}
    name = published_name(root, own) if own else ""
    build = f"ps.load({name!r})" if name else python(root)
    subjects: list[Counted] = [root, *((work,) if work is not None else ())]
    if not own:
        extents = {**first_sizes(root), **extents}
    start = {**extents, **(usual_sizes(subjects, {**own, **extents}) if inputs or own.keys() < _names(root.symbols) else {})}
    complete = {symbol.name: own.get(symbol.name, start.get(symbol.name)) for symbol in root.symbols}
    starting = {letter: size for letter, size in start.items() if letter not in complete} if inputs else {}
    variant = Variant(root, build, inputs, {}, starting)
    variant.sizes[name or variant.title] = {letter: size for letter, size in complete.items() if size is not None}
    return variant


def page_of(variants: Sequence[Variant]) -> Explorer:
    """Return the page that shows these models."""
    packs, index, letters = [], {}, set[str]()
    with _uncollected():
        for number, variant in enumerate(variants):
            data = variant_data(variant) | {"configs": {}}
            packs += [pack(f"families/{number}", family_script([data], {})), pack(f"why/{number}", reasons_script([reasons_data(variant)]))]
            index[str(number)] = [listed(data)]
            letters |= _names(variant.root.symbols) | {one[0] for one in data["inputs"]}
    title = " and ".join(dict.fromkeys(next(iter(one.sizes)) for one in variants))
    return Explorer(title, page(f"{title}: move a size, watch the formula change", known(index, letters), packs))


@contextmanager
def _uncollected() -> Generator[None]:
    """Pause the garbage collector: nearly all objects live until the page is written, and looking at them takes a sixth of its time."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def _names(symbols: Any) -> set[str]:
    return {symbol.name for symbol in symbols}


def _work(layer: Layer, shapes: tuple[Any, ...], named: dict[str, Any]) -> Cost | None:
    """Return the FLOPs of a layer; None if it has no forward pass, or states no inputs and is given none."""
    try:
        return flops(layer, *shapes, **named)
    except NotYetError:
        return None
    except ParamsymError:
        if shapes or named:
            raise
        return None

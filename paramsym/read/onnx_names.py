"""Names in an ONNX file: what the name of an axis means as a letter, and of an operator as the modules around it."""

from __future__ import annotations

import keyword
import re
from typing import Any, TypeAlias

from paramsym.algebra import grammar
from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import B, H, S, W, dims
from paramsym.errors import CheckpointError, ParamsymError

LARGEST_SIZE = 1 << 48
Scope: TypeAlias = tuple[tuple[str, str], ...]
"""The modules around an operator, from the outside: the path of each in the model, and the name of its class."""
_LETTERS = {
    **dict.fromkeys(("batch", "batch_size", "bs"), B),
    **dict.fromkeys(("seq", "seq_len", "seqlen", "seq_length", "sequence", "sequence_length", "length"), S),
    "height": H,
    "width": W,
}
"""The shared letters by the names that exporters and users give to axes."""


def size(axis: Any, name: str) -> Dim:
    """Return the size of an axis of an input: a number, the letter that its name means, or a letter with its own name."""
    if axis.WhichOneof("value") == "dim_value":
        if not 0 < axis.dim_value <= LARGEST_SIZE:
            raise CheckpointError(f"an axis of an input has {axis.dim_value} entries.")
        return int(axis.dim_value)
    word = axis.dim_param.strip()
    if word.lower() in _LETTERS:
        return _LETTERS[word.lower()]
    try:
        return grammar.read(word)
    except ParamsymError:
        own = re.sub(r"\W+", "_", word or name, flags=re.ASCII).strip("_")
        letters: Dim = dims(own if own.isidentifier() and not keyword.iskeyword(own) else f"axis_{own}")
        return letters


def scope(node: Any, before: Scope) -> Scope:
    """Return the modules around an operator, as torch's exporters note them: in the metadata, or in the operator's name.

    An operator without a note, such as one that an optimiser made of others, belongs to the modules of the operator before it.
    """
    noted = next((one.value for one in node.metadata_props if one.key == "namespace"), None)
    if noted is not None:
        pairs = [one.partition(": ") for one in noted.split("/")[:-1]]
        return tuple((path, kind.rpartition(".")[2]) for path, _, kind in pairs if path)
    if not node.name.startswith("/"):
        return before
    found: list[tuple[str, str]] = []
    step = ""
    for word in node.name.split("/")[1:-1]:
        inner = word.removeprefix(f"{step}.") if step else word  # the copies of a sequence repeat its name: /layers/layers.0
        found.append((f"{found[-1][0]}.{inner}" if found else inner, "Module"))
        step = word
    return tuple(found)

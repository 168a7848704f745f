"""Freezing, replacing and tying by name, on random trees: what torch does with shared parameters, by hand and by torch itself."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from amount import tries
from frameworks import imported
from hypothesis import given, settings, strategies as st

import paramsym as ps

L = ps.L
PART, COPIES = 2, 3
"""How many parts a tree has at each node, and how many copies a repeated one."""


@dataclass
class Node:
    """A module written out: tensors and modules by name. A tensor is a list of one flag, whether it is trained; shared, it is one list."""

    tensors: dict[str, list[bool]] = field(default_factory=dict)
    modules: dict[str, Node] = field(default_factory=dict)

    def names(self, prefix: str = "") -> Iterator[tuple[str, list[bool]]]:
        """Yield every tensor under every name, in storage order."""
        for name, tensor in self.tensors.items():
            yield prefix + name, tensor
        for name, module in self.modules.items():
            yield from module.names(f"{prefix}{name}.")

    def at(self, path: str) -> Node:
        """Return the module at a path."""
        return reduce(lambda node, name: node.modules[name], path.split(".") if path else [], self)

    def replace(self, path: str, new: Node) -> None:
        """Put another module at a path."""
        parent, _, name = path.rpartition(".")
        self.at(parent).modules[name] = new

    def freeze(self, path: str) -> None:
        """Freeze what stands at a path, a module or one tensor."""
        for name, tensor in self.names():
            if not path or name == path or name.startswith(f"{path}."):
                tensor[0] = False

    def tie(self, alias: str, first: str) -> None:
        """Make two tensors one, under all names that either has; frozen where one of them was."""
        tensors = dict(self.names())
        one, other = tensors[first], tensors[alias]
        one[0] = one[0] and other[0]
        for name, tensor in tensors.items():
            if tensor is other:
                parent, _, last = name.rpartition(".")
                self.at(parent).tensors[last] = one

    def said(self) -> dict[str, tuple[str, bool]]:
        """Say, for every name, the first name of its tensor, and whether that is trained."""
        firsts: dict[int, str] = {}
        return {name: (firsts.setdefault(id(tensor), name), tensor[0]) for name, tensor in self.names()}


class Module:
    """The same on a module of torch's."""

    def __init__(self, node: Node) -> None:
        """Build it, parameters that are shared shared."""
        torch = imported("torch")
        parameters: dict[int, Any] = {}

        def built(node: Node) -> Any:
            module = torch.nn.Module()
            for name, tensor in node.tensors.items():
                known = parameters.setdefault(id(tensor), torch.nn.Parameter(torch.empty(2, 2, device="meta"), tensor[0]))
                module.register_parameter(name, known)
            for name, inner in node.modules.items():
                module.add_module(name, built(inner))
            return module

        self.module = built(node)

    def replace(self, path: str, new: Node) -> None:
        """Set the attribute."""
        parent, _, name = path.rpartition(".")
        setattr(self.module.get_submodule(parent), name, Module(new).module)

    def freeze(self, path: str) -> None:
        """Ask for no gradient."""
        try:
            self.module.get_submodule(path).requires_grad_(False)
        except AttributeError:
            self.module.get_parameter(path).requires_grad_(False)

    def tie(self, alias: str, first: str) -> None:
        """Give all names of one parameter the other; frozen where one of them was."""
        one, other = self.module.get_parameter(first), self.module.get_parameter(alias)
        one.requires_grad_(one.requires_grad and other.requires_grad)
        for name, parameter in [*self.module.named_parameters(remove_duplicate=False)]:
            if parameter is other:
                parent, _, last = name.rpartition(".")
                setattr(self.module.get_submodule(parent), last, one)

    def said(self) -> dict[str, tuple[str, bool]]:
        """Say the same of the parameters under all their names."""
        firsts: dict[int, str] = {}
        named = self.module.named_parameters(remove_duplicate=False)
        return {name: (firsts.setdefault(id(parameter), name), parameter.requires_grad) for name, parameter in named}


def ours(layer: ps.Layer) -> dict[str, tuple[str, bool]]:
    """Say the same of a layer's entries."""
    return {entry.name: (entry.alias_of or entry.name, entry.tensor.trainable) for entry in layer.entries()}


def leaf() -> tuple[ps.Layer, Node]:
    """Return a matrix."""
    return ps.Dense(2, 2, bias=False), Node({"weight": [True]})


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> tuple[ps.Layer, Node]:
    """Build a layer and the same written out: blocks in blocks, repeated, with a symbolic number of copies at the top."""
    kind = draw(st.sampled_from(["block", "block", "repeat", "tied", "leaf"])) if depth else "leaf"
    if kind == "leaf":
        return leaf()
    if kind == "repeat":
        layer, node = draw(trees(depth - 1))
        return ps.Repeat(layer, COPIES), Node({}, {str(number): copy.deepcopy(node) for number in range(COPIES)})
    inside = {name: draw(trees(depth - 1)) for name in "ab"[:PART]}
    layer, node = ps.Block({name: each[0] for name, each in inside.items()}), Node({}, {name: each[1] for name, each in inside.items()})
    if kind == "tied":
        layer, node = tied(layer, node, draw(pairs(node)))
    return layer, node


def tied(layer: ps.Layer, node: Node, ties: Mapping[str, str]) -> tuple[ps.Layer, Node]:
    """Tie on both sides."""
    for alias, first in ties.items():
        node.tie(alias, first)
    return ps.Tied(layer, ties), node


def pairs(node: Node) -> st.SearchStrategy[dict[str, str]]:
    """Draw which names are tied."""
    names = st.sampled_from([name for name, _ in node.names()])
    return st.dictionaries(names, names, max_size=3).map(lambda found: {one: other for one, other in found.items() if one != other})


def paths(node: Node, prefix: str = "") -> Iterator[str]:
    """Yield the paths of all modules inside."""
    for name, inner in node.modules.items():
        yield prefix + name
        yield from paths(inner, f"{prefix}{name}.")


@st.composite
def stories(draw: st.DrawFn) -> tuple[ps.Layer, Node, list[tuple[str, Any]]]:
    """Draw a tree and what happens to it; the written-out tree is as it was before."""
    inside = {name: draw(trees(2)) for name in ("x", "y")}
    layer = ps.Block({name: each[0] for name, each in inside.items()})
    node = Node({}, {name: each[1] for name, each in inside.items()})
    now, steps = copy.deepcopy(node), []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["tie", "freeze", "replace"]))
        names = [name for name, _ in now.names()]
        if kind == "tie":
            ties = draw(pairs(now))
            for alias, first in ties.items():
                now.tie(alias, first)
            steps.append((kind, ties))
        elif kind == "freeze":
            path = draw(st.sampled_from([*paths(now), *names, ""]))
            now.freeze(path)
            steps.append((kind, path))
        else:
            path, (new, written) = draw(st.sampled_from([*paths(now)])), draw(trees(1))
            now.replace(path, copy.deepcopy(written))
            steps.append((kind, (path, new, written)))
    return layer, node, steps


def told(layer: ps.Layer, other: Node | Module, steps: list[tuple[str, Any]]) -> ps.Layer:
    """Do all steps on both sides."""
    for kind, step in steps:
        if kind == "tie":
            for alias, first in step.items():
                other.tie(alias, first)
            layer = ps.Tied(layer, step)
        elif kind == "freeze":
            other.freeze(step)
            layer = layer.freeze(step)
        else:
            path, new, written = step
            other.replace(path, copy.deepcopy(written))
            layer = layer.replace(path, new)
    return layer


def check(layer: ps.Layer, said: Mapping[str, tuple[str, bool]]) -> None:
    """Compare names, ties and what is trained, and the counts that follow."""
    assert ours(layer) == said
    assert layer.params == 4 * len({first for first, _ in said.values()})
    assert layer.trainable == 4 * len({first for first, trained in said.values() if trained})
    assert layer.tied == {name: first for name, (first, _) in said.items() if name != first}
    assert list(layer.shapes()) == [name for name, (first, _) in said.items() if name == first]


@settings(max_examples=tries(60))
@given(story=stories())
def test_edits_of_tied_trees(story: tuple[ps.Layer, Node, list[tuple[str, Any]]]) -> None:
    """What is done to a tensor under one name is done to it under all, in whatever order it is tied, frozen and replaced."""
    layer, node, steps = story
    layer = told(layer, node, steps)
    check(layer, node.said())
    assert eval(repr(layer), {**vars(ps)}) == layer
    for path in paths(node):
        check(layer.part(path), node.at(path).said())


@settings(max_examples=tries(40))
@given(story=stories())
def test_edits_of_tied_modules(story: tuple[ps.Layer, Node, list[tuple[str, Any]]]) -> None:
    """The same on torch's modules."""
    layer, node, steps = story
    module = Module(node)
    check(told(layer, module, steps), module.said())

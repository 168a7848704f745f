"""Everyday edits of counts of networks for pictures, as data."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Rational

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.counted import total
from paramsym.analysis.reconcile.edits import Edit, Habit, Structure, fixed, resized, scaled

_LABELS = BY_NAME["N"].symbol
_DATA = {
    2: "two classes", 10: "CIFAR-10 and MNIST", 100: "CIFAR-100", 101: "Food-101", 102: "Flowers", 200: "Tiny ImageNet and CUB",
    365: "Places", 1000: "ImageNet", 21_841: "ImageNet-21k", 21_843: "ImageNet-21k",
}  # fmt: skip
_COLOURS = 3


def _folded(structure: Structure) -> Iterator[Edit]:
    """A norm of the batch is a factor and a shift for each channel, which the convolution before it can take over."""
    owners = {line.path[:-1] for line in structure.subject.root.lines if line.buffer and line.path[-1] == "running_mean"}
    scales = frozenset(i for i, line in enumerate(structure.lines) if line.path[:-1] in owners and line.role == "scale")
    if not scales:
        return
    biased = {line.path[:-1] for line in structure.lines if line.role == "bias"}
    # The bias of the convolution takes the shift. Without a bias before, the shift becomes one, and stays in the count.
    kernel, taken = None, set()
    for i, line in enumerate(structure.lines):
        if line.role == "weight" and len(line.shape) > 2:
            kernel = line.path[:-1]
        elif line.role == "bias" and line.path[:-1] in owners and kernel in biased:
            taken.add(i)
    yield scaled(structure, scales | frozenset(taken), 0, "batch norms folded into the convolutions", 0.93)


def _data(structure: Structure) -> Iterator[Edit]:
    """A classifier of other classes, and a first convolution for other pictures: grey ones, or the small ones of CIFAR."""
    subject = structure.subject
    now = subject.used.get(_LABELS, 0)
    pictures = [(Polynomial.of(0), ""), *_pictures(structure)] if now else []
    for classes, whose in {now: "", **_DATA}.items():
        changed = subject.formula.put(_LABELS, Polynomial.of(classes)) - subject.formula if classes != now else Polynomial.of(0)
        for more, words in pictures:
            said = [f"{classes} classes in place of {now:,}: {whose}"] * (classes != now) + [words] * bool(words)
            if words:
                yield fixed(subject, changed + more, ", and ".join(said), 1.0 + 0.05 * len(said), alone=True, choice=True)
            elif said:
                yield resized(subject, {_LABELS: classes}, said[0], 1.05, choice=True)


def _pictures(structure: Structure) -> Iterator[tuple[Polynomial, str]]:
    first = next((i for i, line in enumerate(structure.lines) if line.role == "weight" and len(line.sizes) == 4), None)
    if first is None or structure.subject.value(Polynomial.of(structure.lines[first].sizes[1])) != _COLOURS:
        return
    kernel, (*_, height, width) = structure.subject.polynomials[first], structure.lines[first].sizes
    yield kernel * Polynomial.of(Rational(-2, 3)), "one channel, as of grey pictures, in place of three"
    if (height, width) == (7, 7):
        yield (
            kernel * Polynomial.of(Rational(9, 49) - 1),
            "a first convolution of 3 by 3, as for the small pictures of CIFAR, in place of 7 by 7",
        )


def _towers(structure: Structure) -> Iterator[Edit]:
    """The part for pictures or the part for texts of a model with both, with its projection."""
    every = frozenset(range(len(structure.lines)))
    for words, starts in (("pictures", ("vision", "visual", "image")), ("texts", ("text",))):
        kept = frozenset(i for i, path in enumerate(structure.paths) if path[0].startswith(starts))
        if kept and len({structure.paths[i][0] for i in kept}) > 1 and len(kept) < len(every):
            yield scaled(structure, every - kept, 0, f"only the part for {words} counted, with its projection", 1.02)


def _keras(structure: Structure) -> Iterator[Edit]:
    """Keras counts the statistics of batch norms, and its EfficientNets normalise the pictures with 3 means, 3 variances and a number."""
    statistics = total(
        line for line in structure.subject.root.lines if line.buffer and str(line.path[-1]) in {"running_mean", "running_var"}
    )
    if statistics:
        words = "the running statistics counted as well, and 7 numbers that normalise the colours, as in Keras' EfficientNets"
        yield fixed(structure.subject, statistics + Polynomial.of(2 * _COLOURS + 1), words, 0.94)


OF_PICTURES: tuple[Habit, ...] = (
    Habit("folded norms", "networks for inference have no batch norms: a convolution takes over their factors", _folded),
    Habit("other data", "a network for other pictures has another number of classes, and may have another first convolution", _data),
    Habit("one of two parts", "a model of pictures and texts is used for one of them", _towers),
    Habit("normalised pictures", "Keras' networks may normalise the colours of a picture in a layer of their own", _keras),
)
"""The everyday edits of counts of networks for pictures."""

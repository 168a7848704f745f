"""The networks of ``keras.applications``: what Keras recorded, and, where Keras is installed, what it builds and computes."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from random import Random
from typing import Any

import pytest
from amount import cases
from frameworks import entries, imported
from recorded import rows

import paramsym as ps
from paramsym.atlas.published import KERAS
from paramsym.measure.walk import applied
from paramsym.models import FAMILIES
from paramsym.testing.running import largest_difference

HOMES = {home: classes.split() for home, (classes, _) in FAMILIES.items() if home.startswith("applications.")}
CLASSES = [getattr(import_module(f"paramsym.models.{home}"), name) for home, names in HOMES.items() for name in names]
OF = {name: cls for cls in CLASSES for name in cls.published}
ROWS = rows("keras_apps")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["model"])
def test_recorded(row: dict[str, Any]) -> None:
    """Path, shape and order of every weight, whether it is trained, the totals, and the names of all layers in Keras' order."""
    model = ps.load(row["model"])
    assert model == ps.load(KERAS + row["model"]) == OF[KERAS + row["model"]](row["model"])
    assert entries(model) == [(path.replace("/", "."), tuple(shape), trainable) for path, shape, trainable in row["weights"]]
    assert model.count == row["n_trainable"]
    assert sum(model.ledger(buffers=True).polynomial().terms.values()) == row["n_params"]
    assert [part.name.rpartition(".")[2] for part in model.own_parts] == [name for name, _, _ in row["layer_output_shapes"][1:]]


@cases(6)
@pytest.mark.parametrize("row", [row for row in ROWS if None not in row["layer_output_shapes"][0][2][1:]], ids=lambda row: row["model"])
def test_recorded_shapes(row: dict[str, Any]) -> None:
    """Every layer gives the shape that Keras' layer of this name gives."""
    (_, _, (_, *image)), *recorded = row["layer_output_shapes"]
    found = {}
    for step in applied(ps.load(row["model"]), (None, *image)):
        found[step.path.rpartition(".")[2]] = list(step.left)
    assert found == {name: shape for name, _, shape in recorded}


def test_published() -> None:
    """Every network of Keras is here, and every count that is published is the one that Keras prints."""
    assert {row["model"] for row in ROWS} <= {name.removeprefix(KERAS) for name in OF}
    for cls in CLASSES:
        assert {claim.name for claim in cls.claims} == set(cls.published)
        for claim in cls.claims:
            model = cls(claim.name)
            assert model.count + claim.besides == claim.count, claim
            assert sum(model.ledger(buffers=True).polynomial().terms.values()) == claim.count, claim


# Live -------------------------------------------------------------------------------------------------------------------------


def compared(model: ps.Layer, theirs: Any, image: tuple[int, ...]) -> None:
    """Fail unless a network of Keras has these weights, in this order, and computes the same from random ones."""
    xp, keras = imported("numpy"), imported("keras")
    assert entries(model) == [(weight.path.replace("/", "."), tuple(weight.shape), weight.trainable) for weight in theirs.weights]
    assert [part.name.rpartition(".")[2] for part in model.own_parts] == [layer.name for layer in theirs.layers[1:]]
    generator = xp.random.default_rng(0)
    arrays = [generator.random(weight.shape) + (0.5 if "var" in weight.path.rpartition("/")[2] else -0.5) for weight in theirs.weights]
    arrays = [array * (12 / xp.prod(array.shape[:-1])) ** 0.5 if array.ndim > 1 else array for array in arrays]
    theirs.set_weights(arrays)
    x = generator.random((1, *image)) * 255
    wanted = keras.ops.convert_to_numpy(theirs(x, training=False))
    tensors = {weight.path.replace("/", "."): array for weight, array in zip(theirs.weights, arrays, strict=True)}
    largest_difference(xp, model, ps.run(model, tensors, x), wanted, 1e-5)


draw = Random(19)


def case(name: str, *sides: int, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """Return a network with arguments of its own, random ones of those that all have, and images of these sides."""
    channels = draw.choice([1, 3, 4])
    top = draw.random() < 0.6
    rest: dict[str, Any] = (
        {"classes": draw.randrange(2, 9)} if top else {"include_top": False, "pooling": draw.choice([None, "avg", "max"])}
    )
    if draw.random() < 0.3:
        rest["classifier_activation"] = None
    return name, {"input_shape": (*sides, channels), **rest, **arguments}


LIVE = (
    case("VGG16", 40, 33),
    case("Xception", 71, 90),
    case("Xception", 85, 72),
    case("ResNet50", 40, 33),
    case("ResNet50V2", 41, 32),
    case("DenseNet121", 48, 33),
    case("InceptionV3", 75, 90),
    case("InceptionResNetV2", 80, 75),
    case("NASNetMobile", 64, 51),
    case("NASNetMobile", 97, 64),
    *(case("MobileNet", 33, 40, alpha=Fraction(draw.randrange(2, 12), 8), depth_multiplier=m, dropout=0.2) for m in (1, 2)),
    *(case("MobileNetV2", draw.randrange(32, 50), 40, alpha=Fraction(draw.randrange(2, 12), 8)) for _ in range(3)),
    case("MobileNetV2", 32, 41, alpha=Fraction(14, 25)),  # a width of 8.96, which Keras rounds to 8 and torchvision to 16
    *(
        case(f"MobileNetV3{size}", draw.randrange(32, 50), 40, alpha=Fraction(draw.randrange(2, 12), 8), minimalistic=minimalistic)
        for size in ("Small", "Large")
        for minimalistic in (False, True)
    ),
    case("MobileNetV3Small", 47, 33, include_top=True, dropout_rate=0, include_preprocessing=False),
    case("EfficientNetB0", 33, 46),
    case("EfficientNetB1", 45, 32),
    case("EfficientNetV2B0", 33, 46),
    case("EfficientNetV2B1", 40, 45, include_preprocessing=False),
    case("EfficientNetV2S", 45, 32),
    case("ConvNeXtTiny", 40, 33, include_preprocessing=False),
    case("ConvNeXtTiny", 32, 35),
)


def built(keras: Any, name: str, arguments: dict[str, Any]) -> Any:
    """Build Keras' network without downloading weights; NASNetMobile by its parts, because Keras does not offer it on torch."""
    plain = {key: float(value) if isinstance(value, Fraction) else value for key, value in arguments.items()}
    if name != "NASNetMobile":
        return getattr(keras.applications, name)(weights=None, **plain)
    sizes = {"penultimate_filters": 1056, "num_blocks": 4, "stem_block_filters": 32, "skip_reduction": False, "filter_multiplier": 2}
    return import_module("keras.src.applications.nasnet").NASNet(weights=None, default_size=224, **sizes, **plain)


@pytest.mark.filterwarnings("ignore:This model usually expects:UserWarning")
@pytest.mark.parametrize(("name", "arguments"), LIVE, ids=[f"{name}-{arguments}" for name, arguments in LIVE])
def test_live(name: str, arguments: dict[str, Any]) -> None:
    """Names, shapes and order of weights and layers, and the output on random weights, of Keras' network with these arguments."""
    keras = imported("keras")
    keras.utils.clear_session()  # it numbers layers without a name
    compared(OF[KERAS + name](name, **arguments), built(keras, name, arguments), arguments["input_shape"])

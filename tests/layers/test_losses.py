"""Losses and distances compute what torch computes, in every reduction, and keep what torch keeps."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import pytest
from frameworks import imported
from strategies import assert_value

import paramsym as ps
from paramsym import B, S, V
from paramsym.errors import ArgumentError

REDUCED = [{"reduction": one} for one in ("mean", "sum", "none")]
FLOATS: dict[str, list[dict[str, Any]]] = {
    "MSELoss": REDUCED,
    "L1Loss": REDUCED,
    "SmoothL1Loss": [*REDUCED, {"beta": 0.0}, {"beta": 0.3}],
    "HuberLoss": [*REDUCED, {"delta": 0.4}],
    "SoftMarginLoss": REDUCED,
    "BCELoss": REDUCED,
    "BCEWithLogitsLoss": REDUCED,
    "KLDivLoss": [*REDUCED, {"reduction": "batchmean"}, {"log_target": True}],
    "CosineSimilarity": [{}, {"dim": -1}, {"dim": 0, "eps": 0.5}],
    "PairwiseDistance": [{}, {"p": 1.0}, {"p": 3.0, "keepdim": True}],
}
THREE: dict[str, list[dict[str, Any]]] = {
    "HingeEmbeddingLoss": [*REDUCED, {"margin": 0.3}],
    "MarginRankingLoss": [*REDUCED, {"margin": 0.3}],
    "CosineEmbeddingLoss": [*REDUCED, {"margin": 0.3}],
    "TripletMarginLoss": [*REDUCED, {"swap": True}, {"p": 1.0, "margin": 0.2}],
    "GaussianNLLLoss": [*REDUCED, {"full": True}],
    "PoissonNLLLoss": [*REDUCED, {"log_input": False}, {"full": True}],
    "MultiLabelSoftMarginLoss": REDUCED,
    "MultiMarginLoss": [*REDUCED, {"p": 2}, {"margin": 0.4}],
    "MultiLabelMarginLoss": REDUCED,
    "TripletMarginWithDistanceLoss": [*REDUCED, {"swap": True}, {"margin": 0.2}],
    "CTCLoss": [*REDUCED, {"blank": 2}, {"zero_infinity": True}],
}
"""Losses with targets of their own kinds, or of three arrays."""
CLASSES: dict[str, list[dict[str, Any]]] = {
    "NLLLoss": [*REDUCED, {"ignore_index": 2}],
    "CrossEntropyLoss": [*REDUCED, {"ignore_index": 1}, {"label_smoothing": 0.1}, {"label_smoothing": 0.2, "ignore_index": 3}]
    + [{"label_smoothing": 0.1, "reduction": one} for one in ("sum", "none")],
}


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize(("name", "settings"), [(name, one) for name, some in FLOATS.items() for one in some])
def test_of_two_arrays(name: str, settings: dict[str, Any]) -> None:
    """Values of random arrays."""
    torch = imported("torch")
    generator = torch.Generator().manual_seed(3)
    x, y = (torch.rand(4, 5, generator=generator, dtype=torch.float64) for _ in range(2))
    wanted = getattr(torch.nn, name)(**settings)(x, y)
    found = ps.run(getattr(ps, name)(**settings), {}, x.numpy(), y.numpy())
    torch.testing.assert_close(torch.as_tensor(found), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("name", "settings"), [(name, one) for name, some in CLASSES.items() for one in some])
@pytest.mark.parametrize("shape", [(4, 5), (5,), (3, 5, 2), (2, 5, 3, 2)], ids=str)
def test_of_classes(name: str, settings: dict[str, Any], shape: tuple[int, ...]) -> None:
    """Values for a class at every position, of which some are ignored."""
    torch = imported("torch")
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(shape, generator=generator, dtype=torch.float64)
    places = shape[:1] + shape[2:] if len(shape) > 1 else ()
    target = torch.randint(0, 5, places, generator=generator)
    if not places and int(target) == settings.get("ignore_index"):
        target = target * 0
    wanted = getattr(torch.nn, name)(**settings)(x, target)
    found = ps.run(getattr(ps, name)(**settings), {}, x.numpy(), target.numpy())
    torch.testing.assert_close(torch.as_tensor(found), wanted, rtol=1e-9, atol=1e-9)


def arrays_for(name: str) -> list[Any]:
    """Return random inputs in float64, those that need a gradient first."""
    torch = imported("torch")
    generator = torch.Generator().manual_seed(11)
    x, y, z = (torch.rand(4, 5, generator=generator, dtype=torch.float64) for _ in range(3))
    sign = torch.randint(0, 2, (4, 5), generator=generator).double() * 2 - 1
    inputs: dict[str, list[Any]] = {
        "HingeEmbeddingLoss": [x, sign],
        "MarginRankingLoss": [x, y, sign],
        "CosineEmbeddingLoss": [x, y, sign[:, 0].contiguous()],
        "TripletMarginLoss": [x, y, z],
        "GaussianNLLLoss": [x, y, z],
        "PoissonNLLLoss": [x, y * 4],
        "MultiLabelSoftMarginLoss": [x, (sign + 1) / 2],
        "MultiLabelMarginLoss": [x, torch.stack([torch.randperm(6, generator=generator)[:5] - 1 for _ in range(4)])],
        "TripletMarginWithDistanceLoss": [x, y, z],
        "CTCLoss": [
            torch.log_softmax(torch.randn(7, 4, 5, generator=generator, dtype=torch.float64), -1),
            *(torch.tensor(one) for one in ([[1, 1, 3], [4, 3, 4], [3, 3, 3], [1, 4, 1]], [7, 6, 4, 3], [3, 2, 3, 0])),  # one is impossible
        ],
        "MultiMarginLoss": [x, torch.randint(0, 5, (4,), generator=generator)],
    }
    return inputs[name]


@pytest.mark.parametrize(("name", "settings"), [(name, one) for name, some in THREE.items() for one in some])
def test_of_other_targets(name: str, settings: dict[str, Any]) -> None:
    """Values, and the bytes that autograd keeps beside the inputs, if all of them need a gradient."""
    torch = imported("torch")
    inputs = arrays_for(name)
    wanted = getattr(torch.nn, name)(**settings)(*inputs)
    layer = getattr(ps, name)(**settings)
    found = ps.run(layer, {}, *(one.numpy() for one in inputs))
    torch.testing.assert_close(torch.as_tensor(found), wanted, rtol=1e-9, atol=1e-9)
    asked = [one.float().requires_grad_() if one.is_floating_point() else one for one in inputs]
    kept: dict[int, int] = {}
    alive: list[Any] = []

    def pack(tensor: Any) -> Any:
        alive.append(tensor)
        kept[tensor.untyped_storage().data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        getattr(torch.nn, name)(**settings)(*asked)
    beside = sum(size for place, size in kept.items() if place not in {one.untyped_storage().data_ptr() for one in asked})
    shapes = [tuple(one.shape) for one in asked]
    assert ps.activations(layer, *shapes, convention="torch-eager-cpu", input_gradients=True).total == beside


def test_weights_of_classes() -> None:
    """Weights are a buffer, as in torch, and weigh the mean."""
    torch = imported("torch")
    generator = torch.Generator().manual_seed(8)
    x, weight = torch.randn(6, 3, generator=generator), torch.rand(3, generator=generator)
    target = torch.randint(0, 3, (6,), generator=generator)
    for name in CLASSES:
        module, layer = getattr(torch.nn, name)(weight=weight), getattr(ps, name)(3)
        assert layer.shapes(buffers=True) == {key: tuple(one.shape) for key, one in module.state_dict().items()}
        assert layer.count == 0
        found = ps.run(layer, {"weight": weight.numpy()}, x.numpy(), target.numpy())
        torch.testing.assert_close(torch.as_tensor(found), module(x, target), check_dtype=False)
    for name in ("MultiMarginLoss", "MultiLabelSoftMarginLoss"):
        module, layer = getattr(torch.nn, name)(weight=weight), getattr(ps, name)(weight=3)
        classes = target if name == "MultiMarginLoss" else torch.rand(6, 3, generator=generator)
        found = ps.run(layer, {"weight": weight.numpy()}, x.numpy(), classes.numpy())
        torch.testing.assert_close(torch.as_tensor(found), module(x, classes), check_dtype=False)
    module, layer = torch.nn.BCEWithLogitsLoss(pos_weight=weight), ps.BCEWithLogitsLoss(pos_weight=3)
    y = torch.rand(6, 3, generator=generator)
    found = ps.run(layer, {"pos_weight": weight.numpy()}, x.numpy(), y.numpy())
    torch.testing.assert_close(torch.as_tensor(found), module(x, y), check_dtype=False)


@pytest.mark.parametrize("name", [*FLOATS, *THREE, *CLASSES])
def test_values_of_the_classes(name: str) -> None:
    """Each is a value, in torch's order of arguments; torch's two old arguments, of which it warns, are left out."""
    layer = getattr(ps, name)()
    assert_value(layer)
    assert layer.params == 0
    theirs = inspect.signature(getattr(imported("torch").nn, name)).parameters
    ours = inspect.signature(getattr(ps, name)).parameters
    assert [one for one in theirs if one not in {"size_average", "reduce"}] == list(ours)


def test_a_language_model_with_its_loss() -> None:
    """For a vocabulary V, the backward pass needs V logarithms for each token, and the sum of the weights."""
    tokens = (B, V, S)
    assert ps.activations(ps.CrossEntropyLoss(), tokens, (B, S), input_gradients=True).total == 4 * B * S * V + 4
    assert ps.flops(ps.CrossEntropyLoss(), tokens, (B, S)).total == 0
    assert ps.output_shape(ps.CrossEntropyLoss(reduction="none"), (tokens, (B, S))) == (B, S)


def test_refused() -> None:
    """A share of targets is between 0 and 1."""
    with pytest.raises(ArgumentError, match="label_smoothing is 2"):
        ps.CrossEntropyLoss(label_smoothing=2)
    with pytest.raises(ArgumentError, match="not known yet"):
        ps.CrossEntropyLoss(V, label_smoothing=0.1)


def test_a_distance_that_is_learned() -> None:
    """A module that measures the distance is a part, as in torch: its names, values, and the gradients that it keeps arrays for."""
    torch = imported("torch")
    module = torch.nn.TripletMarginWithDistanceLoss(distance_function=torch.nn.Bilinear(5, 5, 1), swap=True).double()
    layer = ps.TripletMarginWithDistanceLoss(distance_function=ps.Bilinear(5, 5, 1), swap=True)
    assert layer.shapes() == {name: tuple(one.shape) for name, one in module.named_parameters()}
    inputs = arrays_for("TripletMarginLoss")
    found = ps.run(layer, {name: one.detach().numpy() for name, one in module.named_parameters()}, *(one.numpy() for one in inputs))
    torch.testing.assert_close(torch.as_tensor(found), module(*inputs).detach())


def test_one_example_of_many_labels() -> None:
    """A single example, as torch takes it, and one without any right class, which costs nothing."""
    torch = imported("torch")
    x = torch.tensor([0.1, 0.2, 0.4, 0.8])
    for labels in ([3, 0, -1, 1], [-1, 1, 2, 3]):
        wanted = torch.nn.MultiLabelMarginLoss()(x, torch.tensor(labels))
        found = ps.run(ps.MultiLabelMarginLoss(), {}, x.numpy(), torch.tensor(labels).numpy())
        torch.testing.assert_close(torch.as_tensor(found, dtype=torch.float32), wanted)


def test_losses_of_torch() -> None:
    """Every loss of torch.nn has a layer."""
    theirs = {name for name in dir(imported("torch").nn) if name.endswith("Loss")}
    assert theirs <= {*dir(ps)}


@pytest.mark.parametrize(
    "settings", [{}, {"bias": True}, {"reduction": "sum"}, {"label_smoothing": 0.1, "bias": True}, {"ignore_index": 1}]
)
def test_a_loss_with_a_matrix(settings: dict[str, Any]) -> None:
    """Names, value, torch's count of the products forward and backward, and the bytes that autograd keeps beside input and matrix."""
    torch = imported("torch")
    if not hasattr(torch.nn, "LinearCrossEntropyLoss"):  # new in 2.13
        pytest.skip("this torch has no such loss")
    counter = imported("torch.utils.flop_counter").FlopCounterMode
    torch.manual_seed(4)
    module, layer = torch.nn.LinearCrossEntropyLoss(5, 7, **settings), ps.LinearCrossEntropyLoss(5, 7, **settings)
    assert layer.shapes() == {name: tuple(one.shape) for name, one in module.named_parameters()}
    x, target = torch.randn(6, 5, requires_grad=True), torch.randint(2, 7, (6,))
    kept: dict[int, int] = {}
    alive: list[Any] = []

    def pack(tensor: Any) -> Any:
        alive.append(tensor)
        kept[tensor.untyped_storage().data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with counter(display=False) as forward, torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = module(x, target)
    with counter(display=False) as backward:
        loss.backward()
    found = ps.run(layer, {name: one.detach().numpy() for name, one in module.named_parameters()}, x.detach().numpy(), target.numpy())
    torch.testing.assert_close(torch.as_tensor(found), loss.detach(), check_dtype=False)
    shapes = ((6, 5), (6,))
    assert ps.flops(layer, *shapes).total == forward.get_total_flops()
    assert ps.flops(layer, *shapes, way="backward", input_gradients=True).total == backward.get_total_flops()
    mine = {one.untyped_storage().data_ptr() for one in (x, target, *module.parameters())}
    beside = sum(size for place, size in kept.items() if place not in mine)
    assert ps.activations(layer, *shapes, convention="torch-eager-cpu", input_gradients=True).total == beside


def test_a_sequence_has_the_probability_of_all_its_alignments() -> None:
    """Every path through labels and blanks that reads as the labels (Graves et al. 2006, equation 3), listed one by one."""
    xp = imported("numpy")
    chance = xp.random.default_rng(1)
    scores = chance.standard_normal((5, 2, 3))
    logs = scores - xp.log(xp.exp(scores).sum(-1, keepdims=True))
    labels, steps, lengths = xp.array([[1, 2], [2, 2]]), xp.array([5, 4]), xp.array([2, 2])
    wanted = []
    for n in range(2):
        paths = itertools.product(range(3), repeat=int(steps[n]))
        read = [path for path in paths if [label for label, _ in itertools.groupby(path) if label] == list(labels[n])]
        wanted.append(-xp.log(sum(xp.exp(sum(logs[t, n, label] for t, label in enumerate(path))) for path in read)))
    found = ps.run(ps.CTCLoss(reduction="none"), {}, logs, labels, steps, lengths)
    assert xp.allclose(found, wanted)


def test_margins_by_their_formulas() -> None:
    """Of several right classes, of one with a weight, and of three arrays; the sums are written out."""
    xp = imported("numpy")
    x = xp.random.default_rng(2).standard_normal((2, 4))
    right = xp.array([[3, 0, -1, 1], [2, -1, 0, 1]])
    sets = [[3, 0], [2]]
    wanted = [sum(max(0, 1 - x[n, y] + x[n, i]) for y in sets[n] for i in range(4) if i not in sets[n]) / 4 for n in range(2)]
    assert xp.allclose(ps.run(ps.MultiLabelMarginLoss(reduction="none"), {}, x, right), wanted)
    weight, of = xp.array([1.0, 2.0, 0.5, 3.0]), xp.array([1, 3])
    one = [sum(weight[of[n]] * max(0, 0.4 - x[n, of[n]] + x[n, i]) ** 2 for i in range(4) if i != of[n]) / 4 for n in range(2)]
    assert xp.allclose(ps.run(ps.MultiMarginLoss(2, 0.4, 4, reduction="none"), {"weight": weight}, x, of), one)
    y, z = x[::-1] * 0.5, x + 0.3
    near, far, other = (xp.sqrt(((a - b + 1e-6) ** 2).sum(-1)) for a, b in ((x, y), (x, z), (y, z)))
    for loss in (ps.TripletMarginLoss(swap=True), ps.TripletMarginWithDistanceLoss(swap=True)):
        assert xp.isclose(ps.run(loss, {}, x, y, z), xp.maximum(0, near - xp.minimum(far, other) + 1).mean())
    same = xp.array([1.0, -1.0])
    cosine = (x * y).sum(-1) / xp.sqrt((x**2).sum(-1) * (y**2).sum(-1))
    wanted = xp.where(same > 0, 1 - cosine, xp.maximum(0, cosine - 0.3))
    assert xp.allclose(ps.run(ps.CosineEmbeddingLoss(0.3, reduction="none"), {}, x, y, same), wanted)
    smoothed = -(0.9 * xp.log(xp.exp(x) / xp.exp(x).sum(-1, keepdims=True))[xp.arange(2), of])
    smoothed = smoothed - 0.1 * xp.log(xp.exp(x) / xp.exp(x).sum(-1, keepdims=True)).mean(-1)
    assert xp.isclose(ps.run(ps.CrossEntropyLoss(label_smoothing=0.1), {}, x, of), smoothed.mean())


def test_values_by_their_formulas() -> None:
    """Entropies, likelihoods and divergences as torch's documentation writes them."""
    xp = imported("numpy")
    x, y = xp.array([[0.2, -1.1, 0.7], [1.4, 0.3, -0.6]]), xp.array([[0.5, 0.1, 2.5], [0.9, 3.0, 0.4]])
    p, q = xp.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]), xp.array([[0.1, 0.8, 0.1], [0.5, 0.25, 0.25]])
    weight = xp.array([1.0, 2.0, 0.5])

    def given(loss: ps.Layer, *arrays: Any, **stored: Any) -> Any:
        return ps.run(loss, stored, *arrays)

    entropy = -(q * xp.log(p) + (1 - q) * xp.log(1 - p))
    assert xp.isclose(given(ps.BCELoss(), p, q), entropy.mean())
    assert xp.allclose(given(ps.BCELoss(weight=(3,), reduction="none"), p, q, weight=weight), entropy * weight)
    many = -(q * -xp.log1p(xp.exp(-x)) + (1 - q) * -xp.log1p(xp.exp(x)))
    assert xp.isclose(given(ps.MultiLabelSoftMarginLoss(), x, q), many.mean())
    assert xp.isclose(given(ps.MultiLabelSoftMarginLoss(weight=(3,)), x, q, weight=weight), (many * weight).mean())
    factorial = xp.where(y > 1, y * xp.log(y) - y + 0.5 * xp.log(2 * xp.pi * y), 0)  # Stirling's, above 1
    assert xp.isclose(given(ps.PoissonNLLLoss(), x, y), (xp.exp(x) - y * x).mean())
    assert xp.isclose(given(ps.PoissonNLLLoss(log_input=False, full=True), p, y), (p - y * xp.log(p + 1e-8) + factorial).mean())
    variance = xp.array([[0.5, 1e-9, 2.0], [1.0, 3.0, 0.1]])  # the second is below the least, 1e-6
    bounded = xp.maximum(variance, 1e-6)
    likely = 0.5 * (xp.log(bounded) + (x - y) ** 2 / bounded)
    assert xp.allclose(given(ps.GaussianNLLLoss(reduction="none"), x, y, variance), likely)
    assert xp.allclose(given(ps.GaussianNLLLoss(full=True, reduction="none"), x, y, variance), likely + 0.5 * xp.log(2 * xp.pi))
    divergence = q * (xp.log(q) - x)
    assert xp.isclose(given(ps.KLDivLoss(reduction="batchmean"), x, q), divergence.sum() / 2)
    assert xp.isclose(given(ps.KLDivLoss(log_target=True), x, xp.log(q)), divergence.mean())


@pytest.mark.parametrize(
    ("p", "wanted"),
    [
        (0.0, [2.0, 1.0]),
        (1.0, [7.0, 0.5]),
        (2.0, [5.0, 0.5]),
        (3.0, [91 ** (1 / 3), 0.5]),
        (float("inf"), [4.0, 0.5]),
        (float("-inf"), [3.0, 0.0]),
    ],
)
def test_distances_of_every_order(p: float, wanted: list[float]) -> None:
    """Of (3, 4), and of (1/2, 0)."""
    xp = imported("numpy")
    far, near = xp.array([[4.0, 5.0], [1.5, 1.0]]), xp.array([[1.0, 1.0], [1.0, 1.0]])
    assert ps.run(ps.PairwiseDistance(p, eps=0.0), {}, far, near).tolist() == pytest.approx(wanted)

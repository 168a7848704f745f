"""Single operators of torch in the forms that models use: ``FORMS`` by name, each a function with the axes of its arrays in letters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import pytest

torch = pytest.importorskip("torch")
nn = torch.nn
functional = nn.functional


class Form(NamedTuple):
    """A function of arrays. An array is "kind: axes"; an axis is a number, or a letter as in "2*a+1", which is drawn for each example.

    The kinds are "f", numbers that may need a gradient; "p", positive ones; "w" and "v", the same as parameters; "x", numbers without a
    gradient; "t", Booleans; and "i5", indices below 5. ``build`` makes a module, which is called in place of a function.
    ``counted`` says what torch's counter counts: nothing of kernels that it does not know, no products inside of one operator, and not
    the outer products of a backward pass.
    """

    arrays: tuple[str, ...]
    function: Callable[..., Any] | None = None
    build: Callable[[], Any] | None = None
    training: bool = False
    counted: Literal["both", "forward", "backward", "nothing"] = "both"
    kept: bool = True
    ran: bool = True


FORMS: dict[str, Form] = {}


def form(name: str, arrays: str, function: Callable[..., Any], **more: Any) -> None:
    assert name not in FORMS, name
    FORMS[name] = Form(tuple(one.strip() for one in arrays.split(",")), function, **more)


def module(name: str, arrays: str, build: Callable[[], Any], **more: Any) -> None:
    assert name not in FORMS, name
    FORMS[name] = Form(tuple(one.strip() for one in arrays.split(",")), None, build, **more)


# Entry by entry ------------------------------------------------------------------------------------------------------------------

for _name in ("abs", "ceil", "cos", "exp", "expm1", "floor", "round", "sign", "sin", "square", "tanh", "trunc", "erf", "sigmoid", "neg"):
    form(_name, "f: a b", getattr(torch, _name))
for _name in ("atan", "cosh", "sinh", "asinh", "frac", "sinc", "logit_", "erfc", "exp2", "positive", "deg2rad", "nan_to_num"):
    form(_name, "f: a b", getattr(torch, _name) if _name != "logit_" else lambda x: torch.logit(torch.sigmoid(x)))
for _name in ("log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal"):
    form(_name, "p: a b", getattr(torch, _name))
for _name in ("acos", "asin", "atanh"):
    form(_name, "f: a b", lambda x, name=_name: getattr(torch, name)(torch.tanh(x) * 0.9))
for _name in ("relu", "relu6", "selu", "silu", "mish", "hardsigmoid", "hardswish", "softplus", "logsigmoid", "gelu", "elu", "leaky_relu"):
    form(_name, "f: a b", getattr(functional, _name))
for _name in ("celu", "softsign", "tanhshrink", "softshrink", "hardshrink", "hardtanh", "softmin"):
    form(_name, "f: a b", lambda x, name=_name: getattr(functional, name)(x, **({"dim": -1} if name == "softmin" else {})))
form("gelu tanh", "f: a b", lambda x: functional.gelu(x, approximate="tanh"))
form("elu alpha", "f: a b", lambda x: functional.elu(x, 0.5))
form("celu alpha", "f: a b", lambda x: functional.celu(x, 0.5))
form("leaky relu slope", "f: a b", lambda x: functional.leaky_relu(x, 0.3))
form("softplus beta", "f: a b", lambda x: functional.softplus(x, 2.0, 1.0))
form("softshrink lambda", "f: a b", lambda x: functional.softshrink(x, 0.2))
form("hardshrink lambda", "f: a b", lambda x: functional.hardshrink(x, 0.2))
form("hardtanh bounds", "f: a b", lambda x: functional.hardtanh(x, -0.5, 0.25))
form("threshold", "f: a b", lambda x: functional.threshold(x, 0.1, -3.0))
form("prelu", "f: a b c, f: b", functional.prelu)
form("prelu one", "f: a b c, f: 1", functional.prelu)
form("glu", "f: a 2*b c", lambda x: functional.glu(x, 1))
form("add", "f: a b c, f: b c", lambda x, y: x + y)
form("add ones", "f: a 1 c, f: b 1", lambda x, y: x + y)
form("add alpha", "f: a b, f: a b", lambda x, y: torch.add(x, y, alpha=2))
form("add number", "f: a b", lambda x: x + 3)
form("add index and float", "f: a b, i5: b", lambda x, y: x + y)
form("sub", "f: a b c, f: b 1", lambda x, y: x - y)
form("sub alpha", "f: a b, f: a b", lambda x, y: torch.sub(x, y, alpha=3))
form("rsub", "f: a b", lambda x: 1 - x)
form("rsub alpha", "f: a b, f: a b", lambda x, y: torch.rsub(x, y, alpha=2))
form("mul", "f: a b c, f: b c", lambda x, y: x * y)
form("mul itself", "f: a b", lambda x: x * x)
form("mul number", "f: a b", lambda x: x * 0.5)
form("div", "f: a b, p: b", lambda x, y: x / y)
form("div number", "f: a b", lambda x: x / 3)
form("div by array", "p: a b", lambda x: 2 / x)
form("div floor", "f: a b, p: b", lambda x, y: torch.div(x, y, rounding_mode="floor"))
form("div trunc", "f: a b, p: b", lambda x, y: torch.div(x, y, rounding_mode="trunc"))
form("div trunc number", "f: a b", lambda x: torch.div(x, 0.3, rounding_mode="trunc"))
form("floor divide", "x: a b", lambda x: x // 0.3)
form("floor divide indices", "i9: a b", lambda x: x // 2)
form("true divide indices", "i9: a b", lambda x: x / 2)
form("div floor indices", "i9: a b", lambda x: torch.div(x, 2, rounding_mode="floor"))
form("remainder", "f: a b, p: b", torch.remainder)
form("remainder number", "f: a b", lambda x: x % 0.7)
form("remainder indices", "i9: a b", lambda x: (x - 4) % 3)
form("fmod", "f: a b", lambda x: torch.fmod(x, 0.7))
form("fmod arrays", "f: a b, p: b", torch.fmod)
form("pow 2", "f: a b", lambda x: x**2)
form("pow 3", "f: a b", lambda x: x**3)
form("pow half", "p: a b", lambda x: x**0.5)
form("pow minus half", "p: a b", lambda x: torch.pow(x, -0.5))
form("pow array", "p: a b, f: b", torch.pow)
form("number to a power", "f: a b", lambda x: 2.0**x)
form("maximum", "f: a b, f: b", torch.maximum)
form("minimum", "f: a b, f: b", torch.minimum)
form("max of two", "f: a b, f: b", torch.max)
form("min of two", "f: a b, f: b", torch.min)
form("fmax", "f: a b, f: b", torch.fmax)
form("fmin", "f: a b, f: b", torch.fmin)
form("atan2", "f: a b, p: b", torch.atan2)
form("hypot", "f: a b, p: b", torch.hypot)
form("logaddexp", "f: a b, f: b", torch.logaddexp)
form("clamp", "f: a b", lambda x: x.clamp(-0.5, 0.5))
form("clamp min", "f: a b", lambda x: x.clamp(min=0.1))
form("clamp max", "f: a b", lambda x: x.clamp(max=0.1))
form("clamp arrays", "f: a b, x: b", lambda x, y: torch.clamp(x, y, y + 1))
form("clamp indices", "i9: a b", lambda x: x.clamp(2, 5))
form("clamp indices min", "i9: a b", lambda x: x.clamp(min=3))
form("clamp_min", "f: a b", lambda x: torch.clamp_min(x, 0.0))
form("clip", "f: a b", lambda x: torch.clip(x, 0.0, 1.0))
form("addcmul", "f: a b, f: a b, f: b", torch.addcmul)
form("addcmul value", "f: a b, f: a b, f: b", lambda x, y, z: torch.addcmul(x, y, z, value=0.5))
form("addcdiv", "f: a b, f: a b, p: b", lambda x, y, z: torch.addcdiv(x, y, z, value=2))
form("lerp", "f: a b, f: a b", lambda x, y: torch.lerp(x, y, 0.3))
form("lerp array", "f: a b, f: a b, f: b", torch.lerp)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    form(_name, "x: a b, x: b", getattr(torch, _name))
    form(f"{_name} number", "i5: a b", lambda x, name=_name: getattr(torch, name)(x, 2))
for _name in ("and", "or", "xor"):
    form(f"logical {_name}", "t: a b, t: b", getattr(torch, f"logical_{_name}"))
    form(f"bitwise {_name}", "t: a b, t: b", getattr(torch, f"bitwise_{_name}"))
form("logical and of numbers", "x: a b, t: b", torch.logical_and)
form("and by symbol", "t: a b, t: b", lambda x, y: (x & y) | ~x)
form("bits of indices", "i9: a b, i9: b", lambda x, y: (x & y) | (x ^ 3))
form("not of indices", "i9: a b", lambda x: ~x)
form("shift", "i9: a b", lambda x: (x << 2) >> 1)
form("not", "t: a b", lambda x: ~x)
form("logical not", "x: a b", torch.logical_not)
form("isnan", "f: a b", lambda x: torch.isnan(torch.sqrt(x)))
form("isinf", "f: a b", lambda x: torch.isinf(1 / torch.floor(x)))
form("isfinite", "f: a b", lambda x: torch.isfinite(torch.sqrt(x)))
form("where", "t: a b, f: a b, f: b", torch.where)
form("where number", "t: a b, f: a b", lambda c, x: torch.where(c, x, -1.0))
form("where number first", "t: a b, f: a b", lambda c, x: torch.where(c, 0.0, x))
form("where numbers", "t: a b", lambda c: torch.where(c, 0.0, -1.0))
form("where indices", "t: a b, i5: b", lambda c, x: torch.where(c, x, 7))
form("masked fill", "f: a b, t: b", lambda x, c: x.masked_fill(c, -10.0))
form("masked fill array", "f: a b, t: b, f:", lambda x, c, y: x.masked_fill(c, y))
form("masked fill wide", "f: 1 b, t: a b", lambda x, c: x.expand(c.shape).masked_fill(c, 0))
form("to long", "x: a b", lambda x: (x * 5).long())
form("to float", "i5: a b", lambda x: x.float())
form("to bool", "i3: a b", lambda x: x.bool())
form("type as", "i5: a b, x: a b", lambda x, y: x.type_as(y))
form("double", "f: a b", lambda x: x.double().float())
form("sum of truths", "x: a b", lambda x: (x > 0).sum(-1))
form("rounded to digits", "f: a b", lambda x: torch.round(x, decimals=2))

# In place ------------------------------------------------------------------------------------------------------------------------


def _seen_after_a_change(x: Any) -> Any:
    y = x + 1
    view = y[:, 0]
    y.mul_(2)
    return view


def _of_chunks(x: Any) -> Any:
    q, k, v = x.chunk(3, dim=-1)
    return q * k + v


def _parts(x: Any, y: Any) -> Any:
    z = torch.complex(x, y) * 2
    return z.real * z.imag


def in_place(change: Callable[..., Any]) -> Callable[..., Any]:
    """Apply a change to a new array that equals the first one plus 1."""

    def changed(x: Any, *others: Any) -> Any:
        y = x + 1
        change(y, *others)
        return y

    return changed


for _name in ("relu_", "sigmoid_", "tanh_", "exp_", "neg_", "sin_", "floor_"):
    form(_name, "f: a b", in_place(lambda x, name=_name: getattr(x, name)()))
form("add_", "f: a b, f: b", in_place(lambda x, y: x.add_(y)))
form("add_ alpha", "f: a b, f: b", in_place(lambda x, y: x.add_(y, alpha=2)))
form("mul_", "f: a b, f: b", in_place(lambda x, y: x.mul_(y)))
form("div_", "f: a b, p: b", in_place(lambda x, y: x.div_(y)))
form("clamp_", "f: a b", in_place(lambda x: x.clamp_(0, 1)))
form("clamp_ min", "f: a b", in_place(lambda x: x.clamp_(min=0.5)))
form("masked scatter", "f: a b, t: a b, f: a b", lambda x, c, y: x.masked_scatter(c, y))
form("masked scatter wide", "f: a b, t: a 1, f: a b", lambda x, c, y: x.masked_scatter(c.expand(x.shape), y))
form("masked_fill_", "f: a b, t: b", in_place(lambda x, c: x.masked_fill_(c, 0.0)))
form("fill_", "f: a b", in_place(lambda x: x.fill_(2.0)))
form("zero_", "f: a b", in_place(lambda x: x.zero_()))
form("leaky_relu_", "f: a b", in_place(lambda x: functional.leaky_relu_(x, 0.2)))
form("elu_", "f: a b", in_place(functional.elu_))
form("hardtanh_", "f: a b", in_place(functional.hardtanh_))
form("silu in place", "f: a b", in_place(lambda x: functional.silu(x, inplace=True)))
form("hardswish in place", "f: a b", in_place(lambda x: functional.hardswish(x, inplace=True)))
form("threshold in place", "f: a b", in_place(lambda x: functional.threshold(x, 0.1, 0.0, inplace=True)))
form("addcmul_", "f: a b, f: a b, f: b", in_place(lambda x, y, z: x.addcmul_(y, z, value=2)))
form("copy_", "f: a b, f: b", in_place(lambda x, y: x.copy_(y)))
form("pow_", "f: a b", in_place(lambda x: x.pow_(2)))
form("square_", "f: a b", in_place(lambda x: x.square_()))
form("set a slice", "f: a+1 b+1, f: b+1", in_place(lambda x, y: x.__setitem__(0, y)))
form("set a range", "f: a b+3", in_place(lambda x: x.__setitem__((slice(None), slice(1, 3)), 0.0)))
form("set every other", "f: a 2*b", in_place(lambda x: x.__setitem__((slice(None), slice(0, None, 2)), 0.0)))
form("set every other array", "f: a 2*b, f: a b", in_place(lambda x, y: x.__setitem__((slice(None), slice(1, None, 2)), y)))
form("set the last", "f: a b+1, f: a", in_place(lambda x, y: x.__setitem__((..., -1), y)))
form("set under a mask", "f: a b, t: a b", in_place(lambda x, c: x.__setitem__(c, 0.0)))
form("set rows under a mask", "f: a b, t: a", in_place(lambda x, c: x.__setitem__(c, 0.0)))
form("set at indices", "f: a+1 b, i2: 2", in_place(lambda x, i: x.__setitem__(i % x.shape[0], 5.0)))
form("add to a slice", "f: a b+3, f: a 2", in_place(lambda x, y: x[:, 1:3].add_(y)))
form("multiply a view", "f: a b c", in_place(lambda x: x.transpose(1, 2)[:, 0].mul_(2)))
form("change a split", "x: a 2*b", in_place(lambda x: x.chunk(2, dim=1)[1].mul_(3)))
form("change an unbound", "x: 2 b", in_place(lambda x: x.unbind(0)[1].add_(3)))
form("change a flat view", "f: a b c", in_place(lambda x: x.view(-1)[1:].zero_() if x.numel() > 1 else x))
form("change through two views", "f: a+1 b+1 c", in_place(lambda x: x[0].t()[:, 0].fill_(1.0)))
form("a view seen after a change", "f: a b+1", _seen_after_a_change)
form("index_fill", "f: a b", lambda x: x.index_fill(1, torch.tensor([0]), 2.0))
form("index_copy", "f: a b, f: a 1", lambda x, y: x.index_copy(1, torch.tensor([0]), y))

# Reductions ----------------------------------------------------------------------------------------------------------------------

for _name in ("sum", "mean", "amax", "amin", "logsumexp"):
    form(f"{_name} over one", "f: a b c", lambda x, name=_name: getattr(torch, name)(x, 1))
    form(f"{_name} over two", "f: a b c", lambda x, name=_name: getattr(torch, name)(x, (0, -1), keepdim=True))
form("sum", "f: a b c", lambda x: x.sum())
form("mean", "f: a b c", lambda x: x.mean())
form("sum of indices", "i5: a b", lambda x: x.sum(0))
form("sum in float", "i5: a b", lambda x: x.sum(0, dtype=torch.float32))
form("mean in float", "i5: a b", lambda x: x.float().mean(0))
form("mean dtype", "i5: a b", lambda x: x.mean(0, dtype=torch.float32))
form("max", "f: a b", lambda x: x.max())
form("min", "f: a b", lambda x: x.min())
form("max over one", "f: a b c", lambda x: tuple(x.max(1)))
form("min over one", "f: a b c", lambda x: tuple(x.min(-1, keepdim=True)))
form("max values", "f: a b c", lambda x: x.max(dim=-1)[0])
form("max of indices", "i9: a b", lambda x: tuple(x.max(1)))
form("aminmax", "f: a b", lambda x: tuple(torch.aminmax(x, dim=1)))
form("prod", "f: a b", lambda x: x.prod(1))
form("prod of all", "f: a b", lambda x: x.prod())
form("any", "x: a b", lambda x: (x > 0).any(1))
form("any of all", "t: a b", lambda x: x.any())
form("all", "t: a b", lambda x: x.all(1, keepdim=True))
form("all of numbers", "i2: a b", lambda x: x.all(1))
form("var", "f: a+1 b+1", lambda x: x.var())
form("var over one", "f: a b+1", lambda x: x.var(1))
form("var biased", "f: a b c", lambda x: x.var((1, 2), unbiased=False, keepdim=True))
form("var correction", "f: a b+3", lambda x: torch.var(x, -1, correction=2))
form("std", "f: a b+1 c", lambda x: x.std(1, keepdim=True))
form("std of all", "f: a+1 b+1", lambda x: x.std())
form("std biased", "f: a b+1", lambda x: x.std(-1, unbiased=False))
form("var_mean", "f: a b+1", lambda x: tuple(torch.var_mean(x, 1, keepdim=True)))
form("std_mean", "f: a b+1", lambda x: tuple(torch.std_mean(x, 1, unbiased=False)))
form("norm", "f: a b", lambda x: x.norm())
form("norm over one", "f: a b c", lambda x: x.norm(dim=-1, keepdim=True))
form("norm 1", "f: a b", lambda x: torch.norm(x, p=1, dim=-1))
form("norm 3", "f: a b", lambda x: torch.linalg.vector_norm(x, 3, dim=-1))
form("norm inf", "f: a b", lambda x: torch.linalg.vector_norm(x, float("inf"), dim=-1))
form("frobenius", "f: a b c", lambda x: torch.linalg.norm(x, dim=(1, 2)))
form("normalize", "f: a b", lambda x: functional.normalize(x, dim=-1))
form("normalize p", "f: a b", lambda x: functional.normalize(x, p=1, dim=0))
form("cosine similarity", "f: a b, f: a b", lambda x, y: functional.cosine_similarity(x, y, dim=-1))
form("pairwise distance", "f: a b, f: a b", functional.pairwise_distance)
form("cdist", "f: a b d, f: a c d", lambda x, y: torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist"))
# Its backward pass computes both gradients, also if only one is wanted.
form("cdist by a product", "w: a b+26 d, w: a c d", torch.cdist)
form("softmax", "f: a b c", lambda x: x.softmax(-1))
form("softmax axis", "f: a b c", lambda x: x.softmax(1))
form("softmax float", "f: a b c", lambda x: functional.softmax(x, dim=-1, dtype=torch.float32))
form("log softmax", "f: a b c", lambda x: x.log_softmax(1))
form("cumsum", "f: a b c", lambda x: x.cumsum(1))
form("cumsum of truths", "t: a b", lambda x: x.cumsum(1))
form("cumsum reversed", "f: a b", lambda x: x.flip(1).cumsum(1).flip(1))
form("cumprod", "p: a b", lambda x: x.cumprod(1))
form("topk", "f: a b+2", lambda x: tuple(x.topk(2)))
form("topk axis", "f: b+2 a", lambda x: tuple(x.topk(2, dim=0)))
form("topk smallest", "f: a b+2", lambda x: tuple(x.topk(2, largest=False)))
form("sort", "f: a b", lambda x: tuple(x.sort(-1)))
form("sort descending", "f: a b", lambda x: tuple(x.sort(0, descending=True)))
form("argsort", "f: a b", lambda x: x.argsort(-1))
form("argmax", "f: a b c", lambda x: x.argmax(1))
form("argmax of all", "f: a b", lambda x: x.argmax())
form("argmax keep", "f: a b", lambda x: x.argmax(-1, keepdim=True))
form("argmin", "f: a b", lambda x: x.argmin(-1))
form("median", "f: a b", lambda x: tuple(x.median(-1)))
form("kthvalue", "f: a b+2", lambda x: tuple(x.kthvalue(2, -1)))
form("diff", "f: a b+1", lambda x: x.diff(dim=1))

# Normalisation -------------------------------------------------------------------------------------------------------------------

form("layer norm", "f: a b c+1", lambda x: functional.layer_norm(x, x.shape[-1:]))
form("layer norm affine", "f: a b+1 c+1, w: b+1 c+1, w: b+1 c+1", lambda x, w, b: functional.layer_norm(x, w.shape, w, b, 1e-3))
form("layer norm scale", "f: a b c+1, f: c+1", lambda x, w: functional.layer_norm(x, w.shape, w))
form("rms norm", "f: a b c+1, f: c+1", lambda x, w: functional.rms_norm(x, w.shape, w, 1e-6))
form("rms norm bare", "f: a b c+1", lambda x: functional.rms_norm(x, x.shape[-1:]))
form("rms norm by hand", "f: a b c+1, f: c+1", lambda x, w: w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)))
form("group norm", "f: a 2*b c+1, f: 2*b, f: 2*b", lambda x, w, b: functional.group_norm(x, 2, w, b))
form("group norm bare", "f: a 2*b c+1 d", lambda x: functional.group_norm(x, 2))
form("batch norm", "f: a b c d, w: b, v: b, w: b, w: b", lambda x, m, v, w, b: functional.batch_norm(x, m.detach(), v.detach(), w, b))
form("batch norm bare", "f: a b, w: b, v: b", lambda x, m, v: functional.batch_norm(x, m.detach(), v.detach()))
form("batch norm of the batch", "f: a+1 b c+1", lambda x: functional.batch_norm(x, None, None, training=True))
form("instance norm", "f: a b c+1, f: b, f: b", lambda x, w, b: functional.instance_norm(x, weight=w, bias=b))
form("local response norm", "f: a b c d", lambda x: functional.local_response_norm(x, 3))

# Products ------------------------------------------------------------------------------------------------------------------------

form("linear", "f: a b c, f: d c, f: d", functional.linear)
form("linear of a vector", "f: c, f: d c", functional.linear)
form("linear to a number", "f: a c, f: c", functional.linear, counted="forward")
for _name, _arrays in {
    "vectors": "f: a, f: a",
    "matrix and vector": "f: a b, f: b",
    "vector and matrix": "f: b, f: b a",
    "matrices": "f: a b, f: b c",
    "stacks": "f: d a b, f: d b c",
    "stack and matrix": "f: d a b, f: b c",
    "matrix and stack": "f: a b, f: d b c",
    "stack and vector": "f: d a b, f: b",
    "vector and stack": "f: b, f: d b a",
    "stretched stacks": "f: d 1 a b, f: e b c",
    "four axes": "f: d e a b, f: d e b c",
}.items():
    form(f"matmul of {_name}", _arrays, torch.matmul, counted="forward" if "vector" in _name else "both")
form("mm", "f: a b, f: b c", torch.mm)
form("bmm", "f: d a b, f: d b c", torch.bmm)
form("mv", "f: a b, f: b", torch.mv, counted="forward")
form("dot", "f: a, f: a", torch.dot, counted="forward")
form("outer", "f: a, f: b", torch.outer)
form("inner", "f: a b, f: c b", torch.inner, counted="forward")
form("addmm", "f: c, f: a b, f: b c", torch.addmm)
form("addmm beta", "f: a c, f: a b, f: b c", lambda x, y, z: torch.addmm(x, y, z, beta=0.5, alpha=2))
form("addmv", "f: a, f: a b, f: b", torch.addmv, counted="forward")
form("addbmm", "f: a c, f: d a b, f: d b c", torch.addbmm, counted="forward")
form("baddbmm", "f: d a c, f: d a b, f: d b c", torch.baddbmm)
form("baddbmm beta 0", "f: d a c, f: d a b, f: d b c", lambda x, y, z: torch.baddbmm(x, y, z, beta=0, alpha=0.5))
form("product with transposed", "f: a b c, f: a d c", lambda x, y: x @ y.transpose(1, 2))
form("tensordot", "f: a b c, f: c b d", lambda x, y: torch.tensordot(x, y, dims=([1, 2], [1, 0])), counted="forward")
form("kron", "f: a b, f: c d", torch.kron)
for _name, _more in {"lower": {"upper": False}, "upper": {"upper": True}, "ones": {"upper": False, "unitriangular": True}}.items():
    form(
        f"solve {_name}",
        "f: a b b, f: a b c",
        lambda x, y, more=_more: torch.linalg.solve_triangular(x + 4 * torch.eye(x.shape[-1], device=x.device), y, **more),
    )
form(
    "solve from the right",
    "f: b b, f: c b",
    lambda x, y: torch.linalg.solve_triangular(x + 4 * torch.eye(x.shape[-1], device=x.device), y, upper=True, left=False),
)
form("cross", "f: a 3, f: a 3", torch.linalg.cross)
form("bilinear", "f: a b, f: a c, f: d b c, f: d", functional.bilinear, counted="nothing")
form("chain of matrices", "f: a b, f: b c, f: c d", lambda x, y, z: torch.linalg.multi_dot([x, y, z]))
form("matrix power", "f: a a", lambda x: torch.linalg.matrix_power(x, 3))
for _equation, _arrays in {
    "ij,jk->ik": "f: a b, f: b c",
    "bij,bjk->bik": "f: d a b, f: d b c",
    "bhid,bhjd->bhij": "f: e d a b, f: e d c b",
    "bsd,edh->bseh": "f: a b c, f: d c e",
    "i,j->ij": "f: a, f: b",
    "ij,ij->": "f: a b, f: a b",
    "ij,ij->ij": "f: a b, f: a b",
    "ij,j->ij": "f: a b, f: b",
    "ij->ji": "f: a b",
    "ij->i": "f: a b",
    "ij->": "f: a b",
    "bij,bjk": "f: d a b, f: d b c",
    "...ij,...jk->...ik": "f: e d a b, f: e d b c",
    "...d,hd->...h": "f: a b c, f: d c",
    "b...d,de->b...e": "f: a b c, f: c d",
    "nctkv,kvw->nctw": "f: a b c d e, f: d e a",
    "bij,bj->b": "f: a b c, f: a c",
    "bkhv,bkh->bhv": "f: a b c d, f: a b c",
    "ij,jk,kl->il": "f: a b, f: b c, f: c d",
    "bseh,ehd,bse->bsd": "f: a b c d, f: c d e, f: a b c",
    "ii->i": "f: a a",
    "ii->": "f: a a",
    "bii->bi": "f: b a a",
    "ij,kl->ijkl": "f: a b, f: c d",
    "ab,cb->": "f: a b, f: c b",
}.items():
    form(
        f"einsum {_equation}",
        _arrays,
        lambda *given, equation=_equation: torch.einsum(equation, *given),
        counted="forward" if _equation.endswith(",ij->") else "both",
    )
form("trace", "f: a a", torch.trace)

# Attention -----------------------------------------------------------------------------------------------------------------------

_attend = functional.scaled_dot_product_attention
_QKV = "f: b h s d, f: b h t d, f: b h t d"
form("attention", _QKV, _attend)
form("attention causal", "f: b h s d, f: b h s d, f: b h s d", lambda q, k, v: _attend(q, k, v, is_causal=True))
form("attention scale", _QKV, lambda q, k, v: _attend(q, k, v, scale=0.3))
form("attention mask", f"{_QKV}, x: s t", lambda q, k, v, m: _attend(q, k, v, attn_mask=m))
form("attention mask of keys", f"{_QKV}, x: b 1 1 t", lambda q, k, v, m: _attend(q, k, v, attn_mask=m * 2))
form("attention mask of heads", f"{_QKV}, x: 1 h s 1", lambda q, k, v, m: _attend(q, k, v, attn_mask=m * 2))
form("attention bias", f"{_QKV}, f: 1 h s t", lambda q, k, v, m: _attend(q, k, v, attn_mask=m), kept=False)
form("attention by queries", f"{_QKV}, t: s t", lambda q, k, v, m: _attend(q, k, v, attn_mask=m | (torch.arange(m.shape[-1]) == 0)))
form("attention Booleans", f"{_QKV}, t: b 1 1 t", lambda q, k, v, m: _attend(q, k, v, attn_mask=m | (torch.arange(m.shape[-1]) == 0)))
form("attention wide values", "f: b h s d, f: b h t d, f: b h t e", _attend, kept=False)
form("attention of three axes", "f: h s d, f: h t d, f: h t d", _attend, kept=False)
form("attention of two axes", "f: s d, f: t d, f: t d", _attend, kept=False)
form("attention of five axes", "f: a b h s d, f: a b h t d, f: a b h t d", _attend, kept=False)
form("attention grouped", "f: b 2*h s d, f: b h t d, f: b h t d", lambda q, k, v: _attend(q, k, v, enable_gqa=True), kept=False)
form("attention one key head", "f: b h s d, f: b 1 t d, f: b 1 t d", lambda q, k, v: _attend(q, k, v, enable_gqa=True), kept=False)

# Shapes --------------------------------------------------------------------------------------------------------------------------

form("view", "f: a b c", lambda x: x.view(x.shape[0], -1) * 2)
form("view splits", "f: a 3*b", lambda x: x.view(x.shape[0], 3, -1) * x.shape[0])
form("view merges and splits", "f: 2*a 3 b", lambda x: x.view(-1, 6, x.shape[2]) + 1)
form("reshape after a move", "f: a b c", lambda x: x.transpose(0, 2).reshape(x.shape[2], -1) * 2)
form("view with ones", "f: a 1 b", lambda x: x.view(1, x.shape[0], x.shape[2], 1))
form("flatten", "f: a b c d", lambda x: x.flatten(1, 2))
form("flatten all", "f: a b", lambda x: x.flatten())
form("unflatten", "f: a 2*b", lambda x: x.unflatten(1, (2, -1)))
form("squeeze", "f: a 1 b", lambda x: x.squeeze())
form("squeeze one", "f: a 1 b 1", lambda x: x.squeeze(1))
form("squeeze two", "f: a 1 b 1", lambda x: x.squeeze((1, 3)))
form("squeeze nothing", "f: a b+1", lambda x: x.squeeze(1))
form("unsqueeze", "f: a b", lambda x: x.unsqueeze(-1) * x.unsqueeze(0).transpose(0, 1))
form("none index", "f: a b", lambda x: x[:, None, :, None])
form("t", "f: a b", lambda x: x.t())
form("mT", "f: a b c", lambda x: x.mT)
form("T", "f: a b", lambda x: x.T)
form("transpose", "f: a b c", lambda x: x.transpose(-1, 0))
form("swapaxes", "f: a b c", lambda x: x.swapaxes(0, 1))
form("permute", "f: a b c d", lambda x: x.permute(0, -1, 1, 2))
form("movedim", "f: a b c d", lambda x: x.movedim(1, -1))
form("expand", "f: a 1 c", lambda x: x.expand(-1, 3, -1) * 2)
form("expand leading", "f: a", lambda x: x.expand(2, 3, -1))
form("expand_as", "f: 1 b, x: a b", lambda x, y: x.expand_as(y))
form("broadcast_to", "f: b", lambda x: torch.broadcast_to(x, (2, *x.shape)))
form("broadcast_tensors", "f: a 1, f: b", lambda x, y: tuple(torch.broadcast_tensors(x, y)))
form("contiguous", "f: a b", lambda x: x.t().contiguous() * 2)
form("clone", "f: a b", lambda x: x.clone())
form("slice", "f: a b+3", lambda x: x[:, 1:3])
form("slice from the end", "f: a b+3", lambda x: x[:, -2:])
form("slice but the last", "f: a b+3", lambda x: x[..., :-1])
form("slice steps", "f: a 2*b+1", lambda x: x[:, ::2])
form("slice odd", "f: a 2*b+1", lambda x: x[:, 1::2])
form("slice too far", "f: a b", lambda x: x[:, :100])
form("narrow", "f: a b+3", lambda x: x.narrow(1, 1, 2))
form("select", "f: a b+1 c", lambda x: x[:, 0] * x[:, -1])
form("split", "f: a 2*b+1", lambda x: tuple(x.split(2, dim=1)))
form("split with sizes", "f: a b+3", lambda x: tuple(x.split([1, 2, x.shape[1] - 3], dim=-1)))
form("chunk", "f: a 3*b", _of_chunks)
form("chunk unequal", "f: a 3*b+1", lambda x: tuple(x.chunk(2, dim=-1)))
form("tensor_split", "f: a b+4", lambda x: tuple(x.tensor_split(3, dim=1)))
form("unbind", "f: a 3 b", lambda x: tuple(x.unbind(1)))
form("cat", "f: a b, f: a c", lambda x, y: torch.cat([x, y], dim=-1))
form("cat itself", "f: a b", lambda x: torch.cat([x, x], dim=0))
form("cat empty", "f: a b", lambda x: torch.cat([x.new_empty(0), x], dim=1))
form("cat kinds", "f: a b, i5: a c", lambda x, y: torch.cat([x, y], dim=1))
form("stack", "f: a b, f: a b", lambda x, y: torch.stack([x, y], dim=1))
form("stack last", "f: a b, f: a b", lambda x, y: torch.stack([x, y], dim=-1))
form("stack and flatten", "f: a b, f: a b", lambda x, y: torch.stack((-x, y), dim=-1).flatten(-2))
form("hstack", "f: a b, f: a c", lambda x, y: torch.hstack([x, y]))
form("vstack", "f: b, f: b", lambda x, y: torch.vstack([x, y]))
form("repeat", "f: a b", lambda x: x.repeat(2, 3))
form("repeat leading", "f: a b", lambda x: x.repeat(2, 1, 3))
form("repeat once", "f: a b", lambda x: x.repeat(1, 1))
form("tile", "f: a b", lambda x: torch.tile(x, (2,)))
form("repeat_interleave", "f: a b c", lambda x: x.repeat_interleave(3, dim=1))
form("einsum then a view", "f: a b c, f: d b c", lambda x, y: torch.einsum("abi,cbi->acb", x, y)[:, :, :1].flatten().sin())
form("repeat of one entry", "f: a b", lambda x: x[:, None].repeat(2, 3, 1).sin())
form("repeat leading once", "f: a b", lambda x: x.repeat(3, 1, 1).sin())
form("repeat_interleave of one entry", "f: a b", lambda x: x[:, None].repeat_interleave(3, 1).sin())
form("repeat_interleave flat", "f: a b", lambda x: x.repeat_interleave(2))
form("roll", "f: a b c", lambda x: x.roll(1, 1))
form("roll two", "f: a b c", lambda x: torch.roll(x, (-1, 2), dims=(1, 2)))
form("roll flat", "f: a b", lambda x: torch.roll(x, 1))
form("flip", "f: a b c", lambda x: x.flip((1, 2)))
form("fliplr", "f: a b", lambda x: x.fliplr())
form("rot90", "f: a b c", lambda x: torch.rot90(x, 1, (1, 2)))
form("diagonal", "f: a b b", lambda x: x.diagonal(dim1=1, dim2=2))
form("diag_embed", "f: a b", torch.diag_embed)
form("diag", "f: a", torch.diag)
form("tril", "f: a b b+1", lambda x: x.tril())
form("triu", "f: a b b", lambda x: torch.triu(x, diagonal=1))
form("tril of ones", "f: b b", lambda x: x * torch.tril(torch.ones(x.shape)))
form("tril indices", "f: 3 3", lambda x: x[tuple(torch.tril_indices(3, 3))])
form("unfold a tensor", "f: a b+4", lambda x: x.unfold(1, 3, 2))
form("unfold images", "f: a b c+3 d+3", lambda x: functional.unfold(x, 2, padding=1))
form("unfold images dilated", "f: a b c+4 d+4", lambda x: functional.unfold(x, (2, 3), dilation=(2, 1), stride=(1, 2)))
form("fold", "f: a 4*b 9", lambda x: functional.fold(x, (4, 4), 2))
form("fold with padding", "f: a 4*b 9", lambda x: functional.fold(x, (4, 4), 2, stride=2, padding=1))
form("pixel shuffle", "f: a 4*b c d", lambda x: functional.pixel_shuffle(x, 2))
form("pixel unshuffle", "f: a b 2*c 2*d", lambda x: functional.pixel_unshuffle(x, 2))
form("channel shuffle", "f: a 2*b c d", lambda x: functional.channel_shuffle(x, 2))
form("atleast_2d", "f: a", torch.atleast_2d)
form("detach", "f: a b", lambda x: x.detach() * x)
form("no grad", "f: a b", lambda x: (torch.no_grad()(torch.exp)(x)) * x)
form("straight through", "f: a b", lambda x: x + (x.round() - x).detach())

# Padding -------------------------------------------------------------------------------------------------------------------------

form("pad", "f: a b c+1", lambda x: functional.pad(x, (1, 2)))
form("pad two axes", "f: a b c d", lambda x: functional.pad(x, (1, 2, 0, 1), value=3.0))
form("pad negative", "f: a b+3", lambda x: functional.pad(x, (-1, 1)))
form("pad first axis", "f: a b", lambda x: functional.pad(x, (0, 0, 1, 0)))
form("pad nothing", "f: a b", lambda x: functional.pad(x, (0, 0)))
form("pad indices", "i5: a b", lambda x: functional.pad(x, (1, 0), value=-100))
form("pad Booleans", "t: a b", lambda x: functional.pad(x, (1, 0), value=True))
form("pad reflect", "f: a b c+3", lambda x: functional.pad(x, (1, 2), mode="reflect"))
form("pad reflect 2d", "f: a b c+3 d+3", lambda x: functional.pad(x, (1, 2, 2, 0), mode="reflect"))
form("pad replicate", "f: a b c+3 d+3", lambda x: functional.pad(x, (1, 2, 2, 0), mode="replicate"))
form("pad circular", "f: a b c+3 d+3", lambda x: functional.pad(x, (1, 2, 2, 0), mode="circular"))

# Windows -------------------------------------------------------------------------------------------------------------------------

form("conv1d", "f: a b c+4, f: d b 3, f: d", lambda x, w, b: functional.conv1d(x, w, b, stride=2, padding=1))
form("conv1d without a batch", "f: b c+4, f: d b 3", functional.conv1d)
form("conv1d same", "f: a b c+4, f: d b 3", lambda x, w: functional.conv1d(x, w, padding="same"))
form("conv1d same even", "f: a b c+4, f: d b 2", lambda x, w: functional.conv1d(x, w, padding="same", dilation=1))
form("conv1d causal", "f: a b c, f: b 1 4", lambda x, w: functional.conv1d(x, w, padding=3, groups=x.shape[1])[..., : x.shape[2]])
form("conv2d", "f: a b c+4 d+4, f: e b 3 2, f: e", lambda x, w, b: functional.conv2d(x, w, b, stride=(2, 1), padding=(1, 0)))
form("conv2d grouped", "f: a 2*b c+4 d+4, f: 2*e b 3 3", lambda x, w: functional.conv2d(x, w, groups=2))
form("conv2d depthwise", "f: a b c+4 d+4, f: b 1 3 3", lambda x, w: functional.conv2d(x, w, padding=1, groups=x.shape[1]))
form("conv2d dilated", "f: a b c+4 d+4, f: e b 2 2", lambda x, w: functional.conv2d(x, w, dilation=(2, 3)))
form("conv3d", "f: a b c+3 d+3 e+3, f: d b 2 3 2", lambda x, w: functional.conv3d(x, w, stride=(1, 2, 1)))
form("conv transpose 1d", "f: a b c, f: b d 3, f: d", lambda x, w, b: functional.conv_transpose1d(x, w, b, stride=2, output_padding=1))
form("conv transpose 2d", "f: a b c d, f: b e 3 2", lambda x, w: functional.conv_transpose2d(x, w, stride=(2, 1), padding=(1, 0)))
form("conv transpose grouped", "f: a 2*b c d, f: 2*b e 2 2", lambda x, w: functional.conv_transpose2d(x, w, groups=2, dilation=2))
form("conv transpose 3d", "f: a b c d e, f: b d 2 2 1", lambda x, w: functional.conv_transpose3d(x, w, stride=2))
form("max pool 1d", "f: a b c+4", lambda x: functional.max_pool1d(x, 2))
form("max pool 2d", "f: a b c+4 d+4", lambda x: functional.max_pool2d(x, 3, 2, 1))
form("max pool ceil", "f: a b c+4 d+4", lambda x: functional.max_pool2d(x, 2, 2, ceil_mode=True))
form("max pool dilated", "f: a b c+4 d+4", lambda x: functional.max_pool2d(x, 2, 1, dilation=2))
form("max pool indices", "f: a b c+4 d+4", lambda x: functional.max_pool2d(x, 2, return_indices=True))
form("max pool 3d", "f: a b c+2 d+2 e+2", lambda x: functional.max_pool3d(x, 2))
form("max unpool", "f: a b 2*c 2*d", lambda x: functional.max_unpool2d(*functional.max_pool2d(x, 2, return_indices=True), 2))
form("avg pool 1d", "f: a b c+4", lambda x: functional.avg_pool1d(x, 3, 1, 1))
form("avg pool 2d", "f: a b c+4 d+4", lambda x: functional.avg_pool2d(x, (2, 3)))
form("avg pool inside", "f: a b c+4 d+4", lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False))
form("avg pool ceil", "f: a b c+4 d+4", lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True))
form("avg pool divisor", "f: a b c+4 d+4", lambda x: functional.avg_pool2d(x, 2, divisor_override=3))
form("avg pool 3d", "f: a b c+2 d+2 e+2", lambda x: functional.avg_pool3d(x, 2))
form("lp pool", "p: a b c+4 d+4", lambda x: functional.lp_pool2d(x, 2, 2))
form("adaptive avg pool", "f: a b c+3 d+3", lambda x: functional.adaptive_avg_pool2d(x, (2, 3)))
form("adaptive avg pool 1", "f: a b c d", lambda x: functional.adaptive_avg_pool2d(x, 1))
form("adaptive avg pool none", "f: a b c+3 d+3", lambda x: functional.adaptive_avg_pool2d(x, (None, 2)))
form("adaptive avg pool 1d", "f: a b c+3", lambda x: functional.adaptive_avg_pool1d(x, 2))
form("adaptive avg pool 3d", "f: a b c+3 d+3 e", lambda x: functional.adaptive_avg_pool3d(x, (2, 2, 1)))
form("adaptive max pool", "f: a b c+3 d+3", lambda x: functional.adaptive_max_pool2d(x, 2))
form("adaptive max pool 1d", "f: a b c+3", lambda x: functional.adaptive_max_pool1d(x, 2))
for _mode, _axes, _smooth in (
    ("nearest", "c", False),
    ("nearest-exact", "c", False),
    ("linear", "c", True),
    ("nearest", "c d", False),
    ("nearest-exact", "c d", False),
    ("bilinear", "c d", True),
    ("bicubic", "c d", True),
    ("nearest", "c d e", False),
    ("nearest-exact", "c d e", False),
    ("trilinear", "c d e", True),
):
    _rank = len(_axes.split())
    for _corners in (False, True) if _smooth else (None,):
        _words = f"{_mode} {_rank}d{' aligned' if _corners else ''}"
        _options = {"mode": _mode, "align_corners": _corners}
        form(f"{_words} twice", f"f: a b {_axes}", lambda x, o=_options: functional.interpolate(x, scale_factor=2, **o))
        form(f"{_words} size", f"f: a b {_axes}", lambda x, o=_options: functional.interpolate(x, size=(5,) * (x.dim() - 2), **o))
form("nearest by 1.5", "f: a b c+2 d+2", lambda x: functional.interpolate(x, scale_factor=1.5))
form("bilinear by 0.7", "f: a b c+3 d+3", lambda x: functional.interpolate(x, scale_factor=0.7, mode="bilinear"))
form(
    "bilinear recomputed",
    "f: a b c+3 d+3",
    lambda x: functional.interpolate(x, scale_factor=0.7, mode="bilinear", recompute_scale_factor=True),
)
form("area", "f: a b c+3 d+3", lambda x: functional.interpolate(x, size=(2, 2), mode="area"))
form("grid sample", "f: a b c+1 d+1, x: a 3 2 2", lambda x, g: functional.grid_sample(x, g.tanh(), align_corners=False), kept=False)

# Rows and entries ----------------------------------------------------------------------------------------------------------------

form("embedding", "f: 7 c, i7: a b", lambda w, i: functional.embedding(i, w))
form("embedding padding", "f: 7 c, i7: a b", lambda w, i: functional.embedding(i, w, padding_idx=0))
form("bags of means", "f: 7 c, i7: a b", lambda w, i: functional.embedding_bag(i, w, mode="mean"))
form("bags of sums", "f: 7 c, i7: a+3", lambda w, i: functional.embedding_bag(i, w, torch.tensor([0, 2]), mode="sum"))
form("bags of maxima", "f: 7 c, i7: a+3", lambda w, i: functional.embedding_bag(i, w, torch.tensor([0, 1]), mode="max"))
form("index rows", "f: 7 c, i7: a b", lambda x, i: x[i])
form("index second axis", "f: a 7 c, i7: b", lambda x, i: x[:, i])
form("index last axis", "f: a b 7, i7: c d", lambda x, i: x[..., i])
form("index two axes", "f: 5 6 c, i5: a b, i6: a b", lambda x, i, j: x[i, j])
form("index stretched", "f: 5 6 c, i5: a 1, i6: b", lambda x, i, j: x[i, j])
form("index inner axes", "f: a 5 6 c, i5: b, i6: b", lambda x, i, j: x[:, i, j])
form("index apart", "f: 5 a 6, i5: b, i6: b", lambda x, i, j: x[i, :, j])
form("index each", "f: a 5 c, i5: a", lambda x, i: x[torch.arange(x.shape[0]), i])
form("index by list", "f: a b+2", lambda x: x[:, [0, 1]])
form("index negative", "f: a b+2", lambda x: x[:, [0, -1]])
form("index by an array of 0", "f: 7 c, i7: 1", lambda x, i: x[i[0]])
form("index_select", "f: a 7 c, i7: b", lambda x, i: x.index_select(1, i))
form("index of indices", "i9: 7, i7: a b", lambda x, i: x[i])
form("gather", "f: a b 5, i5: a b c", lambda x, i: x.gather(-1, i))
form("gather axis", "f: a 5 b, i5: a c b", lambda x, i: x.gather(1, i))
form("gather fewer", "f: a+1 5, i5: a 2", lambda x, i: x.gather(1, i))
form("gather of indices", "i9: a 5, i5: a 2", lambda x, i: x.gather(1, i))
form("take_along_dim", "f: a 5, i5: a 2", lambda x, i: torch.take_along_dim(x, i, dim=1))
form("take", "f: a 5, i5: b", torch.take)
form("scatter", "f: a 5, i1: a 1, f: a 1", lambda x, i, y: x.scatter(1, i, y))
form("scatter number", "i5: a 2", lambda i: torch.zeros(i.shape[0], 5).scatter(1, i, 1.0))
form("scatter_", "f: a 2, i5: a 2", lambda x, i: torch.zeros(i.shape[0], 5).scatter_(-1, i, 1.0).sum(0) + x.sum())
form("scatter_add", "f: 5 b, i5: a b, f: a b", lambda x, i, y: x.scatter_add(0, i, y))
form("scatter_reduce", "f: 5 b, i5: a b, f: a b", lambda x, i, y: x.scatter_reduce(0, i, y, "amax"), kept=False)
form("index_add", "f: 5 b, i5: a, f: a b", lambda x, i, y: x.index_add(0, i, y))
form("index_add alpha", "f: a 5, i5: b, f: a b", lambda x, i, y: x.index_add(1, i, y, alpha=2))
form("index_put", "f: 5 b, i5: 1, f: 1 b", lambda x, i, y: x.index_put((i,), y))
form("index_put accumulate", "f: 5 b, i5: a, f: a b", lambda x, i, y: x.index_put((i,), y, accumulate=True))
form("one_hot", "i5: a b", lambda i: functional.one_hot(i, 5))
form("one_hot float", "i5: a b, f: 5 c", lambda i, w: functional.one_hot(i, 5).float() @ w)
form("bucketize", "x: a b", lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])))
form("searchsorted", "x: a b", lambda x: torch.searchsorted(torch.tensor([-1.0, 0.0, 1.0]), x, right=True))
form("meshgrid", "f: a, f: b", lambda x, y: tuple(torch.meshgrid(x, y, indexing="ij")))
form("meshgrid xy", "f: a, f: b", lambda x, y: tuple(torch.meshgrid(x, y, indexing="xy")))
form("arange", "f: a b", lambda x: x + torch.arange(x.shape[1]))
form("arange float", "f: a b", lambda x: x * torch.arange(0, 1, 1 / x.shape[1], dtype=torch.float32)[: x.shape[1]])
form("linspace", "f: a b", lambda x: x * torch.linspace(0, 1, x.shape[1]))
form("eye", "f: b b", lambda x: x + torch.eye(x.shape[0]))
form("zeros", "f: a b", lambda x: torch.cat([x, torch.zeros(x.shape)]))
form("full", "f: a b", lambda x: x + torch.full((x.shape[1],), 3.0))
form("ones_like", "f: a b", lambda x: x + torch.ones_like(x))
form("full_like", "f: a b", lambda x: x + torch.full_like(x, 2))
form("new_full", "f: a b", lambda x: x + x.new_full((x.shape[1],), 2))
form("new_tensor", "f: a b", lambda x: x * x.new_tensor([2.0]))
form(
    "causal mask", "f: a b b", lambda x: x.masked_fill(torch.triu(torch.ones(x.shape[1:], dtype=torch.bool), 1), float("-inf")).softmax(-1)
)
form("sinusoids", "f: a b 4", lambda x: x + (torch.arange(x.shape[1])[:, None] * torch.exp(torch.arange(0, 4) * -0.5)).sin())
form("length mask", "f: a 4, i4: a", lambda x, n: x.masked_fill(torch.arange(4) >= n[:, None], 0.0))

# Complex numbers and spectra -----------------------------------------------------------------------------------------------------

form("rfft", "f: a b+2", lambda x: torch.view_as_real(torch.fft.rfft(x)))
form("fft real", "f: a b c", lambda x: torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real)
form("fft2", "f: a b c", lambda x: torch.fft.fft2(x).real)
form("rfft and back", "f: a b", lambda x: torch.fft.irfft(torch.fft.rfft(x, norm="ortho") * 2, n=x.shape[-1], norm="ortho"))
form(
    "rfft2 filter",
    "f: a b c 4",
    lambda x: torch.fft.irfft2(torch.fft.rfft2(x, dim=(1, 3)), s=(x.shape[1], 4), dim=(1, 3)),
)
form(
    "long convolution",
    "f: a b, f: b",
    lambda x, k: torch.fft.irfft(torch.fft.rfft(x, n=2 * x.shape[-1]) * torch.fft.rfft(k, n=2 * x.shape[-1]), n=2 * x.shape[-1])[
        ..., : x.shape[-1]
    ],
)
form(
    "complex rotation",
    "f: a b 2*c, x: b c 2",
    lambda x, f: torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.view_as_complex(f)).flatten(-2),
)
form("polar", "f: a b, x: b", lambda x, t: torch.view_as_real(torch.polar(torch.ones_like(t), t)).sum(-1) * x)
form("complex parts", "f: a b, f: a b", _parts)
form("magnitude", "p: a b, p: a b", lambda x, y: torch.complex(x, y).abs())

# Losses and random numbers -------------------------------------------------------------------------------------------------------

for _name in ("l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy_with_logits"):
    form(_name, "f: a b, x: a b", getattr(functional, _name))
    form(f"{_name} summed", "f: a b, x: a b", lambda x, y, name=_name: getattr(functional, name)(x, y, reduction="sum"))
form("huber loss delta", "f: a b, x: a b", lambda x, y: functional.huber_loss(x, y, delta=0.3, reduction="none"))
form("smooth l1 beta", "f: a b, x: a b", lambda x, y: functional.smooth_l1_loss(x, y, beta=0.3))
form("binary cross entropy", "x: a b, f: a b", lambda y, x: functional.binary_cross_entropy(x.sigmoid(), y.sigmoid()))
form("weighed logits", "f: a b, x: a b, x: b", lambda x, y, w: functional.binary_cross_entropy_with_logits(x, y, pos_weight=w))
form("cross entropy", "f: a 5, i5: a", functional.cross_entropy)
form("cross entropy of maps", "f: a 5 b c, i5: a b c", lambda x, y: functional.cross_entropy(x, y, reduction="sum"))
form("cross entropy ignored", "f: a 5, i5: a", lambda x, y: functional.cross_entropy(x, y, ignore_index=2))
form("cross entropy smoothed", "f: a 5, i5: a", lambda x, y: functional.cross_entropy(x, y, label_smoothing=0.1))
form("cross entropy weighed", "f: a 5, i5: a", lambda x, y: functional.cross_entropy(x, y, torch.arange(1.0, 6.0)), kept=False)
form("cross entropy of shares", "f: a 5, x: a 5", lambda x, y: functional.cross_entropy(x, y.softmax(-1)))
form("divergence", "f: a b, x: a b", lambda x, y: functional.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"))
form("nll of one", "f: 5, i5:", functional.nll_loss)
form("noise", "f: a b", lambda x: x + torch.randn_like(x) * x.exp(), ran=False)
form("uniform noise", "f: a b", lambda x: x * torch.rand(x.shape), ran=False)
form("noise in place", "f: a b", lambda x: x * x.new_empty(x.shape[0], 1).bernoulli_(0.5), ran=False)
for _name in ("dropout", "dropout2d", "alpha_dropout", "feature_alpha_dropout"):
    form(_name, "f: a b c d", lambda x, name=_name: getattr(functional, name)(x, 0.3, training=True), ran=False)

# Recurrent ------------------------------------------------------------------------------------------------------------------------


def _listed(module: Any) -> Any:
    """Return a module that returns all outputs and states of a recurrent one in one tuple."""

    class Listed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, *given: Any) -> Any:
            found = self.inner(*given)
            output, state = found if isinstance(found, tuple) and not isinstance(self.inner, nn.LSTMCell) else (found, ())
            return (*(output if isinstance(output, tuple) else (output,)), *(state if isinstance(state, tuple) else (state,)))

    return Listed()


for _kind in ("RNN", "GRU", "LSTM"):
    _class = getattr(nn, _kind)
    for _words, _arguments in {
        "": {},
        " batch first": {"batch_first": True},
        " two layers": {"num_layers": 2},
        " both ways": {"bidirectional": True},
        " two layers both ways": {"num_layers": 2, "bidirectional": True, "batch_first": True},
        " without bias": {"bias": False},
        **({" relu": {"nonlinearity": "relu"}} if _kind == "RNN" else {}),
        **({" projected": {"proj_size": 2, "num_layers": 2, "bidirectional": True}} if _kind == "LSTM" else {}),
    }.items():
        module(f"{_kind}{_words}", "x: s b 3", lambda c=_class, a=_arguments: _listed(c(3, 4, **a)), kept=False)
    module(f"{_kind} without a batch", "x: s 3", lambda c=_class: _listed(c(3, 4)), kept=False)
    module(f"{_kind}Cell", "x: b 3", lambda kind=_kind: _listed(getattr(nn, f"{kind}Cell")(3, 4)), kept=False)
module("GRU with a state", "x: s b 3, x: 1 b 4", lambda: _listed(nn.GRU(3, 4)), kept=False)

"""torchvision's own networks, beside which those of this library are run; without its compiled operators, which no network needs."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

from frameworks import imported


def torchvision() -> Any:
    """Import torchvision's networks, or skip the test that needs them."""
    return imported("torchvision.models")


def built(name: str, **arguments: Any) -> Any:
    """Return a network of torchvision with random weights in float64, in evaluation mode; nothing is downloaded."""
    torch, models = imported("torch"), torchvision()
    torch.manual_seed(0)
    quiet: dict[str, Any] = {"init_weights": False} if name in {"googlenet", "inception_v3"} else {}
    if any(part in name for part in ("fcn", "deeplab", "lraspp", "rcnn", "retinanet", "ssd", "fcos")):
        quiet["weights_backbone"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with sized(arguments) if name.startswith("mvit") else contextlib.nullcontext():
            module = models.get_model(name, weights=None, **quiet, **({} if name.startswith("mvit") else arguments)).eval()
    return jumbled(torch, module)


@contextlib.contextmanager
def sized(arguments: dict[str, Any]) -> Iterator[None]:
    """Give torchvision's class the arguments that its function for a published network sets by itself and refuses."""
    home = imported("torchvision.models.video.mvit")
    inside = home._mvit
    with mock.patch.object(home, "_mvit", lambda **given: inside(**{**given, **arguments})):
        yield


def jumbled(torch: Any, module: Any) -> Any:
    """Change every vector, and every matrix of zeros, of a fresh network at random: they hide what uses them; variances stay positive."""
    generator = torch.Generator().manual_seed(1)
    module = module.double()
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if tensor.is_floating_point() and (tensor.ndim == 1 or not tensor.any() or name.endswith("layer_scale")):
                low = 0.5 if name.endswith(("weight", "running_var", "layer_scale", "logit_scale")) else -0.5
                tensor.copy_(torch.rand(tensor.shape, generator=generator, dtype=tensor.dtype) + low)
    return module


def detections(module: Any, x: Any, *regions: Any) -> tuple[Any, ...]:
    """Return what a detector says before it chooses among its boxes, which is where data and compiled operators come in.

    Of one in two stages: of every anchor, then of the regions that are given instead of those that it would cut out of the pyramid.
    """
    maps = list(module.backbone(x).values())
    if hasattr(module, "head"):
        said = module.head(maps)
        return tuple(said[name] for name in ("cls_logits", "bbox_regression", "bbox_ctrness") if name in said)
    joined = imported("torchvision.models.detection.rpn").concat_box_prediction_layers(*module.rpn.head(maps))
    found = [one.reshape(len(x), -1, one.shape[-1]) for one in joined]
    heads = module.roi_heads
    for number, region in enumerate(regions):
        kind = "box" if number == 0 else "mask" if heads.has_mask() else "keypoint"
        said = getattr(heads, f"{kind}_predictor")(getattr(heads, f"{kind}_head")(region))
        found += said if isinstance(said, tuple) else [said]
    return tuple(found)

"""The families in the explorer: all except some networks for images, whose data would make the page larger than 1.5 MB."""

from __future__ import annotations

from paramsym.models import FAMILIES

LEFT_OUT = ("applications.", "vision.rcnn", "vision.retinanet", "vision.ssd")
"""Keras' applications, because torchvision's networks of the same name are there, and detectors."""
NAMES = [name for home, (classes, _) in FAMILIES.items() if not home.startswith(LEFT_OUT) for name in classes.split()]

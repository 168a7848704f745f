"""Frequencies of rotary positions: those of Su et al. 2021, and the ways in which later models scale them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import ceil, floor, log, pi, sqrt
from typing import Any, Literal, TypeAlias

RopeKind: TypeAlias = Literal["default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional"]


@dataclass(frozen=True, slots=True)
class Rope:
    """The settings of rotary positions, under the names of transformers' ``rope_parameters``.

    ``theta`` is the base (``rope_theta``). ``positions`` and ``original_positions`` are ``max_position_embeddings`` and
    ``original_max_position_embeddings``. ``share`` is the share of rotated pairs in the kind "proportional". Sources: "linear" and
    "dynamic" as in transformers; "yarn" Peng et al. 2023 (arXiv:2309.00071); "longrope" Ding et al. 2024 (arXiv:2402.13753); "llama3"
    Llama 3.1.
    """

    theta: float = 10000.0
    kind: RopeKind = "default"
    factor: float | None = None
    attention_factor: float | None = None
    positions: int = 2048
    original_positions: int | None = None
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    mscale: float | None = None
    mscale_all_dim: float | None = None
    short_factor: tuple[float, ...] = ()
    long_factor: tuple[float, ...] = ()
    share: float = 1.0

    def __repr__(self) -> str:
        """Return source code with the settings that differ from the defaults.

        >>> Rope(theta=500000.0, positions=8192)
        Rope(theta=500000.0, positions=8192)
        """
        held = ((one.name, getattr(self, one.name), one.default) for one in fields(self))
        return f"Rope({', '.join(f'{name}={value!r}' for name, value, default in held if value != default)})"

    @property
    def trained(self) -> int:
        """The number of positions before scaling."""
        return self.positions if self.original_positions is None else self.original_positions

    @property
    def stretch(self) -> float:
        """The factor by which the number of positions grew."""
        return self.positions / self.trained if self.factor is None else self.factor

    @property
    def amplitude(self) -> float:
        """The factor of cosines and sines."""
        if self.attention_factor is not None and self.kind in {"yarn", "longrope"}:
            return self.attention_factor
        if self.kind == "longrope":
            return 1.0 if self.stretch <= 1 else sqrt(1 + log(self.stretch) / log(self.trained))
        if self.kind == "yarn":
            both = self.mscale is not None and self.mscale_all_dim is not None and self.mscale and self.mscale_all_dim
            return self._scale(self.mscale or 1) / self._scale(self.mscale_all_dim or 1) if both else self._scale(1)
        return 1.0

    def _scale(self, weight: float) -> float:
        return 1.0 if self.stretch <= 1 else 0.1 * weight * log(self.stretch) + 1

    def frequencies(self, xp: Any, width: int, length: int) -> Any:
        """Return one angle per position for each of width/2 pairs; ``length`` is the number of positions so far."""
        theta = self.theta
        if self.kind == "dynamic":
            theta *= (self.stretch * max(length, self.positions) / self.positions - (self.stretch - 1)) ** (width / (width - 2))
        plain = theta ** -(xp.arange(0, width, 2) / width)
        match self.kind:
            case "linear":
                return plain / self.stretch
            case "longrope":
                return plain / xp.asarray(self.long_factor if length > self.trained else self.short_factor)
            case "yarn":
                kept = self._kept(xp, width)
                return plain / self.stretch * (1 - kept) + plain * kept
            case "llama3":
                return self._smoothed(xp, plain)
            case "proportional":
                return xp.where(xp.arange(width // 2) < int(self.share * width // 2), plain, 0.0) / (self.factor or 1.0)
            case _:
                return plain

    def _kept(self, xp: Any, width: int) -> Any:
        """Return the share of its own frequency that each pair keeps: fast pairs keep all, slow ones nothing (YaRN, section 3.2)."""
        low, high = (width * log(self.trained / (beta * 2 * pi)) / (2 * log(self.theta)) for beta in (self.beta_fast, self.beta_slow))
        if self.truncate:
            low, high = floor(low), ceil(high)
        low, high = max(low, 0), min(high, width - 1)
        return 1 - xp.clip((xp.arange(width // 2) - low) / (high - low or 0.001), 0, 1)

    def _smoothed(self, xp: Any, plain: Any) -> Any:
        """Return the frequencies: fast ones unchanged, slow ones divided, and a mixture between."""
        turns = self.trained * plain / (2 * pi)
        mixed = (turns - self.low_freq_factor) / (self.high_freq_factor - self.low_freq_factor)
        between = (1 - mixed) * plain / self.stretch + mixed * plain
        slow = turns < self.low_freq_factor
        return xp.where(slow, plain / self.stretch, xp.where(turns > self.high_freq_factor, plain, between))

    def __str__(self) -> str:
        """Write the base, and the kind if the frequencies are scaled."""
        return f"{self.theta:g}" if self.kind == "default" else f"{self.theta:g} {self.kind}"


ROPE = Rope()
"""The rotary positions of Su et al. 2021."""

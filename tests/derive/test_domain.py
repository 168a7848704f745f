"""The conditions that refusals show."""

from __future__ import annotations

from paramsym.derive.arguments import Variable
from paramsym.derive.domain import Domain, learnt


def test_heads_of_an_even_width() -> None:
    """What is taken has an even width for each head; divisibility by the heads or by 2 alone does not explain what is refused."""
    domain = Domain((Variable("heads", (0,)), Variable("dim", (1,))))
    taken = [{"heads": heads, "dim": 2 * heads * times} for heads in (1, 2, 3, 5) for times in (1, 2)]
    refused = [{"heads": heads, "dim": heads * odd} for heads in (1, 2, 3, 6) for odd in (1, 3)]
    assert [str(demand) for demand in learnt(domain, taken, refused)] == ["2*heads divides dim"]


def test_a_size_at_most_as_large_as_another() -> None:
    """Equal sizes were taken, a larger first one never."""
    domain = Domain((Variable("small", (0,)), Variable("large", (1,))))
    taken = [{"small": small, "large": large} for small, large in ((2, 2), (2, 3), (5, 5), (7, 11))]
    refused = [{"small": small, "large": large} for small, large in ((3, 2), (5, 4), (11, 7))]
    assert [str(demand) for demand in learnt(domain, taken, refused)] == ["small <= large"]

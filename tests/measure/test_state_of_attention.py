"""The cache of a single layer of attention, as a lecturer writes it: keys and values of G heads for every position."""

from __future__ import annotations

from sympy import expand

import paramsym as ps
from paramsym import A, B, G, H, S


def test_keys_and_values_of_a_layer() -> None:
    """2*B*S*G*H/A for grouped heads, 2*B*S*H without groups (Ainslie et al. 2023, section 2), whose source the cost states."""
    cost = ps.kv_cache(ps.MultiHeadAttention(H, A, kv_heads=G, batch_first=True), (B, S, H))
    assert expand(cost.total - 2 * B * S * G * H / A) == 0
    assert "the layer itself keeps none" in str(cost)
    assert ps.kv_cache(ps.MultiHeadAttention(H, A), (S, B, H)).total == 2 * B * S * H
    assert ps.kv_cache(ps.MultiHeadAttention(512, 8, batch_first=True), (1, 1, 512), past=99, dtype="float16").total == 2 * 2 * 100 * 512


def test_encoders_have_no_cache() -> None:
    """A model that reads all positions at once keeps nothing."""
    assert ps.kv_cache(ps.models.Bert(), (B, S)).total == 0

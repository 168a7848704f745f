# A layer of your own
from dataclasses import dataclass

import paramsym as ps
from paramsym import A, B, Dim, H, R, S
from paramsym.program import Own, Value, apply, rearrange


@dataclass(frozen=True)
class GatedAdapter(ps.Layer):
    """x + gate * up(gelu(down(x))), with one gate per head."""

    width: Dim
    rank: Dim
    heads: Dim

    def conditions(self):
        ps.divides(self.heads, self.width, "heads", "width")

    def tensors(self):
        yield ps.Tensor("gate", (self.heads,), role="scale")

    def parts(self):
        yield ps.Part("down", ps.Dense(self.width, self.rank))
        yield ps.Part("up", ps.Dense(self.rank, self.width))

    def forward(self, own: Own, x: Value) -> Value:
        y = own.up(apply("gelu", own.down(x)))
        y = rearrange(y, "b s (a d) -> b s a d", a=self.heads)
        y = y * rearrange(own.gate, "a -> a ()")
        return x + rearrange(y, "b s a d -> b s (a d)")


adapter = GatedAdapter(H, R, A)
adapter

ps.explain(adapter, R)

ps.flops(adapter, (B, S, H))

adapter.at(H=768, R=16, A=12).count

# Not possible, and the error says why:
# GatedAdapter(786, 16, 12)

# A mixture of experts: stored and used
import paramsym as ps
from paramsym import B, E, F, H, K, S

mixture = ps.MixtureOfExperts(H, F, E, K)
mixture

# Every expert is stored; a token uses K of them.
mixture.active

ps.explain(mixture, E)

ps.flops(mixture, (B, S, H))

# One block of Mixtral 8x7B.
block = mixture.at(H=4096, F=14336, E=8, K=2)
print(f"{block.count:,} stored, {int(block.active):,} used by a token")

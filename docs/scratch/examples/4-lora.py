# LoRA: trained and frozen
import paramsym as ps
from paramsym import B, H, L, R, S

adapted = L * ps.LoRA(ps.Dense(H, H), R)
adapted

adapted.trainable

ps.explain(adapted, R)

# The backward pass needs no gradients of the frozen weights.
ps.flops(adapted, (B, S, H), way="backward")

sized = adapted.at(H=4096, L=32, R=8)
print(f"{int(sized.trainable):,} of {sized.count:,} parameters are trained")

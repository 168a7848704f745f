# GPT-2: where the number of heads cancels, and where it does not
import paramsym as ps
from paramsym import A

gpt2 = ps.models.Gpt2()
gpt2

ps.explain(gpt2, A)

ps.explain(ps.flops(gpt2), A)

# Attention keeps one matrix of scores per head for the backward pass.
ps.explain(ps.activations(gpt2), A)

print(f"{gpt2.at('gpt2').count:,} parameters")

"""Times of answers, and how often a random wrong claim gets one.

Run it anywhere: ``python docs/benchmarks/reconcile.py``. Claims are drawn within 5 % of the count, every second one a multiple of the width
H. An answer to such a claim is false, because nobody made that mistake. Disputed claims are timed first, each on a fresh model.
"""

from __future__ import annotations

import random
import sys
import time
from functools import partial

import paramsym as ps
from paramsym import A, H

CLAIMS = 200
DISPUTED = (
    (ps.models.Bert, "bert-base-uncased", 109_786_368),
    (ps.models.Bert, "bert-large-uncased", 335_043_584),
    (ps.models.Gpt2, "gpt2", 123_653_376),
    (ps.models.EncoderDecoder, "one-layer", 15_676_928),
    (ps.models.T5, "t5-large", "770M"),
    (ps.models.Whisper, "openai/whisper-tiny", 37_184_640),
    (ps.models.Swin, "microsoft/swin-tiny-patch4-window7-224", 28_288_354),
    (ps.models.DenseNet, "densenet121", 8_062_504),
    (partial(ps.models.Llama, architecture="LlamaForCausalLM"), "meta-llama/Llama-2-70b-hf", "78B"),
    (partial(ps.models.Deepseek, architecture="DeepseekV3ForCausalLM"), "deepseek-ai/DeepSeek-V3", "685B"),
)
SEEDS = (1, 2, 3)


def false_answers(layer: ps.Layer, seed: int) -> tuple[int, float, float]:
    """Return how many random claims are answered, and the median and the longest time of one answer in milliseconds."""
    chosen = random.Random(seed)  # noqa: S311 - a sample, not a secret
    count, width = layer.count, int(layer.sizes.get(H, 64))
    answered, times = 0, []
    for number in range(CLAIMS):
        claim = chosen.randint(int(count * 0.95), int(count * 1.05))
        claim = claim // width * width if number % 2 else claim
        started = time.perf_counter()
        found = ps.reconcile(layer, claim)
        times.append(1000 * (time.perf_counter() - started))
        answered += bool(found) and claim != count
    return answered, sorted(times)[len(times) // 2], max(times)


def main() -> None:
    """Print both tables."""
    out = sys.stdout.write
    out("first answer, model built and searched\n")
    for build, name, claim in DISPUTED:
        started = time.perf_counter()
        found = ps.reconcile(build(), claim, at=name)
        out(f"  {name:40} {claim:>13}  {1000 * (time.perf_counter() - started):7.0f} ms  {str(found).splitlines()[0][:60]}\n")
    out(f"random wrong claims, {CLAIMS} for each of {len(SEEDS)} seeds\n")
    layers = {
        **{name: ps.models.Bert().at(name) for name in ("bert-base-uncased", "bert-large-uncased")},
        "gpt2": ps.models.Gpt2().at("gpt2"),
        "an encoder layer": ps.TransformerEncoderLayer(H, A, ps.F).at(H=768, A=12, F=3072),
        "an attention layer": ps.MultiHeadAttention(H, A).at(H=768, A=12),
        "one-layer": ps.models.EncoderDecoder().at("one-layer"),
        "llama-7b": ps.models.Llama(architecture="LlamaForCausalLM").at("huggyllama/llama-7b"),
        "t5-small": ps.models.T5().at("t5-small"),
        "vit-base": ps.load("google/vit-base-patch16-224", "ViTModel"),
        "resnet50": ps.models.ResNet().at("resnet50"),
        "DeepSeek-V3": ps.models.Deepseek(architecture="DeepseekV3ForCausalLM").at("deepseek-ai/DeepSeek-V3"),
    }
    for name, layer in layers.items():
        results = [false_answers(layer, seed) for seed in SEEDS]
        worst, median = max(answered for answered, _, _ in results), sorted(median for _, median, _ in results)[len(SEEDS) // 2]
        longest = max(longest for _, _, longest in results)
        out(f"  {name:20} at most {worst:2} answered ({100 * worst / CLAIMS:.1f} %), median {median:.1f} ms, longest {longest:.0f} ms\n")


if __name__ == "__main__":
    main()

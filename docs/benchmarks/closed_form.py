"""Times of closed forms, compared with a warm instantiation of the same model in transformers on the meta device.

Run it with transformers and torch installed: ``python docs/benchmarks/closed_form.py``. Both sides are measured alternately in one run; the
times are the medians, after warming up. Ratios matter, absolute times depend on the machine. The counts are compared first.
"""

from __future__ import annotations

import gc
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from paramsym import A, Block, Dense, E, Embedding, F, G, H, K, L, Layer, MixtureOfExperts, Repeat, RMSNorm, TransformerEncoderLayer, V, per
from paramsym.models import Bert

MIXTURE = {V: 32000, H: 1024, L: 60, A: 16, G: 4, F: 2048, E: 8, K: 2}


def mixture_of_experts() -> Layer:
    """A causal language model with grouped attention and a mixture of experts in every layer, as transformers' Mixtral stores it."""
    queries, keys = (A, per(H, A)), (G, per(H, A))
    attention = Block(
        q_proj=Dense(H, queries, bias=False),
        k_proj=Dense(H, keys, bias=False),
        v_proj=Dense(H, keys, bias=False),
        o_proj=Dense(queries, H, bias=False),
    )
    block = Block(self_attn=attention, mlp=MixtureOfExperts(H, F, E, K), input_layernorm=RMSNorm(H), post_attention_layernorm=RMSNorm(H))
    return Block(model=Block(embed_tokens=Embedding(V, H), layers=Repeat(block, L), norm=RMSNorm(H)), lm_head=Dense(H, V, bias=False))


def references() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return functions that build BERT and the mixture in transformers, without allocating weights."""
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    bert = transformers.BertConfig()
    mixture = transformers.MixtralConfig(
        vocab_size=MIXTURE[V],
        hidden_size=MIXTURE[H],
        num_hidden_layers=MIXTURE[L],
        num_attention_heads=MIXTURE[A],
        num_key_value_heads=MIXTURE[G],
        intermediate_size=MIXTURE[F],
        num_local_experts=MIXTURE[E],
        num_experts_per_tok=MIXTURE[K],
    )

    def on_meta(build: Callable[[], Any]) -> Callable[[], Any]:
        def built() -> Any:
            with torch.device("meta"):
                return build()

        return built

    return on_meta(lambda: transformers.BertModel(bert)), on_meta(lambda: transformers.MixtralForCausalLM(mixture))


def medians(rounds: int, tasks: Sequence[Callable[[], object]], together: int = 3) -> list[float]:
    """Return each task's median time in milliseconds.

    The tasks alternate, so that a busy moment of the machine affects all of them; in its turn a task runs ``together`` times. Garbage is
    collected between the turns and not within, as in ``timeit``.
    """
    for task in tasks:
        for _ in range(3):
            task()
    times: list[list[float]] = [[] for _ in tasks]
    gc.disable()
    for _ in range(rounds):
        gc.collect()
        for task, found in zip(tasks, times, strict=True):
            start = time.perf_counter()
            for _ in range(together):
                task()
            found.append(1000 * (time.perf_counter() - start) / together)
    gc.enable()
    return [statistics.median(found) for found in times]


def report(title: str, names: Sequence[str], times: Sequence[float]) -> None:
    """Print times, and each as a share of the last one's."""
    print(title)
    for name, spent in zip(names, times, strict=True):
        print(f"  {name:52}{spent:10.3f} ms{spent / times[-1]:10.4f}")


def main() -> None:
    """Compare counts, then print times and ratios."""
    bert, mixture = references()
    sizes = {symbol: MIXTURE[symbol] for symbol in mixture_of_experts().symbols}
    for layer, module in ((Bert().at("bert-base-uncased"), bert()), (mixture_of_experts().at(sizes), mixture())):
        stored = {name: tuple(tensor.shape) for name, tensor in module.named_parameters()}
        if layer.shapes() != stored:
            message = f"{type(layer).__name__} does not store what the reference stores; the times would compare different models."
            raise SystemExit(message)

    names = ("build", "build, closed form", "build, closed form, sizes, count", "transformers on the meta device")
    tasks = (Bert, lambda: Bert().params, lambda: (bert_ := Bert(), bert_.params, bert_.at("bert-base-uncased").count), bert)
    report("BERT base", names, medians(40, tasks))
    tasks = (
        mixture_of_experts,
        lambda: mixture_of_experts().params,
        lambda: (mixture_ := mixture_of_experts(), mixture_.params, mixture_.at(sizes).count),
        mixture,
    )
    report("A mixture of experts, 60 layers", names, medians(20, tasks))

    block = Bert().part("encoder.layer.{}")
    depths = (L, 12, 10**6)
    tasks = tuple((lambda copies=copies: Repeat(block, copies).params) for copies in depths)
    report("Repeat(block, copies).params, a block at hand", [f"copies = {copies}" for copies in depths], medians(60, tasks))
    tasks = tuple((lambda copies=copies: Repeat(TransformerEncoderLayer(H, A, F), copies).params) for copies in depths)
    report("Repeat(block, copies).params, a new block", [f"copies = {copies}" for copies in depths], medians(60, tasks))
    tasks = tuple((lambda copies=copies: Bert(num_hidden_layers=copies).params) for copies in depths)
    report("Bert(num_hidden_layers=copies).params", [f"copies = {copies}" for copies in depths], medians(60, tasks))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()

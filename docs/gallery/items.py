"""The gallery's answers: for every claim the call into the library that settles it.

``COUNTS`` are layers in letters: their count at the claim's sizes is the right value, and the claim is reconciled with it. ``VALUES`` are
other calls, for shapes, neurons and ratios. ``CLAIMS`` replace a claim's number by the literal claim. ``OUTSIDE`` are claims that are not
about layers, with the reason, and the value if counting suffices. ``QUESTIONS`` are answered in two lines; expressions in braces are
computed when the page is built. In ``COUNTS`` a letter is a symbol; elsewhere it is the claim's own number.
"""

from __future__ import annotations

# ruff: noqa: E501 - an answer is read as a paragraph

_BERT = "ps.models.Bert()"
_BASE = "ps.models.Bert().at('bert-base-uncased')"
_LAYER = "ps.models.Bert().part('encoder.layer.0')"
_LAYERS = f"ps.Repeat({_LAYER}, L)"
_EMBEDDINGS = "ps.models.Bert().part('embeddings')"
_ATTENTION = "ps.MultiHeadAttention(H, A)"
_QKV = "ps.Block(query=ps.Dense(H, (A, per(H, A))), key=ps.Dense(H, (A, per(H, A))), value=ps.Dense(H, (A, per(H, A))))"
_ONE_HEAD = "ps.Block(query=ps.Dense(H, per(H, A)), key=ps.Dense(H, per(H, A)), value=ps.Dense(H, per(H, A)))"
_OUTPUT = "ps.Dense((A, per(H, A)), H)"
_FFN = "ps.FeedForward(H, F)"
_TIED = "ps.models.EncoderDecoder().at('one-layer')"
_UNTIED = "ps.models.EncoderDecoder(tgt_emb_prj_weight_sharing=False, emb_src_tgt_weight_sharing=False).at('one-layer')"
_FFF = "ps.FastFeedForward(768, 768, 11)"
_FRONT = "ps.Sequential(ps.Conv2d(3, 32, 3, 2, 1), ps.Conv2d(32, 32, 3, 2, 1))"

COUNTS: dict[str, str] = {
    **dict.fromkeys(("S0-01", "S0-03", "S0-04", "S0-05", "S0-29", "S2-02", "S2-13", "S2-18", "S2-19", "S2-24", "S3-02", "SUM-11"), _BERT),
    **dict.fromkeys(("S0-14", "S2-06", "S3-03"), "ps.Embedding(V, H)"),
    **dict.fromkeys(("S0-15", "S2-07", "S3-04"), "ps.Embedding(P, H)"),
    **dict.fromkeys(("S0-16", "S3-05"), "ps.Embedding(T, H)"),
    **dict.fromkeys(("S0-17", "S0-23", "S0-25", "S1-11"), "ps.LayerNorm(H)"),
    **dict.fromkeys(("S0-18", "S2-14", "S2-20", "S3-06", "SUM-01", "SUM-08", "SUM-12"), _EMBEDDINGS),
    **dict.fromkeys(("S0-19", "S1-05"), "ps.Dense(H, per(H, A), bias=False)"),
    "S0-20": "ps.Parameter((per(H, A),), role='bias')",
    **dict.fromkeys(("S0-21", "S1-06", "S1-07", "S1-16", "S1-26", "S2-27", "S3-09"), _QKV),
    **dict.fromkeys(("S0-22", "S1-10", "S1-17", "S1-28", "S3-10"), _OUTPUT),
    **dict.fromkeys(("S0-28", "S2-17", "S2-23"), "ps.Dense(H, H)"),
    **dict.fromkeys(("S0-24", "S3-13", "SUM-03"), _FFN),
    **dict.fromkeys(("S0-26", "S1-20", "S1-30", "S2-15", "S2-21", "S3-14", "SUM-09", "SUM-13"), _LAYER),
    **dict.fromkeys(("S0-27", "S2-16", "S2-22", "S3-15", "SUM-10"), _LAYERS),
    "S0-48": "ps.Conv2d(D, K, F)",
    "S0-57": "ps.Conv2d(D, K, F)",
    "S1-02": "ps.models.Bert(architecture='BertForPreTraining')",
    **dict.fromkeys(("S1-04", "S1-08", "S1-12", "S1-18", "S1-19", "S1-29", "SUM-19"), _ATTENTION),
    "S1-21": "ps.FeedForward(H, F, bias=False)",
    "S1-22": "ps.Dense(H, H, bias=False)",
    "S2-03": _TIED,
    **dict.fromkeys(("S2-04", "SUM-07"), _UNTIED),
    "S2-08": f"{_TIED}.part('encoder.layer_stack.0.slf_attn')",
    "S2-09": f"{_TIED}.part('encoder.layer_stack.0.pos_ffn')",
    "S2-10": f"{_TIED}.part('encoder.layer_stack.0')",
    "S2-11": f"{_TIED}.part('decoder.layer_stack.0')",
    "S2-12": f"{_TIED}.part('tgt_word_prj')",
    **dict.fromkeys(("S2-28", "S3-08"), _ONE_HEAD),
    "S3-11": "ps.Dense(H, F)",
    "S3-12": "ps.Dense(F, H)",
    "S3-17": "ps.Repeat(ps.FeedForward(H, F, bias=False), L)",
    "S3-21": "ps.FastFeedForward(H, H, D)",
    **dict.fromkeys(("S4-03", "S4-20"), "ps.Conv2d(C, K, k, bias=False)"),
    **dict.fromkeys(("S4-04", "S4-16", "S4-17", "S4-33", "S4-35", "S4-51"), "ps.Conv2d(C, K, k)"),
    **dict.fromkeys(("S4-07", "S4-08", "S4-09"), "ps.Conv1d(100, 60, 1, groups=20)"),
    "S4-10": "ps.Conv1d(f, 3*g, 5, stride=5)",
    "S4-13": "ps.Conv2d(1, m, (b, 1), stride=(b, 1))",
    "S4-23": "ps.BatchNorm2d(K)",
    "S4-24": "ps.Sequential(ps.Conv2d(3, K, k), ps.BatchNorm2d(K), ps.Conv2d(K, K, k), ps.BatchNorm2d(K))",
    "S4-26": "ps.Dense(H, 1)",
    "S4-28": "ps.Parameter((), 'alpha')",
    "S4-30": "ps.Dense(2*S, S)",
    "S4-31": "ps.Block(first=ps.Dense(H, 1), second=ps.Dense(H, 1), gate=ps.Parameter((1,)))",
    "S4-39": "ps.models.LeNet5(variant='oneill')",
    **dict.fromkeys(("S4-41", "S4-50"), "ps.Conv2d(D, Y, (N, M), bias=False)"),
    "S4-43": "ps.Sequential(ps.Conv2d(1, 8, a), ps.Conv2d(8, 16, b))",
    "S4-44": "ps.Conv2d(D, K, k)",
    "S4-45": "ps.Conv2d(D, K, k, groups=g, bias=False)",
    "S4-47": "ps.Conv2d(D, K, k, bias=False)",
    "S4-49": "ps.Conv2d(D1, D2, S, bias=False)",
}

CLAIMS: dict[str, str] = {
    "S0-01": "'110M'",
    "S0-05": "'12768768*12'",
    "S1-22": "ps.FeedForward(H, F, bias=False)",
    "S2-13": "'110M'",
    "S2-19": "'340M'",
    "S3-02": "'110M'",
    "S4-08": "ps.Conv2d(100, 60, (5, 1))",
    "S4-09": "ps.Conv1d(1, 3, 5, stride=5)",
    "S1-20": "ps.MultiHeadAttention(H, A)",
}

VALUES: dict[str, str] = {
    "S0-02": f"{_BASE}.num_attention_heads",
    "S0-06": f"len([name for name in {_BASE}.shapes() if 'cross' in name])",
    "S0-07": "output_shape(ps.Embedding(30522, H), (1, S))[1:]",
    "S0-08": f"{_BASE}.vocab_size",
    "S0-09": "len(ps.LayerNorm(768).shapes()['weight'])",
    "S0-10": "ps.Dense(H, per(H, A), dialect='keras').shapes()['kernel']",
    "S0-11": "ps.MultiHeadAttention(H, A).shapes()['out_proj.weight']",
    "S0-12": "ps.MultiHeadAttention(768, A).shapes()['in_proj_weight'][0] // per(768, A)",
    "S0-13": f"{_BASE}.intermediate_size",
    "S0-30": "[(n, p), output_shape(ps.Dense(p, o), (n, p))]",
    "S0-32": "matlab_net(1)",
    "S0-33": "matlab_net(2)",
    "S0-34": "ps.Sequential(ps.Conv1d(C, c1, k), ps.Conv1d(c1, c2, k), ps.Dense(c2, h1), ps.Dense(h1, h2), ps.Dense(h2, o)).count",
    "S0-35": "ps.Sequential(ps.Tanh(), ps.AvgPool1d(2), ps.Flatten()).count",
    "S0-36": "output_shape(ps.Conv3d(1, 1, (b1, b2, b3), padding=(b1-1, b2-1, b3-1)), (1, 1, a1, a2, a3))[2:]",
    "S0-37": "output_shape(ps.Conv1d(1, 1, nb, padding=nb-1), (1, 1, na))[2]",
    "S0-40": "output_shape(ps.Conv3d(1, 1, N+1, padding=N), (1, 1, 3, 5, 6))[2:]",
    "S0-42": "output_shape(ps.Conv3d(1, 1, (1, b, 1), padding=(0, b-1, 0)), (1, 1, a1, a2, a3))[2:]",
    "S0-43": "[ps.Parameter((), 'sigma').count, ps.Conv3d(1, 1, N+1, bias=False).count, 3*ps.Conv1d(1, 1, N+1, bias=False).count]",
    "S0-44": "prod(output_shape(ps.Conv2d(3, K, F, S, P), (1, 3, W, W))[1:])",
    "S0-45": "output_shape(ps.Conv2d(3, 96, F, S, P), (1, 3, W, W))[2]",
    "S0-46": "prod(output_shape(ps.Conv2d(3, K, 11, 4), (1, 3, 227, 227))[1:])",
    "S0-47": "ps.Conv2d(D, 1, F, bias=False).count",
    "S0-49": "output_shape(ps.Conv2d(3, K, 11, 4), (1, 3, 227, 227))[1]",
    "S0-50": "[W, W, ps.Conv2d(Dk, 2, 5).in_channels]",
    "S0-51": "output_shape(ps.Conv2d(D, K, 5, 2), (1, D, 11, 11))[1]",
    "S0-52": "prod(output_shape(ps.Conv2d(4, K, F, S, P), (1, 4, W, W))[1:])",
    "S0-53": "ps.Conv2d(D, 1, F, bias=False).count",
    "S0-54": "prod(output_shape(ps.Conv2d(4, K, 5, 2), (1, 4, 11, 11))[1:])",
    "S0-55": "prod(output_shape(ps.Conv2d(4, 4, 5, 2), (1, 4, 11, 11))[2:])",
    "S0-56": "[prod(output_shape(ps.Conv2d(4, K, 5, 2), (1, 4, 11, 11))[i:]) for i in (1, 2)]",
    "S0-58": "output_shape(ps.Conv2d(4, 2, (Fh, Fw), S), (1, 4, Hh, W))[2:]",
    "S0-62": "[ps.Dense(p, k, dialect='keras').shapes()['kernel'], output_shape(ps.Dense(p, k), (n, p))]",
    "S0-63": "output_shape(ps.Dense(3, k), (n, 3))",
    "S0-64": "ps.Block(directions=ps.Dense(p, k, bias=False), mean=ps.Parameter((p,))).count",
    "S1-01": f"{_BASE}.vocab_size",
    "S1-03": "ps.models.Bert().params.diff(ps.S)",
    "S1-09": "ps.MultiHeadAttention(H, A).shapes()['out_proj.weight'][1]",
    "S1-13": "[ps.MultiHeadAttention(H, A).shapes()['in_proj_weight'][0] // per(H, A), ps.Dense(H, per(H, A), bias=False).count]",
    "S1-14": f"{_BASE}.num_attention_heads",
    "S1-15": "per(H, A)",
    "S1-23": "ps.MultiHeadAttention(H, 12).shapes()['out_proj.weight']",
    "S1-24": "ps.DotProductAttention().count",
    "S1-25": "[ps.MultiHeadAttention(H, a).count for a in (1, 4, 12, 64)]",
    "S1-27": "len([line for line in ps.MultiHeadAttention(ps.H, ps.A).ledger() if line.name == 'in_proj_weight'])",
    "S2-01": "read('12*768*12 = 110M').arithmetic.value",
    "S2-05": f"{_TIED}.trainable",
    "S2-25": "ps.MultiHeadAttention(H, A).shapes()['out_proj.weight'][1]",
    "S2-26": "per(H, A)",
    "S2-29": "ps.Dense(H, per(H, A), dialect='keras').shapes()['kernel']",
    "S2-30": f"len(list({_TIED}.entries())) + 2*len({_BERT}.ledger())",
    "S3-01": "1 - ps.Dense(768, stored).count / ps.Dense(768, F).count",
    "S3-07": "per(H, A)",
    "S3-16": (
        f"{_BASE}.count - {_BASE}.ledger().where(lambda line: line.role == 'table').stored"
        f" - ps.conventions({_BASE})['non-embedding (Kaplan)'].params"
    ),
    "S3-18": f"round(ps.Repeat(ps.FeedForward(H, F, bias=False), L).count / {_BASE}.count, 4)",
    "S3-19": f"round(int({_FFF}.active) / {_FFF}.count, 5)",
    "S3-20": f"round((1 - r) * ps.Repeat(ps.FeedForward(H, F, bias=False), L).count / {_BASE}.count, 4)",
    "S3-22": f"round(1 - ({_BASE}.count + L*({_FFF}.count - ps.FeedForward(H, F).count)) / {_BASE}.count, 4)",
    "S3-23": f"[{_FFF}.active / (2*768 + 1), {_FFF}.params / (2*768 + 1)]",
    "S4-01": "[output_shape(ps.Conv2d(6, K, k, s), (1, 6, W, Hh))[i] for i in (2, 3, 1)]",
    "S4-02": "ps.Conv2d(C, K, 1, bias=False).count",
    "S4-05": "output_shape(ps.Conv2d(6, K, 3), (1, 6, 10, 5))[1]",
    "S4-06": "prod(output_shape(ps.Conv1d(1, m, b, stride=b), (1, 1, n))[1:])",
    "S4-11": "[N, ps.Conv1d(f, 3, 5, stride=5).in_channels, 100]",
    "S4-12": "output_shape(ps.Conv1d(1, 3, b, stride=b), (1, 1, n))[2]",
    "S4-14": "prod(output_shape(ps.Identity(), (1, 3, mel))[1:])",
    "S4-15": "output_shape(ps.Conv1d(1, 1, win, stride=hop), (1, 1, ms))[2]",
    "S4-18": "len(ps.Conv2d(3, 32, 3).shapes()['weight']) - 1",
    "S4-19": "ps.Conv2d(C, 1, (a, b), dialect='keras').shapes()['kernel'][:3]",
    "S4-21": f"128 // output_shape({_FRONT}, (1, 3, 128, 80))[2]",
    "S4-22": f"[output_shape({_FRONT}, (1, 3, T, 80))[i] for i in (2, 3, 1)]",
    "S4-27": "output_shape(ps.Dense(768, 1), (B, S, 768))",
    "S4-32": "prod(output_shape(ps.Conv2d(6, K, 5, 2), (1, 6, 13, 13))[1:])",
    "S4-34": "prod(output_shape(ps.Conv2d(C, K, k, 2), (1, C, 13, 13))[1:]) * ps.Conv2d(C, 1, k).count",
    "S4-36": "[output_shape(layer, (1, 1, W, W))[2] for layer in (ps.Conv2d(1, 6, k, s), ps.Conv2d(1, 6, k, s) + ps.Conv2d(6, 50, k, s))]",
    "S4-37": "ps.Conv2d(C, 1, k, bias=False).count",
    "S4-38": "[ps.Conv2d(C, K, k, bias=False).count, ps.Parameter((K,)).count, ps.Conv2d(C, K, k).count]",
    "S4-40": "prod(output_shape(ps.Conv2d(6, K, k, 2), (1, 6, 13, 13))[1:])",
    "S4-42": "ps.Conv2d(D, K, k, dialect='keras').shapes()['kernel']",
    "S4-46": "ps.Conv2d(D, 1, k, bias=False).count",
    "S4-48": "ps.Conv2d(z, 1, (x, y), dialect='keras').shapes()['kernel'][:3]",
    "SUM-02": "read('12*(3*(49152+768))').stated.value",
    "SUM-04": "read('1797120+590592+1536+4722432+1536').stated.value",
    "SUM-05": "read('12*7113216').stated.value",
    "SUM-06": "read('23837184+85358592+590592').stated.value",
    "SUM-14": "read('12592128*24').stated.value",
    "SUM-15": "read('31782912+302211072+1049600').stated.value",
    "SUM-16": "read('23440896+393216+1536').stated.value",
    "SUM-17": "read('1769472+589824+4718592').stated.value",
    "SUM-18": "read('7077888*12').stated.value",
    "SUM-20": "read('23835648+84934656').stated.value",
}

_MATLAB = "The question is how a MATLAB function arranges its data; no layer stores anything there."
_PCA = "Principal components are a decomposition of data, not a layer."
_ENTROPY = "It counts levels of a histogram, not parameters, shapes or neurons."

OUTSIDE: dict[str, tuple[str, str | None]] = {
    "S0-31": ("An error message of MATLAB's layer graph. What the three readings of its data store is counted under convolutions.", None),
    "S0-38": ("The filter size follows from a rule of thumb about sigma, which no layer states.", None),
    "S0-39": (_MATLAB, None),
    "S0-41": ("The question is about the values at the border of a convolution, not about a count or a shape.", None),
    "S0-59": ("The number of voxels of an image is a simple product.", "[x*y*z, t]"),
    "S0-60": (_PCA, None),
    "S0-61": (_PCA, None),
    "S0-65": (_ENTROPY, "b"),
    "S0-66": (_ENTROPY, "b**2"),
    "S0-67": (_ENTROPY, "b**3"),
    "S0-68": (_ENTROPY, "b**3"),
    "S0-69": (_ENTROPY, "[8*n for n in (1, 2, 3)]"),
    "S4-25": ("The six layers behind the front end are not described, so nothing can be counted.", None),
    "S4-29": ("The question is about a value of the sigmoid, not about a count or a shape.", None),
}

QUESTIONS: dict[str, tuple[str, str]] = {
    "Q-01": (
        f"{_BASE}.count",
        (
            "L, H and A are not enough: the vocabulary V, the positions P, the token types T and the feed-forward width F enter as well."
            f" The formula is {{{_BERT}.params}}, at the published sizes {{{_BASE}.count:,}}. {{ps.reconcile({_BASE}, '110M')}}."
        ),
    ),
    "Q-02": (
        "L*H*H*A",
        (
            f"The blocks' matrices are {{ps.conventions({_BERT})['non-embedding (Kaplan)'].formula}}; with F = 4*H that is"
            f" {{ps.conventions({_BERT}.at(F=4*ps.H))['non-embedding (Kaplan)'].params}}: the 12 is 4 + 2*4 and not A."
            " In BERT large, where A is 16, the two differ:"
            " {16*24*1024**2:,} is not {int(ps.conventions(ps.models.Bert().at('bert-large-uncased'))['non-embedding (Kaplan)'].params):,}."
        ),
    ),
    "Q-03": ("read('12*768*12').stated.value", f"No. {{ps.reconcile({_BASE}, '12*768*12 = 110M')[0].readings[0]}}."),
    "Q-04": (
        "ps.MultiHeadAttention(ps.H, ps.A).params.diff(ps.A)",
        (
            "{ps.explain(ps.MultiHeadAttention(ps.H, ps.A), ps.A).verdict}"
            " The condition is that a head has the size H/A; with a separate head size D, the derivative is"
            " {ps.explain(ps.MultiHeadAttention(ps.H, ps.A, head_dim=ps.D), ps.A).derivative}."
        ),
    ),
    "Q-05": (
        "ps.MultiHeadAttention(H, A).count - ps.Dense((A, per(H, A)), H).count - 3*ps.Dense(H, per(H, A)).count",
        (
            f"No: every head has its own slice of each matrix, {{{_QKV}.count:,}} parameters per layer of BERT base, for any number of heads."
            f" Matrices shared by all heads would have {{{_ONE_HEAD}.count:,}}; with only keys and values shared (multi-query attention),"
            " {ps.Block(query=ps.Dense(H, H), key=ps.Dense(H, per(H, A)), value=ps.Dense(H, per(H, A))).count:,}."
        ),
    ),
    "Q-06": (
        "ps.MultiHeadAttention(H, 12).count",
        (
            "A head has the size H/A, so 12 heads together are one H by H matrix, and the fourth matrix combines the heads:"
            " {ps.MultiHeadAttention(ps.H, ps.A).params} = {ps.MultiHeadAttention(H, 12).count:,}. The other product,"
            " {12*3*(768*768 + 768):,}, counts 12 heads of full width and forgets the fourth matrix."
        ),
    ),
    "Q-07": (
        f"{_FFN}.count",
        (
            "No. A layer of BERT base is attention {ps.MultiHeadAttention(H, 12).count:,}, feed-forward {ps.FeedForward(H, F).count:,} and two"
            " norms {2*ps.LayerNorm(H).count:,}, together {ps.models.Bert().part('encoder.layer.0').at(H=H, F=F, A=12).count:,}."
        ),
    ),
    "Q-08": (
        "ps.MultiHeadAttention(ps.H, ps.A).params.diff(ps.A)",
        (
            "No. With 1, 4, 12 and 64 heads the count is {[ps.MultiHeadAttention(768, heads).count for heads in (1, 4, 12, 64)]}."
            " The number of heads must divide the hidden size: {refusal(ps.MultiHeadAttention, 768, 10)}"
        ),
    ),
    "Q-09": (
        "1 - ps.Dense(768, stored).count / ps.Dense(768, F).count",
        (
            f"No: the stored parameters stay the same, or grow ({{{_FFF}.count:,}} for a tree of depth 11, {{ps.FeedForward(768, F).count:,}} for the dense"
            f" network). A token uses only {{int({_FFF}.active):,}} of them."
        ),
    ),
    "Q-10": (
        "ps.LayerNorm(H).count + ps.Repeat(ps.Parameter(9*H + F), L).count + ps.Dense(H, H).count",
        (
            "The norm after the embeddings {ps.LayerNorm(H).count:,}, the biases and norms of the blocks {L*(9*H + F):,}, and the pooler"
            " {ps.Dense(H, H).count:,}. Most of the difference is the pooler's matrix."
        ),
    ),
    "Q-11": (
        "ps.Conv2d(C, K, 1, bias=False).count",
        (
            "{K} kernels of 3 by 3 by {C}, or {ps.Conv2d(C, K, 1, bias=False).count} slices of 3 by 3: two terms for the same"
            " {ps.Conv2d(C, K, 3, bias=False).count} weights, plus {K} biases."
        ),
    ),
    "Q-12": (
        "[ps.Conv1d(1, m, b, stride=b).count, ps.Conv1d(n, 60, 1, groups=20).count, ps.Dense(n, 60).count, ps.Conv2d(n, 60, (b, 1)).count]",
        (
            "Conv1d(1, 3, 5, stride=5) shares its weights between the blocks: {ps.Conv1d(1, m, b, stride=b).count}. Unshared, 20 groups:"
            " {ps.Conv1d(n, 60, 1, groups=20).count}. A dense layer has {ps.Dense(n, 60).count:,}; the Conv2d that treats samples as channels has"
            " {ps.Conv2d(n, 60, (b, 1)).count:,}."
        ),
    ),
    "Q-13": (
        "ps.Conv2d(C, K, (kh, kw)).shapes()['weight']",
        (
            "The input has {C} channels and two spatial axes. One kernel has the same three axes, because it spans all channels; {K} kernels stacked"
            " make the weight {ps.Conv2d(C, K, (kh, kw)).shapes()['weight']}. A kernel slides along the two spatial axes only."
        ),
    ),
    "Q-14": (
        "[ps.Parameter((), 'alpha').count, ps.Dense(2, 1).count, ps.Dense(2*S, S).count]",
        (
            "One gate for everything: {ps.Parameter((), 'alpha').count} parameter. One gate per token, computed from both values: Dense(2, 1),"
            " {ps.Dense(2, 1).count}. Gates computed from all values: Dense({2*S}, {S}), {ps.Dense(2*S, S).count:,}."
        ),
    ),
    "Q-15": (
        "7800 - ps.Conv2d(C, K, k).count",
        (
            "{ps.Conv2d(C, K, k).count:,}: one bias per filter. {ps.reconcile(ps.Conv2d(ps.C, ps.K, ps.dims('k')), 7800,"
            " at={'C': C, 'K': K, 'k': k})}. The claimed number of connections is wrong as well:"
            " {prod(output_shape(ps.Conv2d(C, K, k, 2), (1, C, 13, 13))[1:]) * ps.Conv2d(C, 1, k).count:,} instead of 32,500."
        ),
    ),
    "Q-16": (
        "ps.Conv2d(D, Y, (N, M), bias=False).count - ps.Conv2d(1, Y, (N, M), bias=False).count",
        (
            "A kernel spans all {D} input channels: {ps.Conv2d(ps.D, ps.K, ps.W, bias=False).params} for D channels, K filters and kernel size"
            " W, {ps.Conv2d(D, Y, (N, M), bias=False).count:,} here. Without the factor D it is {ps.Conv2d(1, Y, (N, M), bias=False).count:,}."
        ),
    ),
    "Q-17": (
        "ps.Conv2d(D, K, k, groups=g, bias=False).count",
        (
            "By default every output sees every input channel, {ps.Conv2d(D, K, k, bias=False).count:,} weights. With groups={g} each sees its"
            " own: {ps.Conv2d(D, K, k, groups=g, bias=False).count:,}; in Keras that is DepthwiseConv2D with depth_multiplier={K // D}."
        ),
    ),
    "Q-18": (
        "prod(output_shape(ps.Conv2d(4, K, 5, 2), (1, 4, 11, 11))[1:])",
        (
            "Neither: {output_shape(ps.Conv2d(4, K, 5, 2), (1, 4, 11, 11))[2]} is one side. The output {output_shape(ps.Conv2d(4, K, 5, 2),"
            " (1, 4, 11, 11))[1:]} has {prod(output_shape(ps.Conv2d(4, K, 5, 2), (1, 4, 11, 11))[1:])} neurons; each of them sums over the depth"
            " of the input."
        ),
    ),
    "Q-19": (
        "ps.Conv2d(D, ps.K, F).params.diff(ps.K)",
        (
            "K is the number of filters, which you choose. Each further filter costs {ps.Conv2d(D, ps.K, F).params.diff(ps.K)} parameters and adds"
            " {prod(output_shape(ps.Conv2d(D, 1, F, 4), (1, D, 227, 227))[1:]):,} neurons."
        ),
    ),
    "Q-20": (
        "output_shape(ps.Conv2d(4, 2, (Fh, Fw), S), (1, 4, Hh, W))[2:]",
        (
            "The output's width and height follow in the same way from the input's: {output_shape(ps.Conv2d(4, 2, (Fh, Fw), S), (1, 4, Hh, W))[2:]}. The"
            " number of parameters depends on neither: {ps.Conv2d(ps.C, ps.K, ps.F).params}."
        ),
    ),
    "Q-21": (
        (
            "[matlab_net(1), matlab_net(2), ps.Sequential(ps.Conv1d(512, 20, 3), ps.Conv1d(20, 10, 3), ps.Dense(10, 20), ps.Dense(20, 10),"
            " ps.Dense(10, 3)).count]"
        ),
        (
            "Because MATLAB takes the 512 features for channels, and no axis is left to slide along. As 512 positions of one channel, the network has"
            " {matlab_net(1):,} parameters (pooling by one step; {matlab_net(2):,} by two); as 512 channels over time"
            " {ps.Sequential(ps.Conv1d(512, 20, 3), ps.Conv1d(20, 10, 3), ps.Dense(10, 20), ps.Dense(20, 10), ps.Dense(10, 3)).count:,}."
        ),
    ),
    "Q-22": (
        "output_shape(ps.Conv3d(1, 1, (b1, b2, b3), padding=(b1-1, b2-1, b3-1)), (1, 1, a1, a2, a3))[2:]",
        (
            "Any size. A full convolution is a convolution with padding k - 1: {output_shape(ps.Conv3d(1, 1, (b1, b2, b3), padding=(b1-1, b2-1, b3-1)),"
            " (1, 1, a1, a2, a3))[2:]} for the sizes here, a + b - 1 along each axis."
        ),
    ),
    "Q-23": ("[t, min(n-1, t)]", f"Outside the library. {_PCA} Its shapes, {{[t, min(n-1, t)]}}, follow from the rank alone."),
    "Q-24": (
        "output_shape(ps.Dense(100, k), (n, 100))",
        (
            "The projection to k components is a dense layer without bias, 100 to k: {output_shape(ps.Dense(100, k), (n, 100))}. Which"
            " directions are chosen depends on the data, and is outside the library."
        ),
    ),
    "Q-25": ("b**2", f"Outside the library. {_ENTROPY} Pairs of bytes have {{b**2:,}} levels."),
    "Q-26": (
        f"{_BASE}.count - ps.Repeat({_LAYER}, 12).at(H=768, F=3072, A=12).count - ps.Dense(768, 768).count + 24*ps.LayerNorm(768).count",
        (
            f"No: embeddings and the weights of norms are parameters, too. In BERT base the embeddings have"
            f" {{int({_BASE}.ledger().where(lambda line: (line.role == 'table')).stored):,}} of {{{_BASE}.count:,}}."
        ),
    ),
}

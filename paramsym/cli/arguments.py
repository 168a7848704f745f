"""What the command line takes: commands, arguments, help. Only argparse is loaded here, so that ``--help`` answers at once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn, cast

from paramsym import __version__
from paramsym.cli.cost_options import COSTS, TAKES, add_options, number
from paramsym.cli.streams import complain, width

FORMATS = ("text", "latex", "markdown", "json", "html")
LANGUAGES = ("python", "numpy", "c", "javascript", "spreadsheet")
STYLES = ("terms", "lecture")
FORMS = ("expanded", "collected", "factored", "parts", "annotated", "align", "steps")
LETTERS = ("bert", "vaswani", "kaplan", "megatron", "palm", "cs231n")
_ABOUT = """Parameter counts of neural networks as algebra: the closed form, the number,
the table, and why."""
_SOURCE = "a config.json, a directory with one, '-' for a config.json on standard input, or a name such as bert or bert-base-uncased"
_CODES = """Exit codes: 0 all is well; 1 a check failed, or a claim was not explained;
2 the input was wrong."""
_EXAMPLES = """examples:
  paramsym count bert-base-uncased                  109482240
  paramsym formula config.json --format latex       the closed form, to paste
  paramsym table checkpoint/ --depth 2              sizes of the parts
  paramsym explain A bert                           why A cancels
  paramsym reconcile 110M bert-base-uncased         where a number comes from
  paramsym check checkpoint/                        config against weights
  paramsym explore gpt2                             a page with sliders
  paramsym count bert-base-uncased --set H=1024 --set A=16
"""
_COMMANDS = {
    "formula": """the closed form
The letters are those of the papers; they are listed below the formula
with their sizes. --set F=4*H replaces F by 4*H.

examples:
  paramsym formula bert
  paramsym formula bert --set F=4*H
  paramsym formula meta-llama/Meta-Llama-3-8B --format latex""",
    "latex": """the closed form as LaTeX
In the letters of a paper with --letters, or in letters of your own; --form is
how it is written, and --of is a cost instead of the parameters.

examples:
  paramsym latex gpt2
  paramsym latex gpt2 --letters megatron --form factored
  paramsym latex gpt2 --letters H=d,L=n --form parts
  paramsym latex gpt2 --of flops --letters kaplan""",
    "count": """the number of parameters
On a terminal it names the class; into a file or a pipe it prints the digits
alone, for scripts. --format json has the trained, the active and the total
number, the class, the formula and the sizes.

examples:
  paramsym count config.json
  paramsym count config.json --architecture BertModel
  paramsym count bert --set H=768 --set A=12 --set L=12 --set F=4*H \\
                      --set V=30522 --set P=512 --set T=2""",
    "table": """every tensor, or every part down to a depth
One row per tensor, numbered copies under a template name; with --depth
one row per part.

examples:
  paramsym table config.json --depth 3
  paramsym table bert-base-uncased --format csv > tensors.csv""",
    "explain": """why a letter changes the count, or does not
Says how the count depends on a letter, tensor by tensor: whether it
cancels and why, or through which tensors it enters.

examples:
  paramsym explain A bert
  paramsym explain G config.json --format latex
  paramsym explain A gpt2 --of activations
  paramsym explain A gpt2 --style lecture --format latex""",
    "reconcile": """where a claimed number comes from
A claim is a number (109486464), a rounded one (110M, "1.5B"), arithmetic
("12*768*12 = 110M"), an expression in the model's letters ("12*L*H**2"), or
another model. Several claims, each with its source, are the rows of a table:
the answer is the one term that fits all of them. Exit code 0 if it is right or
explained, 1 if it is not.

examples:
  paramsym reconcile 109786368 bert-base-uncased
  paramsym reconcile "12*L*H**2" gpt2
  paramsym reconcile bert-base-cased bert-base-uncased
  paramsym reconcile "4.1 GFLOPs" resnet50 --of flops -b 1 --side 224
  paramsym reconcile "2.1 GB" llama-2-7b-hf --of cache -b 1 -n 4096 \\
                     --dtype float16
  paramsym reconcile 109786368 bert-base-uncased 336247808 bert-large-uncased""",
    "conventions": """every way to count the same model
The same model counted in every usual meaning of "parameters":
tied tensors once or twice, without embeddings, active per token, ...

example:
  paramsym conventions config.json""",
    "compare": """two models side by side, part by part
The difference of every part, and the sizes at which the two are equal if
they are in letters. --of compares a cost.

examples:
  paramsym compare gpt2 gpt2-medium
  paramsym compare gpt2 bert --of flops""",
    "sweep": """the number for each of several sizes
--over gives the values of a letter: a list, or a range with a step.

examples:
  paramsym sweep gpt2 --over L=12,24,48
  paramsym sweep gpt2 --over H=256..1024:256 --over A=4,8 --format csv""",
    "solve": """the sizes that give a number
A target is a number, a rounded one (350M), or a limit ("<= 1B"). --over gives
the candidates of each letter; other letters keep the model's sizes.

examples:
  paramsym solve 350M gpt2 --over H=256..2048:64 --over L=1..48
  paramsym solve "<= 1B" gpt2 --over H=256..4096:64 --over L=1..48 --best 5""",
    "export": f"""code that computes the number from the sizes
Languages: {", ".join(LANGUAGES)}.

examples:
  paramsym export gpt2
  paramsym export gpt2 --language javascript
  paramsym export gpt2 --of flops --language c""",
    "flops": """the work of a forward pass
Multiply-adds of products and convolutions, 2 each, for the model's own
inputs: B examples of S positions, or images of the model's size.

examples:
  paramsym flops gpt2
  paramsym flops meta-llama/Meta-Llama-3-8B --batch 1 --positions 2048 --depth 2
  paramsym flops gpt2 --way both --convention megatron
  paramsym flops gpt2 --batch 1 --positions 1 --past 1023""",
    "macs": """the work of a forward pass in multiply-adds
Half of the FLOPs: one for each multiply-add of products and convolutions.

example:
  paramsym macs resnet50 --batch 1 --side 224""",
    "activations": """what training keeps for the backward pass
Bytes that the forward pass keeps for the backward pass, as torch's plain
operations keep them unless --convention says otherwise. If the model is split
over devices, the bytes are those of one device.

examples:
  paramsym activations gpt2 --batch 8 --positions 1024
  paramsym activations gpt2 -b 8 -n 1024 --convention torch-sdpa \\
                      --dtype bfloat16 --recompute full --tensor 2 --sequence""",
    "cache": """what is kept for the next token
What is kept for the next token: keys and values, or other states; numbers,
or bytes with --dtype.

example:
  paramsym cache meta-llama/Llama-2-70b-hf --batch 1 --positions 4096 --dtype float16""",
    "memory": """the memory of training or inference
Training: weights, gradients, the states of an optimizer, activations. With
--inference: weights, the cache, the arrays of the widest moment. If the model
is split over devices, the bytes are those of one device.

examples:
  paramsym memory gpt2 --batch 8 --positions 1024
  paramsym memory gpt2 -b 8 -n 1024 --dtype bfloat16 --gradients float32 \\
                  --optimizer adam --zero 1 --devices 8 --recompute full
  paramsym memory gpt2 --batch 8 --positions 1024 --inference --dtype float16
  paramsym memory gpt2 -b 1 -n 1024 --inference --weights gguf-q4_0""",
    "traffic": """the bytes that a forward pass moves
Bytes that products read and write in one forward pass, or in one step
after --past positions.

example:
  paramsym traffic gpt2 --batch 1 --positions 1 --past 1023""",
    "intensity": """FLOPs per byte, and whether arithmetic or memory is the limit
FLOPs per byte moved; with --machine, also whether arithmetic or memory is
the limit.

examples:
  paramsym intensity gpt2 --batch 1 --positions 1024
  paramsym intensity gpt2 -b 8 -n 1 --past 1023 --machine h100""",
    "training": """FLOPs and days of a training run
FLOPs of a whole training run, compared with 6ND, and the days that it takes.

example:
  paramsym training gpt2 -n 1024 --tokens 300B --devices 64 \\
                    --machine a100 --utilisation "40 %" """,
    "communication": """the bytes that devices send each other
Bytes that each device sends in one training step. --sharing is the kind of
parallelism: data, zero-1, zero-2, zero-3, fsdp, tensor, sequence, pipeline or
context.

examples:
  paramsym communication gpt2 --devices 8
  paramsym communication gpt2 -b 1 -n 1024 --sharing tensor --devices 2""",
    "check": """a checkpoint against its own config.json
Reads config.json and the headers of the safetensors files beside it (no
weights) and compares tensor by tensor. Exit code 0 if every difference is
explained, 1 if not.

examples:
  paramsym check path/to/checkpoint
  paramsym check path/to/checkpoint --architecture BertModel""",
    "explore": """a page with sliders, in the browser or as a file
Writes one HTML file that works without a network: sliders for the sizes,
the formula term by term, its parts, every question, why a letter cancels.
Without --output it opens in the browser. A second model is shown beside it.

examples:
  paramsym explore gpt2
  paramsym explore gpt2 -o page.html
  paramsym explore gpt2 gpt2-medium""",
    "families": """the models that are known by name
Without a name: every family. With a name: its classes and its
published sizes.

examples:
  paramsym families
  paramsym families bert""",
}
"""The summary of each command, then its notes."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line; options are written in full."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Read no abbreviations: ``--input`` is not ``--input-gradients``."""
        super().__init__(*arguments, **{**named, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        command = self.prog.partition(" ")[2]
        complain(f"{message} (see {self.prog} --help)", command)
        raise SystemExit(2)


def _layout(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=26, width=min(width(), 100) - 2)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = _Parser("paramsym", description=_ABOUT, epilog=f"{_EXAMPLES}\n{_CODES}", formatter_class=_layout)
    top.add_argument("-V", "--version", action="version", version=f"paramsym {__version__}")
    commands = top.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for name, words in _COMMANDS.items():
        summary, _, notes = words.partition("\n")
        said = f"{summary[0].upper()}{summary[1:]}."
        _add_arguments(commands.add_parser(name, help=summary, description=said, epilog=notes, formatter_class=_layout), name)
    return top


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed command line; raise ``SystemExit`` after an error, or after ``--help``."""
    top = parser()
    found, unknown = top.parse_known_args(argv)
    if unknown:
        complain(f"unrecognized arguments: {' '.join(unknown)} (see {top.prog} {found.command} --help)", found.command)
        raise SystemExit(2)
    # Until Python 3.13 argparse reads `--set=--` as an option with no value at all, and gives a list for it.
    given = [value for name, value in vars(found).items() if name not in {"sizes", "more"}] + list(getattr(found, "sizes", ()))
    if [] in given:
        top.error("an option has the value '--', which is not a value")
    return found


def _add_arguments(command: argparse.ArgumentParser, name: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one case for each kind of command
    depth: dict[str, Any] = {"metavar": "N", "type": number(1, "{!a} is not a depth; wanted a whole number from {}")}
    if name == "explain":
        command.add_argument("asked", metavar="SYMBOL", help="a letter of the model, such as A")
        command.add_argument("--style", choices=STYLES, default="terms", help="the sentences of a list, or those of a lecture")
    if name == "reconcile":
        command.add_argument("asked", metavar="CLAIM", help="a number, arithmetic, or another model")
    if name == "solve":
        command.add_argument("asked", metavar="TARGET", help='a number, a rounded one such as 350M, or a limit such as "<= 1B"')
    if name == "check":
        command.add_argument("source", metavar="DIR", help="a directory with config.json and safetensors files")
    elif name == "families":
        command.add_argument("source", metavar="NAME", nargs="?", help="a family")
    else:
        command.add_argument("source", metavar="SOURCE", help=_SOURCE)
    if name == "compare":
        command.add_argument("other", metavar="OTHER", help="the second model")
    if name == "explore":
        command.add_argument("more", metavar="OTHER", nargs="*", help="a second model, shown beside the first")
    if name in {"solve", "sweep"}:
        tried: dict[str, Any] = {"metavar": "NAME=VALUES", "action": "append", "default": [], "required": True}
        command.add_argument("--over", help="values of a letter: H=64..1024:64, L=12,24 or F=4*H; may be repeated", **tried)
    if name == "solve":
        command.add_argument("--best", metavar="N", type=number(1), help="the N nearest solutions")
    if name == "export":
        command.add_argument("--language", choices=LANGUAGES, default="python", metavar="NAME", help=f"one of {', '.join(LANGUAGES)}")
    if name == "reconcile":
        command.add_argument("more", metavar="CLAIM SOURCE", nargs="*", help="further claims with their sources: the rows of a table")
    if name != "families":
        command.add_argument("-a", "--architecture", metavar="CLASS", help="the reference's class, such as BertForMaskedLM")
        command.add_argument("--strict", action="store_true", help="refuse unknown config keys instead of warning")
    if name not in {"check", "families"}:
        command.add_argument(
            "-s",
            "--set",
            metavar="NAME=VALUE",
            action="append",
            default=[],
            dest="sizes",
            help="put in a size: H=1024, F=4*H, or a key of the config: num_hidden_layers=24; may be repeated",
        )
    if name == "table":
        command.add_argument("-d", "--depth", help="one row per part, N levels down", **depth)
        command.add_argument("--buffers", action="store_true", help="list buffers, too")
    if name in COSTS:
        command.add_argument("-d", "--depth", default=1, help="one row per part, N levels down (default: 1)", **depth)
    if name == "latex":
        command.add_argument("--form", choices=FORMS, default="expanded", metavar="NAME", help=f"one of {', '.join(FORMS)}")
        command.add_argument("--by", metavar="LETTER", help="the letter by whose powers --form collected orders")
        command.add_argument("-d", "--depth", help="the depth of the parts that --form parts, annotated and align name", **depth)
        command.add_argument("--standalone", action="store_true", help="a whole document, to compile as it is")
    if name in {"formula", "latex", "table", "explain", *COSTS}:
        of_papers = f"the letters of a paper in LaTeX and HTML: one of {', '.join(LETTERS)}; or your own: H=d,L=n"
        command.add_argument("--letters", metavar="NAME", type=_letters, help=of_papers)
    asks = name in {"latex", "explain", "reconcile", "compare", "sweep", "solve", "export"}
    if asks:
        command.add_argument("--of", choices=COSTS, metavar="COST", help=f"a cost instead of the parameters: {', '.join(COSTS)}")
    if asks or name in TAKES:
        size: dict[str, Any] = {"metavar": "N", "type": number(1, "{!a} is not a size; wanted a whole number from {}")}
        command.add_argument("-b", "--batch", help="the batch size B", **size)
        command.add_argument("-n", "--positions", help="the sequence length S", **size)
        command.add_argument("--side", help="the pixels along each side of an image, for the letter W", **size)
    if asks:
        group = command.add_argument_group("options with --of", "the options of the command with that name")
        add_options(cast("argparse.ArgumentParser", group), *COSTS)
    elif name in TAKES:
        add_options(command, name)
    if name == "explore":
        command.add_argument("-o", "--output", metavar="FILE", help="write the page to this file instead of opening it")
        command.set_defaults(format="text")
        return
    if name in {"latex", "export"}:
        command.set_defaults(format="latex" if name == "latex" else "text")
        return
    formats = (*FORMATS, "csv") if name in {"table", "conventions", "families", "compare", "sweep", "solve", *TAKES} else FORMATS
    command.add_argument("-f", "--format", choices=formats, default="text", metavar="FORMAT", help=f"one of {', '.join(formats)}")


def _letters(text: str) -> str | dict[str, str]:
    """Read the name of a paper's letters, or letters with their LaTeX."""
    return {letter: latex for letter, _, latex in (pair.partition("=") for pair in text.split(","))} if "=" in text else text

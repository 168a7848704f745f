"""A closed form as source code: Python, NumPy, C, JavaScript, a spreadsheet formula; factored, with its conditions as checks.

Several closed forms make one function, which shares their steps and returns the counts by name or in order.

Python and JavaScript (BigInt) are exact at any size. C counts in 64 bits and reports an overflow. NumPy counts in the type of its arrays,
which a comment in the source says, and a spreadsheet in doubles, exact below 2**53.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, TypeAlias, cast

from paramsym.analysis.counted import Counted, title as title_of, words
from paramsym.analysis.evaluate.compiling import compiled, compiled_together
from paramsym.analysis.evaluate.refusal import refusal
from paramsym.analysis.evaluate.straight_line import CHECKS, QUOTIENTS, Check, Op, StraightLine
from paramsym.analysis.formula import Subject
from paramsym.errors import ArgumentError, SizeError
from paramsym.measure.cost import Cost
from paramsym.naming import MOST_BITS, described, quoted
from paramsym.render.table import Printed

Language: TypeAlias = Literal["python", "numpy", "c", "javascript", "spreadsheet"]
_LANGUAGES = ("python", "numpy", "c", "javascript", "spreadsheet")
_RESERVED = {
    "c": "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict "
    "return short signed sizeof static struct switch typedef union unsigned void volatile while int64_t bad found",
    "javascript": "await break case catch class const continue debugger default delete do else enum export extends false finally for "
    "function if import in instanceof let new null return super switch this throw true try typeof var void while with yield eval arguments "
    "static implements interface package private protected public BigInt RangeError mod floordiv max min",
    "numpy": "np ValueError",
    "python": "min max ValueError",
}
_CELLS: dict[str, str] = {"most": "<=", "equal": "=", "differ": "<>"}  # comparisons of a spreadsheet for a condition that holds
_ATOM = 9
_BINDING = {
    **dict.fromkeys(("add", "sub"), (1, 1, 2)),
    **dict.fromkeys(("mul", "floordiv", "mod", *QUOTIENTS), (2, 2, 3)),
    "pow": (3, _ATOM, _ATOM),
}
"""The precedence of an operator and of its operands; a call has the precedence of an atom, and takes any operand."""
_LONGEST_CELL = 8192  # characters in a formula, the limit of the common spreadsheets


@dataclass(frozen=True)
class Source(Printed):
    """Source code of one function, or of one cell; ``arguments`` are its sizes in order. ``str`` is the code."""

    language: str
    code: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return self.code


def export(
    subject: Subject | Mapping[str, Subject] | Sequence[Subject],
    language: Language = "python",
    *,
    name: str | None = None,
    cells: Mapping[str, str] | None = None,
) -> Source:
    """Return source code that computes a count from its sizes, with the conditions between them checked.

    For a mapping from names to subjects, the function returns all counts by these names: a dict in Python and NumPy, an object in
    JavaScript. For a list of subjects, it returns a list. It checks the conditions of all of them.

    ``name`` is the function's name, by default ``params``, and ``cost`` for a cost. For a spreadsheet, ``cells`` gives the cell of each
    size (``{"H": "B2"}``); without it, sizes are referred to by name, for named ranges. A broken condition raises in Python, NumPy and
    JavaScript, returns -1 in C, and gives #N/A in a spreadsheet. A spreadsheet counts in doubles: exact below 2**53, about 9.0e15.

    Raises:
        ArgumentError: an unknown language, a name that the language does not allow, a size without a cell, or several subjects in a
            language that cannot return them.
        SizeError: a formula that a cell cannot hold, or a constant beyond 64 bits in C or NumPy.

    >>> from paramsym import Dense, F, H
    >>> print(export(Dense(H, F)))
    def params(F, H):
        if min(F, H) < 1:
            raise ValueError(f'wanted 1 or more; found {F=}, {H=}.')
        return (H + 1) * F
    >>> print(export(Dense(H, F), "spreadsheet", cells={"H": "B1", "F": "B2"}))
    =IF(MIN(B2,B1)>=1,(B1+1)*B2,NA())
    >>> print(export({"weight": H * F, "all": Dense(H, F)}))
    def params(F, H):
        if min(F, H) < 1:
            raise ValueError(f'wanted 1 or more; found {F=}, {H=}.')
        return {'weight': F * H, 'all': (H + 1) * F}
    """
    given: Any = language  # callers without a type checker
    if not isinstance(given, str) or language not in _LANGUAGES:
        message = f"language is {quoted(language)}; wanted one of {', '.join(_LANGUAGES)}."
        raise ArgumentError(message)
    name = name if name is not None else "cost" if isinstance(subject, Cost) else "params"
    subjects: Any = subject.values() if isinstance(subject, Mapping) else subject
    keys: _Keys = tuple(subject) if isinstance(subject, Mapping) else () if isinstance(subject, list | tuple) else None
    if keys is not None and language in {"c", "spreadsheet"}:
        message = f"{language} gives one count; export a list of {len(subjects)} to python, numpy or javascript."
        raise ArgumentError(message)
    if keys is not None and not (subject and all(isinstance(key, str) for key in keys)):
        message = "wanted subjects by name or in a list, as in {'weight': H * F} or [H * F]."
        raise ArgumentError(message)
    program = compiled(subjects) if keys is None else compiled_together(subjects)
    names = tuple(symbol.name for symbol in program.inputs)
    reserved = _RESERVED.get(language, "").split()
    for one in (name, *names):
        wrong = not isinstance(one, str) or not one.isascii() or not one.isidentifier() or keyword.iskeyword(one) or one in reserved
        if wrong and not (language == "spreadsheet" and one == name):
            message = f"{quoted(one)} is not a name in {language}; choose another."
            raise ArgumentError(message)
    if name in names:
        message = f"the function cannot be called {name!r}, because one of its sizes has this name; choose another."
        raise ArgumentError(message)
    if language in {"c", "numpy"} and any(abs(constant) >= 2**63 for constant in program.constants):
        message = f"the formula has a constant beyond 64 bits, which {language} does not hold; export it to python or javascript."
        raise SizeError(message)
    if language == "spreadsheet":
        return _spreadsheet(program, names, cells)
    writer = {"python": _python, "numpy": _numpy, "c": _c, "javascript": _javascript}[language]
    title = f"The number of {words(subject).unit} of {title_of(subject)}." if isinstance(subject, Counted) else ""
    return Source(language, writer(program, names, name, keys, title), names)


class _Writer:
    """Writes every step into the step that reads it; a step that is read twice, or checked, gets a variable.

    A text has a precedence; parentheses are written only if they are needed.
    """

    def __init__(self, program: StraightLine, names: tuple[str, ...], templates: Mapping[str, str], constant: str = "{}") -> None:
        self.program, self.templates = program, templates
        self.texts: dict[int, tuple[str, int]] = {i: (one, _ATOM) for i, one in enumerate(names)}
        for i, value in enumerate(program.constants, len(names)):
            if value.bit_length() > MOST_BITS:
                message = f"the formula has {described(value)}; {MOST_BITS} are the limit."
                raise SizeError(message)
            self.texts[i] = (constant.format(value), _ATOM if value >= 0 else 0)

    def write(self, position: int, op: Op) -> str:
        """Write one step with its operands; return its text."""
        template = self.templates[op.kind]
        binds, *least = (_ATOM, 0, 0) if "(" in template else _BINDING[op.kind]
        text = template.format(*(self._operand(register, one) for register, one in zip((op.left, op.right), least, strict=True)))
        self.texts[position] = text, binds
        return text

    def operand(self, register: int) -> str:
        """Return a text that can be an operand of any operator."""
        return self._operand(register, _ATOM)

    def _operand(self, register: int, least: int) -> str:
        text, binds = self.texts[register]
        return text if binds >= least else f"({text})"

    def result(self) -> str:
        """Return the text of the answer."""
        return self.texts[self.program.result][0]

    def results(self, keys: _Keys) -> str:
        """Return the text of the answer, or of the answers by name or in order, in the form of Python and JavaScript."""
        if keys is None:
            return self.result()
        texts = [self.texts[one][0] for one in self.program.results]
        if not keys:
            return f"[{', '.join(texts)}]"
        return f"{{{', '.join(f'{key!r}: {text}' for key, text in zip(keys, texts, strict=True))}}}"

    def reads(self) -> dict[int, int]:
        """The number of reads of each register."""
        found: dict[int, int] = {}
        for register in self.program.results:
            found[register] = found.get(register, 0) + 1
        for op in self.program.ops:
            for register in (op.left, op.right):
                found[register] = found.get(register, 0) + 1
        return found


def _least(program: StraightLine, names: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """Yield 0 and 1, each with the sizes that have this least value."""
    for least in (0, 1):
        found = [name for name, low in zip(names, program.least, strict=True) if low == least]
        if found:
            yield least, found


def _lows(program: StraightLine, names: tuple[str, ...]) -> list[tuple[int, str, int]]:
    """Return the sizes with a least value above 1, such as images that must be as large as a kernel."""
    return [(place, name, low) for place, (name, low) in enumerate(zip(names, program.least, strict=True)) if low > 1]


_Keys: TypeAlias = tuple[str, ...] | None
"""The names of several results; empty for a list of results, None for one result."""
_Check: TypeAlias = Callable[[int, Op, str, str], str]
"""Writes the check of the step at a register, given the texts of its operands; empty for a step that checks nothing."""
_Lowest: TypeAlias = Callable[[int, list[str]], str]
"""Writes the check that no size of a list is below a least value."""


def _body(writer: _Writer, assign: str, check: _Check, lowest: _Lowest, names: tuple[str, ...]) -> list[str]:
    """Return the statements before the result: checks, and steps that are read more than once."""
    reads = writer.reads()
    labels = (label for number in count(1) if (label := f"t{number}") not in names)
    lines = [lowest(*group) for group in _least(writer.program, names)]
    lines += [check(place, Op("most", place, place), str(low), name) for place, name, low in _lows(writer.program, names)]
    for position, op in enumerate(writer.program.ops, writer.program.first):
        if op.kind in CHECKS or op.kind in QUOTIENTS:
            lines.append(check(position, op, writer.operand(op.left), writer.operand(op.right)))
        if op.kind not in CHECKS:
            text = writer.write(position, op)
            if reads.get(position, 0) > 1:
                writer.texts[position] = (next(labels), _ATOM)
                lines.append(assign.format(writer.texts[position][0], text))
    return lines


_BROKEN: dict[Check, tuple[str, str]] = {"most": (">", "is more than"), "equal": ("!=", "is not"), "differ": ("==", "is")}
"""The comparison of a broken condition, and its words."""


def _checks(divide: str, compare: str) -> _Check:
    """Return the writer of each check; in ``compare``, OP and WORDS are replaced by the comparison."""
    compared: dict[str, str] = {kind: compare.replace("OP", op).replace("WORDS", words) for kind, (op, words) in _BROKEN.items()}
    return lambda _, op, left, right: compared.get(op.kind, divide).format(left, right)


def _raised(program: StraightLine, divide: str, compare: str, value: str, quotient: str) -> _Check:
    """Return the writer of each check with an error in the words of the layer that states it.

    ``divide`` and ``compare`` have the placeholders OP and SAID for the comparison and the error; ``value`` shows a value inside a string.
    """

    def written(position: int, op: Op, left: str, right: str) -> str:
        template = divide if op.kind in QUOTIENTS else compare.replace("OP", _BROKEN[cast("Check", op.kind)][0])
        one, other = (text.removesuffix("n") if text[0].isdecimal() else value.format(text) for text in (left, right))
        goes, leaves = value.format(quotient.format(left, right)), value.format(f"{left} % {right}")
        said = refusal(op.kind, program.asked.get(position), one, other, goes, leaves)
        return template.format(left, right).replace("SAID", said)

    return written


_INFIX = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}"}
_PYTHON = _INFIX | dict.fromkeys(("floordiv", *QUOTIENTS), "{} // {}") | {"mod": "{} % {}", "pow": "{} ** {}"}


def _python(program: StraightLine, names: tuple[str, ...], name: str, keys: _Keys, title: str) -> str:
    del title
    writer = _Writer(program, names, _PYTHON | {"max": "max({}, {})", "min": "min({}, {})"})
    raised = "\n        raise ValueError(f'SAID')"
    checks = _raised(program, "if {0} % {1}:" + raised, "if {0} OP {1}:" + raised, "{{{}}}", "{} // {}")

    def lowest(least: int, some: list[str]) -> str:
        smallest = some[0] if len(some) == 1 else f"min({', '.join(some)})"
        found = ", ".join(f"{{{one}=}}" for one in some)
        return f"if {smallest} < {least}:{raised.replace('SAID', f'wanted {least} or more; found {found}.')}"

    return _function(writer, names, name, keys, checks, lowest, ())


def _numpy(program: StraightLine, names: tuple[str, ...], name: str, keys: _Keys, title: str) -> str:
    del title
    writer = _Writer(program, names, _PYTHON | {"max": "np.maximum({}, {})", "min": "np.minimum({}, {})"})
    divide = "if np.any({0} % {1}):\n        raise ValueError('{0} is not divisible by {1} somewhere')"
    compare = "if np.any({0} OP {1}):\n        raise ValueError('{0} WORDS {1} somewhere')"
    note = "# int64 overflows silently beyond 2**63 - 1: pass dtype=object if that may happen."
    read = (f"{one} = np.asarray({one})" for one in names)

    def lowest(least: int, some: list[str]) -> str:
        below = " or ".join(f"np.any({one} < {least})" for one in some)
        return f"if {below}:\n        raise ValueError('wanted {least} or more of {', '.join(some)}')"

    return "import numpy as np\n\n\n" + _function(writer, names, name, keys, _checks(divide, compare), lowest, (note, *read))


def _function(
    writer: _Writer, names: tuple[str, ...], name: str, keys: _Keys, checks: _Check, lowest: _Lowest, first: tuple[str, ...]
) -> str:
    body = (*first, *_body(writer, "{} = {}", checks, lowest, names), f"return {writer.results(keys)}")
    return "\n".join([f"def {name}({', '.join(names)}):", *(f"    {line}" for line in body)])


def _c(program: StraightLine, names: tuple[str, ...], name: str, keys: _Keys, title: str) -> str:
    del keys
    for op in program.ops:
        if op.kind == "pow" and not (_is_constant(program, op.left) and program.constants[op.left - len(program.inputs)] == 2):
            message = "C has no power of whole numbers; export this formula to python or javascript."
            raise SizeError(message)
    templates = {k: f"{name}_{k}({{}}, {{}}, &bad)" for k in ("add", "sub", "mul")}
    templates |= dict.fromkeys(("floordiv", "divides", "exact"), f"{name}_div({{}}, {{}}, &bad)")
    templates |= {k: f"{name}_{k}({{}}, {{}}, &bad)" for k in ("mod", "max", "min", "pow")}
    writer = _Writer(program, names, templates, "INT64_C({})")
    divide = f"bad |= {name}_mod({{0}}, {{1}}, &bad) != 0;"

    def lowest(least: int, some: list[str]) -> str:
        return f"bad |= {' || '.join(f'{one} < {least}' for one in some)};"

    lines = _body(writer, "const int64_t {} = {};", _checks(divide, "bad |= {0} OP {1};"), lowest, names)
    body = [*(f"    {line}" for line in lines), f"    const int64_t found = {writer.result()};"]
    written = "\n".join(body)
    helpers = [_C_HELPERS[kind].replace("NAME", name) for kind in sorted(_C_HELPERS) if f"{name}_{kind}(" in written]
    comment = f"/* {title + ' ' if title else ''}-1 if a condition between the sizes is broken or the count does not fit in 64 bits. */"
    return "\n".join(
        [
            "#include <stdint.h>",
            "",
            *helpers,
            comment,
            f"int64_t {name}({', '.join(f'int64_t {one}' for one in names) or 'void'}) {{",
            "    int bad = 0;",
            *body,
            "    return bad ? -1 : found;",
            "}",
        ]
    )


_C_HEAD = "static int64_t NAME_{}(int64_t a, int64_t b, int *bad) {{ "
_C_HELPERS = {
    **{k: _C_HEAD.format(k) + f"int64_t c = 0; *bad |= __builtin_{k}_overflow(a, b, &c); return c; }}" for k in ("add", "sub", "mul")},
    "div": _C_HEAD.format("div") + "if (b <= 0) { *bad = 1; return 0; } return a / b - (a % b < 0); }",
    "mod": _C_HEAD.format("mod") + "if (b <= 0) { *bad = 1; return 0; } return (a % b + b) % b; }",
    "max": _C_HEAD.format("max") + "(void)bad; return a > b ? a : b; }",
    "min": _C_HEAD.format("min") + "(void)bad; return a < b ? a : b; }",
    "pow": _C_HEAD.format("pow") + "(void)a; if (b < 0 || b > 62) { *bad = 1; return 0; } return INT64_C(1) << b; }",
}


def _is_constant(program: StraightLine, register: int) -> bool:
    return len(program.inputs) <= register < program.first


def _javascript(program: StraightLine, names: tuple[str, ...], name: str, keys: _Keys, title: str) -> str:
    templates = _INFIX | {kind: f"{kind}({{}}, {{}})" for kind in ("floordiv", "mod", "max", "min")}
    templates |= {"divides": "{} / {}", "exact": "{} / {}", "pow": "{} ** {}"}
    writer = _Writer(program, names, templates, "{}n")
    raised = " throw new RangeError(`SAID`);"
    checks = _raised(program, "if ({0} % {1} !== 0n)" + raised, "if ({0} OP {1})" + raised, "${{{}}}", "{} / {}")

    def lowest(least: int, some: list[str]) -> str:
        below = " || ".join(f"{one} < {least}n" for one in some)
        found = ", ".join(f"{one}=${{{one}}}" for one in some)
        return f"if ({below})" + raised.replace("SAID", f"wanted {least} or more; found {found}.")

    lines = _body(writer, "const {} = {};", checks, lowest, names)
    kinds = {op.kind for op in program.ops}
    helpers = ["  const mod = (a, b) => ((a % b) + b) % b;"] if kinds & {"mod", "floordiv"} else []
    helpers += ["  const floordiv = (a, b) => (a - mod(a, b)) / b;"] if "floordiv" in kinds else []
    helpers += [f"  const {kind} = (a, b) => (a {sign} b ? a : b);" for kind, sign in (("max", ">"), ("min", "<")) if kind in kinds]
    read = [f"  [{', '.join(names)}] = [{', '.join(names)}].map(BigInt);"] if names else []
    comment = f"// {title + ' ' if title else ''}Exact: takes whole numbers, returns a BigInt."
    body = [*read, *helpers, *(f"  {line}" for line in lines), f"  return {writer.results(keys)};"]
    return "\n".join([comment, f"function {name}({', '.join(names)}) {{", *body, "}"])


def _spreadsheet(program: StraightLine, names: tuple[str, ...], cells: Mapping[str, str] | None) -> Source:
    where = {str(getattr(key, "name", key)): cell for key, cell in (cells or {}).items()}
    taken = [one for one in names if cells is None and re.fullmatch(r"[A-Za-z]{1,3}[0-9]+|[RrCc]", one)]
    if taken:
        example = f"cells={{{taken[0]!r}: 'B1', ...}}"
        message = f"{taken[0]} is a cell, row or column in a spreadsheet; give the cells of the sizes: {example}."
        raise ArgumentError(message)
    missing = [one for one in names if cells is not None and one not in where]
    if missing:
        message = f"no cell is given for {', '.join(missing)}; add it to cells=."
        raise ArgumentError(message)
    places = tuple(where.get(one, one) for one in names)
    for place in places:
        if not place.replace("$", "").replace("_", "").replace("!", "").isalnum():
            message = f"{quoted(place)} is not a cell; write it as 'B2', '$B$2' or 'Sheet1!B2'."
            raise ArgumentError(message)
    templates: dict[str, Any] = {"add": "{}+{}", "sub": "{}-{}", "mul": "{}*{}", "divides": "{}/{}", "exact": "{}/{}", "pow": "{}^{}"}
    templates |= {"floordiv": "INT(({})/({}))", "mod": "MOD({},{})", "max": "MAX({},{})", "min": "MIN({},{})"}
    writer = _Writer(program, places, templates)
    checks = [f"{some[0]}>={least}" if len(some) == 1 else f"MIN({','.join(some)})>={least}" for least, some in _least(program, places)]
    checks += [f"{low}<={place}" for _, place, low in _lows(program, places)]
    for position, op in enumerate(program.ops, program.first):
        left, right = writer.operand(op.left), writer.operand(op.right)
        if op.kind in QUOTIENTS:
            checks.append(f"MOD({left},{right})=0")
        elif op.kind in _CELLS:
            checks.append(f"{left}{_CELLS[op.kind]}{right}")
        if op.kind not in CHECKS:
            writer.write(position, op)
    found = writer.result()
    checks = list(dict.fromkeys(checks))
    condition = checks[0] if len(checks) == 1 else f"AND({','.join(checks)})"
    code = f"=IF({condition},{found},NA())" if checks else f"={found}"
    if len(code) > _LONGEST_CELL:
        message = f"the formula has {len(code)} characters; a cell can hold {_LONGEST_CELL}."
        raise SizeError(message)
    return Source("spreadsheet", code, names)

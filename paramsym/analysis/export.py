"""A closed form as source code: Python, NumPy, C, JavaScript, a spreadsheet formula; factored, with its conditions as checks.

Several closed forms make one function, which shares their steps and returns the counts by name or in order.

Python and JavaScript (BigInt) are exact at any size. C counts in 64 bits and reports an overflow. NumPy counts in the type of its arrays,
which a comment in the source says, and a spreadsheet in doubles, exact below 2**53.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from paramsym.analysis.counted import Counted, title as title_of, words
from paramsym.analysis.evaluate.compiling import compiled
from paramsym.analysis.evaluate.refusal import refusal
from paramsym.analysis.evaluate.straight_line import CHECKS, QUOTIENTS, Op, StraightLine
from paramsym.analysis.formula import Subject
from paramsym.arguments import known_word
from paramsym.errors import ArgumentError, SizeError
from paramsym.measure.cost import Cost
from paramsym.naming import MOST_BITS, described, quoted
from paramsym.render.printed import Printed

Language: TypeAlias = Literal["python", "numpy", "c", "javascript", "spreadsheet"]
_Keys: TypeAlias = tuple[str, ...] | None
"""The names of several results; empty for a list of results, None for one result."""
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
_BROKEN: dict[str, tuple[str, str]] = {"most": (">", "is more than"), "equal": ("!=", "is not"), "differ": ("==", "is")}
"""The comparison of a broken condition, and its words."""
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

    def _fitted(self, width: int) -> str:
        del width
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
    language = known_word("language", language, get_args(Language))
    name = name if name is not None else "cost" if isinstance(subject, Cost) else "params"
    subjects: Any = subject.values() if isinstance(subject, Mapping) else subject
    keys: _Keys = tuple(subject) if isinstance(subject, Mapping) else () if isinstance(subject, list | tuple) else None
    if keys is not None and language in {"c", "spreadsheet"}:
        raise ArgumentError(f"{language} gives one count; export a list of {len(subjects)} to python, numpy or javascript.")
    if keys is not None and not (subject and all(isinstance(key, str) for key in keys)):
        raise ArgumentError("wanted subjects by name or in a list, as in {'weight': H * F} or [H * F].")
    program = compiled(subjects) if keys is None else compiled(*subjects)
    names = tuple(symbol.name for symbol in program.inputs)
    reserved = _RESERVED.get(language, "").split()
    for one in (name, *names):
        wrong = not isinstance(one, str) or not one.isascii() or not one.isidentifier() or keyword.iskeyword(one) or one in reserved
        if wrong and not (language == "spreadsheet" and one == name):
            raise ArgumentError(f"{quoted(one)} is not a name in {language}; choose another.")
    if name in names:
        raise ArgumentError(f"the function cannot be called {name!r}, because one of its sizes has this name; choose another.")
    if language in {"c", "numpy"} and any(abs(constant) >= 2**63 for constant in program.constants):
        raise SizeError(f"the formula has a constant beyond 64 bits, which {language} does not hold; export it to python or javascript.")
    if language == "spreadsheet":
        return Source(language, _Spreadsheet(program, _places(names, cells)).source(), names)
    title = f"The number of {words(subject).unit} of {title_of(subject)}. " if isinstance(subject, Counted) else ""
    return Source(language, _WRITERS[language](program, names, name, keys, title).source(), names)


class _Writer:
    """Writes every step into the step that reads it; a step that is read twice, or checked, gets a variable.

    A text has a precedence; parentheses are written only if they are needed. A subclass is a language.
    """

    templates: ClassVar[Mapping[str, str]]
    constant = "{}"
    assign = "{} = {}"
    remainder = "{} % {}"
    refuse: str
    """The check of a condition, with places for the comparison that is true if it is broken, and for the error."""
    shows: str
    """A value inside the string of an error."""

    def __init__(self, program: StraightLine, names: tuple[str, ...], name: str = "", keys: _Keys = None, title: str = "") -> None:
        self.program, self.names, self.name, self.keys, self.title = program, names, name, keys, title
        self.texts: dict[int, tuple[str, int]] = {i: (one, _ATOM) for i, one in enumerate(names)}
        for i, value in enumerate(program.constants, len(names)):
            if value.bit_length() > MOST_BITS:
                raise SizeError(f"the formula has {described(value)}; {MOST_BITS} are the limit.")
            self.texts[i] = (self.constant.format(value), _ATOM if value >= 0 else 0)

    def source(self) -> str:
        raise NotImplementedError

    def lowest(self, least: int, some: list[str]) -> str:
        """Return the check that no size of a list is below a least value."""
        raise NotImplementedError

    def check(self, position: int, op: Op, left: str, right: str) -> str:
        """Return the check of the step at a register, given the texts of its operands."""
        quotient = op.kind in QUOTIENTS
        broken = self.remainder.format(left, right, self.name) if quotient else f"{left} {_BROKEN[op.kind][0]} {right}"
        return self.refuse.format(broken=broken, said=self.said(position, op, left, right))

    def said(self, position: int, op: Op, left: str, right: str) -> str:
        """Return the error in the words of the layer that states the condition."""
        one, other = (text.removesuffix("n") if text[0].isdecimal() else self.shows.format(text) for text in (left, right))
        goes, leaves = self.shows.format(self.templates["divides"].format(left, right)), self.shows.format(f"{left} % {right}")
        return refusal(op.kind, self.program.asked.get(position), one, other, goes, leaves)

    def write(self, position: int, op: Op) -> str:
        """Write one step with its operands; return its text."""
        template = self.templates[op.kind]
        binds, *least = (_ATOM, 0, 0) if "(" in template else _BINDING[op.kind]
        text = template.format(*(self.operand(register, one) for register, one in zip((op.left, op.right), least, strict=True)))
        self.texts[position] = text, binds
        return text

    def operand(self, register: int, least: int = _ATOM) -> str:
        """Return a text that can be an operand of an operator; by default, of any operator."""
        text, binds = self.texts[register]
        return text if binds >= least else f"({text})"

    def results(self) -> str:
        """Return the text of the answer, or of the answers by name or in order, in the form of Python and JavaScript."""
        texts = [self.texts[one][0] for one in self.program.results]
        if self.keys is None:
            return texts[0]
        if not self.keys:
            return f"[{', '.join(texts)}]"
        return f"{{{', '.join(f'{key!r}: {text}' for key, text in zip(self.keys, texts, strict=True))}}}"

    def body(self) -> list[str]:
        """Return the statements before the result: checks, and steps that are read more than once."""
        program = self.program
        reads = Counter(chain(program.results, *((op.left, op.right) for op in program.ops)))
        labels = (label for number in count(1) if (label := f"t{number}") not in self.names)
        pairs = [*zip(self.names, program.least, strict=True)]
        sizes = {least: [name for name, low in pairs if low == least] for least in (0, 1)}
        lines = [self.lowest(least, some) for least, some in sizes.items() if some]
        # Images, for example, must be as large as a kernel.
        lines += [self.check(place, Op("most", place, place), str(low), name) for place, (name, low) in enumerate(pairs) if low > 1]
        for position, op in enumerate(program.ops, program.first):
            if op.kind in CHECKS or op.kind in QUOTIENTS:
                lines.append(self.check(position, op, self.operand(op.left), self.operand(op.right)))
            if op.kind not in CHECKS:
                text = self.write(position, op)
                if reads[position] > 1 and self.assign:
                    self.texts[position] = (next(labels), _ATOM)
                    lines.append(self.assign.format(self.texts[position][0], text))
        return lines


_INFIX = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}"}
_PYTHON = _INFIX | dict.fromkeys(("floordiv", *QUOTIENTS), "{} // {}") | {"mod": "{} % {}", "pow": "{} ** {}"}


class _Python(_Writer):
    templates = _PYTHON | {"max": "max({}, {})", "min": "min({}, {})"}
    refuse = "if {broken}:\n        raise ValueError(f'{said}')"
    shows = "{{{}}}"
    first: tuple[str, ...] = ()

    def source(self) -> str:
        lines = (*self.first, *self.body(), f"return {self.results()}")
        return "\n".join([f"def {self.name}({', '.join(self.names)}):", *(f"    {line}" for line in lines)])

    def lowest(self, least: int, some: list[str]) -> str:
        smallest = some[0] if len(some) == 1 else f"min({', '.join(some)})"
        found = ", ".join(f"{{{one}=}}" for one in some)
        return f"if {smallest} < {least}:\n        raise ValueError(f'wanted {least} or more; found {found}.')"


class _NumPy(_Python):
    templates = _PYTHON | {"max": "np.maximum({}, {})", "min": "np.minimum({}, {})"}
    refuse = "if np.any({broken}):\n        raise ValueError('{said}')"

    def source(self) -> str:
        note = "# int64 overflows silently beyond 2**63 - 1: pass dtype=object if that may happen."
        self.first = (note, *(f"{one} = np.asarray({one})" for one in self.names))
        return "import numpy as np\n\n\n" + super().source()

    def lowest(self, least: int, some: list[str]) -> str:
        below = " or ".join(f"np.any({one} < {least})" for one in some)
        return f"if {below}:\n        raise ValueError('wanted {least} or more of {', '.join(some)}')"

    def said(self, position: int, op: Op, left: str, right: str) -> str:
        del position
        words = "is not divisible by" if op.kind in QUOTIENTS else _BROKEN[op.kind][1]
        return f"{left} {words} {right} somewhere"


_C_HEAD = "static int64_t NAME_{}(int64_t a, int64_t b, int *bad) {{ "
_C_HELPERS = {
    **{k: _C_HEAD.format(k) + f"int64_t c = 0; *bad |= __builtin_{k}_overflow(a, b, &c); return c; }}" for k in ("add", "sub", "mul")},
    "div": _C_HEAD.format("div") + "if (b <= 0) { *bad = 1; return 0; } return a / b - (a % b < 0); }",
    "mod": _C_HEAD.format("mod") + "if (b <= 0) { *bad = 1; return 0; } return (a % b + b) % b; }",
    "max": _C_HEAD.format("max") + "(void)bad; return a > b ? a : b; }",
    "min": _C_HEAD.format("min") + "(void)bad; return a < b ? a : b; }",
    "pow": _C_HEAD.format("pow") + "(void)a; if (b < 0 || b > 62) { *bad = 1; return 0; } return INT64_C(1) << b; }",
}


class _C(_Writer):
    constant = "INT64_C({})"
    assign = "const int64_t {} = {};"
    remainder = "{2}_mod({0}, {1}, &bad) != 0"
    refuse = "bad |= {broken};"

    def source(self) -> str:
        for op in self.program.ops:
            if op.kind == "pow" and self.texts.get(op.left) != ("INT64_C(2)", _ATOM):
                raise SizeError("C has no power of whole numbers; export this formula to python or javascript.")
        lines = [*self.body(), f"const int64_t found = {self.results()};"]
        written = "\n".join(f"    {line}" for line in lines)
        arguments = ", ".join(f"int64_t {one}" for one in self.names) or "void"
        return "\n".join(
            [
                "#include <stdint.h>",
                "",
                *(_C_HELPERS[kind].replace("NAME", self.name) for kind in sorted(_C_HELPERS) if f"{self.name}_{kind}(" in written),
                f"/* {self.title}-1 if a condition between the sizes is broken or the count does not fit in 64 bits. */",
                f"int64_t {self.name}({arguments}) {{",
                "    int bad = 0;",
                written,
                "    return bad ? -1 : found;",
                "}",
            ]
        )

    def lowest(self, least: int, some: list[str]) -> str:
        return f"bad |= {' || '.join(f'{one} < {least}' for one in some)};"

    def said(self, position: int, op: Op, left: str, right: str) -> str:
        del position, op, left, right
        return ""

    def write(self, position: int, op: Op) -> str:
        kind = "div" if op.kind in {"floordiv", *QUOTIENTS} else op.kind
        text = f"{self.name}_{kind}({self.operand(op.left, 0)}, {self.operand(op.right, 0)}, &bad)"
        self.texts[position] = text, _ATOM
        return text


class _JavaScript(_Writer):
    templates = _INFIX | dict.fromkeys(QUOTIENTS, "{} / {}") | {"pow": "{} ** {}"}
    templates |= {kind: f"{kind}({{}}, {{}})" for kind in ("floordiv", "mod", "max", "min")}
    constant = "{}n"
    assign = "const {} = {};"
    remainder = "{} % {} !== 0n"
    refuse = "if ({broken}) throw new RangeError(`{said}`);"
    shows = "${{{}}}"

    def source(self) -> str:
        lines, kinds = self.body(), {op.kind for op in self.program.ops}
        helpers = ["  const mod = (a, b) => ((a % b) + b) % b;"] if kinds & {"mod", "floordiv"} else []
        helpers += ["  const floordiv = (a, b) => (a - mod(a, b)) / b;"] if "floordiv" in kinds else []
        helpers += [f"  const {kind} = (a, b) => (a {sign} b ? a : b);" for kind, sign in (("max", ">"), ("min", "<")) if kind in kinds]
        names = ", ".join(self.names)
        read = [f"  [{names}] = [{names}].map(BigInt);"] if names else []
        comment = f"// {self.title}Exact: takes whole numbers, returns a BigInt."
        body = [*read, *helpers, *(f"  {line}" for line in lines), f"  return {self.results()};"]
        return "\n".join([comment, f"function {self.name}({names}) {{", *body, "}"])

    def lowest(self, least: int, some: list[str]) -> str:
        below = " || ".join(f"{one} < {least}n" for one in some)
        found = ", ".join(f"{one}=${{{one}}}" for one in some)
        return f"if ({below}) throw new RangeError(`wanted {least} or more; found {found}.`);"


class _Spreadsheet(_Writer):
    templates = {"add": "{}+{}", "sub": "{}-{}", "mul": "{}*{}", "divides": "{}/{}", "exact": "{}/{}", "pow": "{}^{}"}
    templates |= {"floordiv": "INT(({})/({}))", "mod": "MOD({},{})", "max": "MAX({},{})", "min": "MIN({},{})"}
    assign = ""

    def source(self) -> str:
        checks = list(dict.fromkeys(self.body()))
        condition = checks[0] if len(checks) == 1 else f"AND({','.join(checks)})"
        code = f"=IF({condition},{self.results()},NA())" if checks else f"={self.results()}"
        if len(code) > _LONGEST_CELL:
            raise SizeError(f"the formula has {len(code)} characters; a cell can hold {_LONGEST_CELL}.")
        return code

    def lowest(self, least: int, some: list[str]) -> str:
        return f"{some[0]}>={least}" if len(some) == 1 else f"MIN({','.join(some)})>={least}"

    def check(self, position: int, op: Op, left: str, right: str) -> str:
        del position
        return f"MOD({left},{right})=0" if op.kind in QUOTIENTS else f"{left}{_CELLS[op.kind]}{right}"


_WRITERS: dict[str, type[_Writer]] = {"python": _Python, "numpy": _NumPy, "c": _C, "javascript": _JavaScript}


def _places(names: tuple[str, ...], cells: Mapping[str, str] | None) -> tuple[str, ...]:
    """Return the cell of each size, or its name for a named range."""
    where = {str(getattr(key, "name", key)): cell for key, cell in (cells or {}).items()}
    taken = [one for one in names if cells is None and re.fullmatch(r"[A-Za-z]{1,3}[0-9]+|[RrCc]", one)]
    if taken:
        example = f"cells={{{taken[0]!r}: 'B1', ...}}"
        raise ArgumentError(f"{taken[0]} is a cell, row or column in a spreadsheet; give the cells of the sizes: {example}.")
    missing = [one for one in names if cells is not None and one not in where]
    if missing:
        raise ArgumentError(f"no cell is given for {', '.join(missing)}; add it to cells=.")
    places = tuple(where.get(one, one) for one in names)
    for place in places:
        if not place.replace("$", "").replace("_", "").replace("!", "").isalnum():
            raise ArgumentError(f"{quoted(place)} is not a cell; write it as 'B2', '$B$2' or 'Sheet1!B2'.")
    return places

"""The record of one model type: its format and its limits.

A record is an object of JSON, compressed by gzip, in one file for each model type::

    {"format": 1, "type": "bert", "reference": "transformers 5.23.0",
     "aliases": {other spelling: key}, "inside": [keys that hold configurations],
     "spelled": {key of a list: [key, {former word: word}], key of a text: [key of a list, {letter: word}]},
     "extra": {other key: domain}, "mentioned": {key of an inner configuration: [other keys that the reference may read]},
     "classes": {class: {"keys": {key: domain}, "free": [keys of any value], "expressions": [...],
                         "rows": [[template, kind, {"axes": [axis, ...], "bounds": [...], "sets": [...],
                                                    "if": [tests, cases], "first": template, "role": role}], ...],
                         "unseen": [[key, value, key, value], ...], "needs": [[divisor, key], ...],
                         "below": [[key, larger key], ...],
                         "certificate": {...}}},
     "refused": {class: reason}}

``axis`` is the number of its expression, or ``[number, factor, ...]``. Each factor is the number of an expression, or a list of segments
``[[label, number, ...], ...]``. The factors say how the reference divides the axis, and hold where their product is the axis. ``role`` is
"table" for the weight of an embedding layer, "scale" for that of a normalisation; other tensors have none.

``domain`` has ``words`` (values seen), ``whole`` and ``number`` (least and largest; ``of`` if only its multiples), ``entries`` and
``length`` of lists, ``last`` (the domain of a list's last entry), ``layers`` (the domain of each key that single layers may set),
``any``, ``object``, ``derived`` (the reference replaces a given value with its own for a missing key), ``without`` (keys that may not be
given beside this one), and the meanings of a ``missing`` key and of ``null``. ``paramsym.atlas.expression`` describes expressions, tests
and sets. Nothing in a record is ever run as code. ``paramsym.atlas.timm``, ``timm_classes`` and ``diffusers`` say what the records of
these libraries also have.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from paramsym.atlas.expression import OPERATIONS
from paramsym.atlas.values import recorded_value
from paramsym.errors import ConfigError

FORMAT = 1
LARGEST_RECORD = 8 * 2**20
_LARGEST_FILE = 2**20
_MOST_ITEMS = 400_000
_DEEPEST = 24
_LAWS = {"last": 0, "ends": 0, "member": 1, "entry": 1, "mod": 2, "from": 2}
_TESTS = {"is": 1, "none": 1, "positive": 1, "equal": 2, "beyond": 2, "over": 3, "entry": 2, "holds": 2}
_KINDS = frozenset({"parameter", "frozen", "buffer", "tie"})
_ROLES = (None, "table", "scale")


class RecordError(ConfigError):
    """A record that is damaged or of another format."""


def packed(record: Mapping[str, Any]) -> bytes:
    """Return the bytes of a record's file, always the same for the same record."""
    return packed_lines([record])


def packed_lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the bytes of a file with one record a line."""
    text = "\n".join(json.dumps(record, separators=(",", ":"), ensure_ascii=True, allow_nan=False) for record in records)
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(text.encode())
    return buffer.getvalue()


def parsed(content: bytes) -> Mapping[str, Any]:
    """Return the checked record in bytes.

    Raises:
        RecordError: bytes that are too large, not gzip, not JSON, of another format, or not a valid record.

    >>> parsed(packed({"format": 1, "type": "x", "reference": "", "aliases": {}, "inside": [], "classes": {}, "refused": {}}))["type"]
    'x'
    """
    return checked(unpacked(content))


def unpacked(content: bytes) -> bytes:
    """Return the text in a file, within the limits of its size.

    Raises:
        RecordError: it is not compressed by gzip, or too large.
    """
    if len(content) > _LARGEST_FILE:
        _refuse("has too many bytes")
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            text = file.read(LARGEST_RECORD + 1)
    except (OSError, EOFError, ValueError, zlib.error):
        _refuse("is not gzip")
    if len(text) > LARGEST_RECORD:
        _refuse("has too many bytes")
    return text


def plain(text: bytes) -> Any:
    """Return what a JSON text holds.

    Raises:
        RecordError: the text is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        _refuse("is not JSON")


def checked(text: bytes) -> Mapping[str, Any]:
    """Return the record in a text.

    Raises:
        RecordError: a text that is not JSON, of another format, or not a valid record.
    """
    record = plain(text)
    check_size(record)
    with refused():
        _check(record)
        return _frozen(record)


@contextmanager
def refused() -> Generator[None]:
    """Refuse a record in which something is missing or of another kind.

    Raises:
        RecordError: the first such thing.
    """
    try:
        yield
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        _refuse(f"is incomplete: {type(error).__name__} {str(error)[:60]}")


def _refuse(what: str) -> NoReturn:
    raise RecordError(f"a record of the atlas {what}; install the library again, or rebuild the record.") from None


def check_size(record: Any, deepest: int = _DEEPEST) -> None:
    """Refuse values that are nested too deeply or have too many parts, without recursion."""
    items = 0
    level: list[Any] = [record]
    for _ in range(deepest):
        following: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                following.extend(one.values())
            elif isinstance(one, list):
                following.extend(one)
        items += len(following)
        if items > _MOST_ITEMS:
            _refuse("has too many parts")
        if not following:
            return
        level = following
    _refuse("is nested too deeply")


def _check(record: Any) -> None:
    if record["format"] != FORMAT:
        _refuse(f"has the format {record['format']!r}, and this library reads {FORMAT}")
    need(isinstance(record["type"], str) and isinstance(record["reference"], str), "names no type")
    strings(record["aliases"].values())
    strings(record["inside"])
    for listed, words in record.get("spelled", {}).values():
        strings([listed, *words, *words.values()])
    for domain in record.get("extra", {}).values():
        _check_domain(domain)
    for words in record.get("mentioned", {}).values():
        strings(words)
    for _, _, sides in filter(None, record.get("defaults", {}).values()):
        need(sides is None or len(sides) == 2, "has defaults without sides")
    for one in record["classes"].values():
        _check_class(one)


def _check_class(one: Any) -> None:
    for domain in one["keys"].values():
        _check_domain(domain)
    strings(one["free"])
    for expression in one["expressions"]:
        _check_expression(expression)
    for template, kind, more in one["rows"]:
        _check_row(template, kind, more, len(one["expressions"]))
    for quadruple in one["unseen"]:
        need(len(quadruple) == 4, "has a pair without four entries")
    for pair in (*one["needs"], *one.get("below", ())):
        strings(pair)
    need(isinstance(one["certificate"], dict), "has no certificate")


def _is_number(what: Any, *kinds: type) -> bool:
    return isinstance(what, kinds) and not isinstance(what, bool)


def need(holds: bool, what: str) -> None:
    """Refuse a record that does not hold what its format asks."""
    if not holds:
        _refuse(what)


def strings(values: Iterable[Any]) -> None:
    """Refuse keys and names that are not strings."""
    need(all(isinstance(value, str) for value in values), "has a key that is not a string")


def _inside(domain: Any) -> list[Any]:
    """Return the domains inside one."""
    return [*(domain[which] for which in ("entries", "last") if which in domain), *domain.get("layers", {}).values()]


def _check_domain(domain: Any) -> None:
    for which in ("whole", "number", "length"):
        if which in domain:
            low, high = domain[which]
            need(all(isinstance(one, int | float) for one in (low, high)), "has a range without numbers")
    need(_is_number(domain.get("of", 1), int) and domain.get("of", 1) > 0, "has multiples of no number")
    for one in _inside(domain):
        _check_domain(one)
    strings(domain.get("without", ()))
    if "entries" in domain:
        need("length" in domain, "has a list without a length")
    for which in ("missing", "null"):
        if which in domain:
            _check_default(*domain[which])


def _check_default(kind: Any, *operands: Any) -> None:
    if kind == "expression":
        _check_expression(operands[0])
    elif kind == "list":
        _check_expression(operands[0])
        for _, where in operands[1]:
            _check_set(where)
    elif kind == "numbers":
        _check_set(operands[0])
        _check_expression(operands[1])
    elif kind == "cases":
        _check_tests(*operands)
    elif kind == "each":
        strings(operands[:2])
        need(len(operands) == 3, "has settings of layers without a list of their kinds")
    else:
        need(kind in {"is", "same"} and len(operands) == 1, "has an unknown default")


def _check_row(template: Any, kind: Any, more: Any, expressions: int) -> None:
    need(isinstance(template, str) and kind in _KINDS, "has a row of an unknown kind")
    numbers = [*_numbers(more.get("axes", ())), *more.get("bounds", ())]
    need(all(isinstance(one, int) and 0 <= one < expressions for one in numbers), "names a missing expression")
    places = template.split(".").count("#")
    need(len(more.get("bounds", ())) == places == len(more.get("sets", ())), "has a row whose numbers have no bounds")
    for one in more.get("sets", ()):
        _check_set(one)
    if "if" in more:
        tests, cases = more["if"]
        _check_tests(tests, cases)
    need(isinstance(more.get("first", ""), str), "has a tie without a first name")
    need(more.get("role") in _ROLES, "has a tensor of an unknown role")


def _numbers(axes: Any) -> Iterator[Any]:
    """Yield the numbers of the expressions of axes, those of factors and segments included."""
    for axis in axes:
        whole, *factors = axis if isinstance(axis, list) else [axis]
        yield whole
        for factor in factors:
            for label, *segment in factor if isinstance(factor, list) else [["one", factor]]:
                need(isinstance(label, str) and label.isidentifier(), "has a segment without a name")
                yield from segment


def _check_set(what: Any) -> None:
    kind, operands = what[0], what[1:]
    if kind == "range":
        for one in operands:
            _check_expression(one)
    elif kind == "?":
        _check_tests(*operands)
        for _, inner in operands[1]:
            _check_set(inner)
    elif kind == "not":
        _check_set(operands[0])
    elif kind == "both":
        _check_set(operands[0])
        _check_set(operands[1])
    elif kind == "where":
        law, values = operands
        need(law[0] in _LAWS and len(law) == 1 + _LAWS[law[0]] and isinstance(values, list), "has an unknown law of indices")
        if law[0] in {"mod", "from"}:
            _check_atom(law[1])
            _check_atom(law[2])
        else:
            strings(law[1:])
    else:
        need(kind == "all", "has an unknown set")


def _check_tests(tests: Any, cases: Any) -> None:
    for test in tests:
        need(test[0] in _TESTS and len(test) == 1 + _TESTS[test[0]], "has an unknown test")
        need(isinstance(test[1], str), "has a test without a key")
        need(test[0] != "holds" or isinstance(test[2], list), "has a test without a word")
    for seen, _ in cases:
        need(len(seen) == len(tests), "has a case without answers")


def _check_expression(what: Any) -> None:
    if _is_number(what, int):
        return
    kind, operands = what[0], what[1:]
    if kind == "+":
        for numerator, denominator, factors in operands[0]:
            need(isinstance(numerator, int) and isinstance(denominator, int) and denominator > 0, "has an impossible coefficient")
            for one, power in factors:
                _check_atom(one)
                need(isinstance(power, int) and 0 < power <= 4, "has an unknown power")
    else:
        need(kind == "?", "has an unknown expression")
        _check_tests(*operands)
        for _, inner in operands[1]:
            _check_expression(inner)


def _check_atom(what: Any) -> None:
    if isinstance(what, str) or _is_number(what, int, float):
        return
    kind, operands = what[0], what[1:]
    if kind == "at":
        need(isinstance(operands[0], str) and all(isinstance(one, int) for one in operands[1:]), "has an unknown entry")
    elif kind == "len":
        need(isinstance(operands[0], str), "has the length of nothing")
    else:
        number = 2 if kind == "or" else OPERATIONS.get(kind, (0,))[0]
        need(number > 0, "has an unknown operation")
        need(len(operands) == number, "has an operation without operands")
        need(kind != "or" or isinstance(operands[0], str), "has an alternative without a key")
        for one in operands:
            _check_atom(one)


def _frozen(record: Any) -> Any:
    """Return the record with the values of keys in comparable form: lists as tuples."""
    for domain in record.get("extra", {}).values():
        _freeze_domain(domain)
    for one in record["classes"].values():
        for domain in one["keys"].values():
            _freeze_domain(domain)
        one["unseen"] = [[a, recorded_value(b), c, recorded_value(d)] for a, b, c, d in one["unseen"]]
    return record


def _freeze_domain(domain: Any) -> None:
    if "words" in domain:
        domain["words"] = [recorded_value(one) for one in domain["words"]]
    if "absent" in domain:
        domain["absent"] = recorded_value(domain["absent"])
    for one in _inside(domain):
        _freeze_domain(one)
    for which in ("missing", "null"):
        if which in domain and domain[which][0] == "is":
            domain[which] = ["is", recorded_value(domain[which][1])]
        elif which in domain and domain[which][0] == "each":
            domain[which] = [*domain[which][:3], recorded_value(domain[which][3])]
        elif which in domain and domain[which][0] == "cases":
            cases = domain[which][2]
            domain[which][2] = [[[recorded_value(one) for one in seen], recorded_value(result)] for seen, result in cases]

"""Print the tests that a run skipped, each as FILE::FUNCTION, from the XML that ``pytest --junit-xml`` writes.

Live frameworks need to run no other tests: the rest has passed without them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET


def place(module: str, name: str) -> str:
    """Return a test in pytest's words; a file that was skipped as a whole has no name in it."""
    steps = [*module.split("."), name] if module else name.split(".")
    for length in range(len(steps), 0, -1):
        file = Path(*steps[:length]).with_suffix(".py")
        if file.is_file():
            return "::".join((str(file), *steps[length:]))
    return ""


if __name__ == "__main__":
    cases = ET.parse(sys.argv[1]).iter("testcase")  # noqa: S314 - pytest has just written it
    names = ((case.get("classname", ""), case.get("name", "")) for case in cases if case.find("skipped") is not None)
    skipped = (place(module, name.partition("[")[0]) for module, name in names)
    print("\n".join(sorted({one for one in skipped if one.startswith("tests")})))

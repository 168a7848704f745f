"""Print the tests that a run left out, each as FILE::FUNCTION or FILE, from the XML that ``pytest --junit-xml`` writes.

Live frameworks need to run no other tests: the rest has passed without them, and so have the cases that are printed as ``--deselect=…``. A
file that is skipped as a whole has no test in the XML, and of several such files with one reason, pytest-xdist reports only the first.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET


def place(module: str, name: str) -> str:
    """Return a test in pytest's words; empty for a file that was skipped as a whole, and for what is in no file."""
    steps = module.split(".") if module else []
    for length in range(len(steps), 0, -1):
        file = Path(*steps[:length]).with_suffix(".py")
        if file.is_file():
            return "::".join((file.as_posix(), *steps[length:], name))
    return ""


if __name__ == "__main__":
    cases = [*ET.parse(sys.argv[1]).iter("testcase")]  # noqa: S314 - pytest has just written it
    places = {place(case.get("classname", ""), case.get("name", "")): case.find("skipped") is None for case in cases}
    skipped = {one.partition("[")[0] for one, passed in places.items() if one.startswith("tests") and not passed}
    unseen = {file.as_posix() for file in Path("tests").rglob("test_*.py")} - {one.partition("::")[0] for one in places}
    print("\n".join(sorted(skipped | unseen)))
    print("\n".join(f"--deselect={one}" for one, passed in places.items() if passed and one.partition("[")[0] in skipped))

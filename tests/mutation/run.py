"""Mutation testing: change the code in one place, and see whether a test notices.

``python tests/mutation/run.py`` draws a seeded sample of mutants and prints the score of every room and the mutants that survive. It needs
``pip install --group mutation``. Every mutant runs in a separate process that has imported SymPy and pytest, but not paramsym: no cached
value of the code as it stands can hide the change. What is found is kept under ``.mutation/``, so a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from functools import lru_cache, partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

import coverage
import hypothesis
import pytest
import sympy  # noqa: F401 - the processes of the mutants start with it
from mutants import ROOMS, ROOT, Mutant, population, sample

SEED, SIZE = 5, 520
ROUNDS = (30, 300, 3000)
"""So many tests run on every mutant, and so many on those that are left; what passes the last of them survives."""
NOT_HERE = (
    "tests/typing",
    "tests/test_layering.py",
    "tests/test_import_cost.py",
    "tests/test_examples.py",
    "tests/test_pages.py",
)
"""Tests that read the source or start other interpreters: they cannot see a change made in this process."""
MEMORY = 4 * 2**30
"""Bytes that a mutant may take."""
CACHED = type(lru_cache(len))
WORK = ROOT / ".mutation"
hypothesis.settings.register_profile(
    "mutation",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],  # which example is the smallest is not asked
)


def pytest_here(arguments: Iterable[str], *plugins: object) -> int:
    """Run pytest in this process, without a trace on the disk."""
    fixed = ("-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning", "--hypothesis-profile=mutation")
    return int(pytest.main([*fixed, *(f"--ignore={path}" for path in NOT_HERE), *arguments], plugins=list(plugins)))


# --- which test runs which line ---------------------------------------------------------------------------------------------------------


class Watch:
    """Note for every test the lines it runs and the seconds it takes."""

    def __init__(self) -> None:
        """Nothing is seen yet."""
        self.coverage = coverage.Coverage(data_file=str(WORK / "lines"), config_file=False, source_pkgs=["paramsym"])
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterable[None]:
        """Count what runs during a test as the test's."""
        forget()
        self.coverage.switch_context(item.nodeid)
        started = time.perf_counter()
        result = yield
        self.seconds[item.nodeid] = time.perf_counter() - started
        self.coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what fails without any mutant: it cannot notice one."""
        if report.failed:
            self.failed.add(report.nodeid)


def forget() -> None:
    """Empty the caches of paramsym, so that a test runs its lines although an earlier one has asked the same."""
    for name, module in list(sys.modules.items()):
        if name.startswith("paramsym"):
            for cached in list(vars(module).values()):
                if isinstance(cached, CACHED):
                    cached.cache_clear()


def watch() -> str:
    """Run all tests once on the code as it stands, and keep what they ran."""
    watching = Watch()
    watching.coverage.start()
    pytest_here(("--continue-on-collection-errors",), watching)
    watching.coverage.stop()
    watching.coverage.save()
    passing = {test: seconds for test, seconds in watching.seconds.items() if test not in watching.failed}
    (WORK / "seconds.json").write_text(json.dumps(passing), encoding="utf-8")
    return " ".join(watching.failed)


class Covering:
    """Which tests run a mutant's lines."""

    def __init__(self) -> None:
        """Read what :class:`Watch` saw."""
        self.data = coverage.CoverageData(str(WORK / "lines"))
        self.data.read()
        self.seconds: dict[str, float] = json.loads((WORK / "seconds.json").read_text(encoding="utf-8"))
        self.lines: dict[str, dict[int, list[str]]] = {}

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests of the innermost span that any test runs, the nearest first, then the short ones; then the file's own tests.

        What is outside functions runs on import, not in a test: all tests of the file, first those that are named after the class.
        """
        if mutant.path not in self.lines:
            self.lines[mutant.path] = self.data.contexts_by_lineno(str(ROOT / mutant.path))
        lines = self.lines[mutant.path]
        named = {test for test in self.seconds if mutant.of and re.search(rf"\[(.*-)?{mutant.of}(-.*)?\]$", test)}
        found = set(named)
        for first, last in mutant.spans:
            found |= {test for line in range(first, last + 1) for test in lines.get(line, ()) if test in self.seconds}
            if found and mutant.of is None:
                break
        own = f"tests/{mutant.path.removeprefix('paramsym/')}".replace(Path(mutant.path).name, f"test_{Path(mutant.path).name}")
        near = named | {test for test in self.seconds if test.startswith((own, mutant.path))}
        return sorted(found | near, key=lambda test: (test not in found, test not in near, self.seconds[test]))


# --- one mutant --------------------------------------------------------------------------------------------------------------------------


class Changed(MetaPathFinder, Loader):
    """Imports one module from a mutant."""

    def __init__(self, mutant: Mutant) -> None:
        """Take the mutant."""
        self.mutant = mutant

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Answer for the changed module alone."""
        return spec_from_file_location(fullname, ROOT / self.mutant.path, loader=self) if fullname == self.mutant.name else None

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed source."""
        exec(compile(self.mutant.source, str(ROOT / self.mutant.path), "exec"), module.__dict__)  # noqa: S102 - that is a mutant


class Chosen:
    """Leaves of what is collected the chosen tests, in their order."""

    def __init__(self, tests: Collection[str]) -> None:
        """Take the tests in the order in which they shall run."""
        self.place = {test: place for place, test in enumerate(tests)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose and sort."""
        items[:] = sorted((item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the test that notices."""
        if report.failed:
            self.failed = report.nodeid


def attempt(mutant: Mutant, tests: list[str]) -> str:
    """Return what notices the mutant: a test, the import; or nothing."""
    sys.meta_path.insert(0, Changed(mutant))
    time.perf_counter = time.process_time = float  # clocks that stand still: a test that a busy machine makes fail notices nothing
    try:
        __import__(mutant.name)
    except Exception as error:  # noqa: BLE001 - whatever a mutant does
        return f"import: {type(error).__name__}"
    chosen = Chosen(tests)
    code = pytest_here(("-x", *dict.fromkeys(test.partition("::")[0] for test in tests)), chosen)
    return "" if code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED} else chosen.failed or f"collection: {code}"


def in_a_process(work: Callable[[], str], seconds: float) -> str:
    """Return what ``work`` says in a process forked for it; ``timeout`` where it takes too long, or dies."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        answer = "crash"  # of pytest itself
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with suppress(BaseException), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            answer = work()
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with open(reader, "rb") as pipe:  # noqa: PTH123 - a pipe has no path
        answer = pipe.read().decode()
    signal.setitimer(signal.ITIMER_REAL, 0)
    _, status = os.waitpid(child, 0)
    return "timeout" if os.WIFSIGNALED(status) else answer


class Results:
    """What is known about each mutant: the tests that it has passed, and what noticed it. Kept on the disk after every attempt."""

    def __init__(self) -> None:
        """Read what an earlier run found."""
        self.file = WORK / "results.json"
        kept = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}
        self.passed: dict[str, list[str]] = kept.get("passed", {})
        self.noticed: dict[str, str] = kept.get("noticed", {})

    def forget_the_survivors(self) -> None:
        """Keep what was noticed: the tests have become more."""
        self.passed = {key: [] for key in self.noticed}

    def survives(self, mutant: Mutant) -> bool:
        """Whether nothing noticed the mutant."""
        return mutant.key in self.passed and mutant.key not in self.noticed

    def attempt(self, mutant: Mutant, tests: list[str], covering: Covering) -> None:
        """Run those of the tests that have not run, in a process that starts afresh."""
        passed = self.passed.setdefault(mutant.key, [])
        tests = [test for test in tests if test not in set(passed)]
        if not tests or mutant.key in self.noticed:
            return
        started = time.perf_counter()
        noticed = in_a_process(partial(attempt, mutant, tests), 60 + 10 * sum(covering.seconds[test] for test in tests))
        if noticed:
            self.noticed[mutant.key] = noticed
        else:
            passed += tests
        self.file.write_text(json.dumps({"passed": self.passed, "noticed": self.noticed}), encoding="utf-8")
        sys.stderr.write(
            f"{len(self.passed)} {mutant.place} {time.perf_counter() - started:.1f} s {noticed or f'passes {len(passed)} tests'}\n"
        )


# --- the report --------------------------------------------------------------------------------------------------------------------------


def report(drawn: list[Mutant], mutants: dict[str, list[Mutant]], results: Results) -> None:
    """Print the score of every room and the survivors."""
    out = sys.stdout.write
    out(f"{'room':10} {'mutants':>8} {'drawn':>6} {'killed':>7} {'score':>7}\n")
    tried = [mutant for mutant in drawn if mutant.key in results.passed]
    for room in (*ROOMS, "all"):
        made = sum(room in {mutant.room, "all"} for found in mutants.values() for mutant in found)
        here = [mutant for mutant in tried if room in {mutant.room, "all"}]
        killed = sum(not results.survives(mutant) for mutant in here)
        out(f"{room:10} {made:8,} {len(here):6} {killed:7} {killed / max(len(here), 1):7.1%}\n")
    slow = sum(results.noticed.get(mutant.key) == "timeout" for mutant in drawn)
    out(f"{len(drawn) - len(tried)} not tried; of the killed, {slow} ran out of time\n")
    for mutant in sorted(filter(results.survives, drawn), key=lambda mutant: (mutant.path, mutant.spans[0])):
        out(f"\n{mutant.place}  {mutant.key}\n{mutant.diff()}\n")


def main() -> None:
    """Draw, run what has no result yet, report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--size", type=int, default=SIZE, help="mutants to draw in proportion; the least per file and room come on top")
    parser.add_argument("--again", action="store_true", help="the tests have changed: watch them anew, and run them on the survivors")
    parser.add_argument("--report", action="store_true", help="print what is known, run nothing")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    sys.dont_write_bytecode = True
    WORK.mkdir(exist_ok=True)
    mutants = population()
    drawn = sample(mutants, arguments.size, arguments.seed)
    results = Results()
    if not arguments.report:
        if arguments.again:
            results.forget_the_survivors()
        if (arguments.again or not (WORK / "seconds.json").exists()) and (failed := in_a_process(watch, 7200)):
            sys.stderr.write(f"left out, because it fails as it is: {failed}\n")
        covering = Covering()
        for mutant in {mutant.path: mutant for mutant in drawn}.values():
            unchanged = replace(mutant, changed=mutant.node)
            if noticed := in_a_process(partial(attempt, unchanged, covering.tests(mutant)[: ROUNDS[0]]), 600):
                sys.exit(f"{mutant.path} fails as it stands, in {noticed}: nothing can be said about its mutants.")
        gc.freeze()
        for most in ROUNDS:
            for mutant in drawn:
                results.attempt(mutant, covering.tests(mutant)[:most], covering)
    report(drawn, mutants, results)


if __name__ == "__main__":
    main()

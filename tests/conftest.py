"""What every test shares: Hypothesis without deadlines, because a busy machine is no counterexample; and errors that say something."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from amount import ALL, REST, chosen, of_part
from documentation import build, served
from hypothesis import settings

from paramsym.errors import ParamsymError, RefutedError

settings.register_profile("paramsym", deadline=None, max_examples=100 if ALL else 20)
settings.load_profile("paramsym")

gc.disable()  # what is collected stays until the end; to look for garbage in it takes almost half of the time of collecting


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks."""
    config.addinivalue_line("markers", "cases(most): of a test with slow cases, the ordinary run takes so many, and TESTS=all takes all")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases of tests with many, unless all are asked for, those of every LaTeX among them, or tests are named."""
    everything = ALL and not REST
    every = everything or os.environ.get("LATEX_ENGINES") == "all" or any("::" in argument for argument in config.args)
    items[:], left = of_part(items) if every else chosen(items)
    config.hook.pytest_deselected(items=left)


def pytest_collection_finish() -> None:
    """Look for garbage from now on, but not among the tests themselves."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def every_error_says_something() -> Iterator[None]:
    """Whatever error a test meets or expects, its message is one text that ends like a sentence; a refutation is a report."""

    def checked(self: ParamsymError, *arguments: object) -> None:
        Exception.__init__(self, *arguments)
        (message,) = arguments
        assert isinstance(message, str), message
        assert isinstance(self, RefutedError) or message.endswith((".", "?")), message

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ParamsymError, "__init__", checked)
        yield


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The pages, built once for all tests, or where PAGES_BUILT says, and their address."""
    built = os.environ.get("PAGES_BUILT")
    folder = Path(built) if built else build(tmp_path_factory.mktemp("site"))
    with served(folder) as address:
        yield folder, address

"""The files that the scratch page loads on the first run: Python for the browser from npm, and the libraries that are installed here."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLES = sorted((HERE / "examples").glob("*.py"))
PYODIDE = "314.0.7"
INTEGRITY = "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PACKAGES = ("mpmath", "sympy", "paramsym")


class LeftOutError(Exception):
    """A reason why the page has nothing to run."""


def provide(choice: str, cache: Path, target: Path) -> str:
    """Put the page's files into ``target``, as ``choice`` says ("auto", "yes" or "no"); return what that costs, or why it is left out.

    Raises:
        LeftOutError: the choice is "yes" and it cannot be.
    """
    target.mkdir(exist_ok=True)
    megabytes, reason = 0, "it was built with -D scratch=no"
    if choice != "no":
        try:
            megabytes, reason = round(gather(cache, target) / 1e6), ""
        except LeftOutError as error:
            if choice == "yes":
                raise
            reason = str(error)
    data = {"examples": examples(), "megabytes": megabytes, "leftOut": reason}
    (target / "data.js").write_text(f"window.scratch = {json.dumps(data)};\n", encoding="utf-8")
    for name in ("page.js", "page.css", "worker.js"):
        shutil.copy(HERE / name, target / name)
    return f"left out, because {reason}" if reason else f"{megabytes} MB beside the page, loaded only when a reader asks"


def examples() -> list[dict[str, str]]:
    """Return the ready cells; the first line of each, a comment, is its title."""
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES]
    return [{"title": text.partition("\n")[0].removeprefix("# "), "text": text} for text in texts]


def gather(cache: Path, target: Path) -> int:
    """Put all that the page loads into ``target``; return its bytes. What was fetched and packed is kept in ``cache``.

    Raises:
        LeftOutError: npm or Node is missing, the registry does not answer, or the archive is not the one that is expected.
    """
    cache = cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    python = _pyodide(cache)
    libraries = _libraries(cache, python)
    shutil.copytree(python, target / "pyodide", dirs_exist_ok=True)
    shutil.copy(libraries, target / "libraries.zip")
    return sum(path.stat().st_size for path in (*python.iterdir(), libraries))


def _pyodide(cache: Path) -> Path:
    """Return the folder of Pyodide's own files, fetched once."""
    folder = cache / f"pyodide-{PYODIDE}"
    if folder.exists():
        return folder
    with tempfile.TemporaryDirectory(dir=cache) as work:
        _call("npm", "pack", "--loglevel=error", "--fetch-retries=0", "--pack-destination=.", f"pyodide@{PYODIDE}", cwd=work)
        archive = Path(work) / f"pyodide-{PYODIDE}.tgz"
        check(archive)
        fresh = Path(work) / "pyodide"
        fresh.mkdir()
        with tarfile.open(archive) as tar:
            for name in PYODIDE_FILES:
                (fresh / name).write_bytes(_read(tar, f"package/{name}"))
        # An index without packages: a cell cannot make Pyodide ask its own host for one.
        index = json.loads((fresh / "pyodide-lock.json").read_text(encoding="utf-8"))
        (fresh / "pyodide-lock.json").write_text(json.dumps({**index, "packages": {}}), encoding="utf-8")
        fresh.rename(folder)
    return folder


def check(archive: Path) -> None:
    """Compare an archive with the recorded hash, as npm writes it.

    Raises:
        LeftOutError: the archive is another one.
    """
    found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != INTEGRITY:
        message = f"{archive.name} has the hash {found}; expected {INTEGRITY}"
        raise LeftOutError(message)


def _read(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    assert file is not None  # noqa: S101 - the archive has the recorded hash
    return file.read()


def sources() -> Iterator[tuple[str, Path]]:
    """Yield the files of the libraries and of the cell, with their names in the archive; tests of libraries are left out."""
    for package in PACKAGES:
        spec = find_spec(package)
        assert spec is not None  # noqa: S101 - this page is built with it
        root = Path((spec.submodule_search_locations or [""])[0])
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(root.parent)
            if path.is_file() and path.suffix != ".pyc" and not {"tests", "__pycache__"} & set(inside.parts):
                yield inside.as_posix(), path
    yield "cell.py", HERE / "cell.py"


def _libraries(cache: Path, python: Path) -> Path:
    """Return the archive of SymPy, mpmath and paramsym as the page loads it; it is packed anew when anything in it changed."""
    files = dict(sources())
    told = hashlib.sha256(PYODIDE.encode())
    for name, path in (*files.items(), *((path.name, path) for path in (*EXAMPLES, HERE / "pack.mjs", HERE / "precompile.py"))):
        told.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    packed = cache / f"libraries-{told.hexdigest()[:16]}.zip"
    if not packed.exists():
        with tempfile.TemporaryDirectory(dir=cache) as work:
            source, fresh = Path(work) / "source.zip", Path(work) / "libraries.zip"
            with zipfile.ZipFile(source, "w") as archive:
                for name, path in files.items():
                    archive.write(path, name)
            _call("node", str(HERE / "pack.mjs"), str(python), str(source), str(fresh), *map(str, EXAMPLES), cwd=work)
            for old in cache.glob("libraries-*.zip"):
                old.unlink()
            fresh.rename(packed)
    return packed


def _call(command: str, *arguments: str, cwd: str) -> None:
    found = shutil.which(command)
    if found is None:
        message = f"{command} is not installed"
        raise LeftOutError(message)
    try:
        done = subprocess.run([found, *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603 - our own arguments
    except subprocess.TimeoutExpired:
        message = f"{command} {arguments[0]} took longer than 300 seconds"
        raise LeftOutError(message) from None
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
        message = f"{command} failed: {lines[-1]}"
        raise LeftOutError(message)

"""The scratch page as a part of the build: ``-D scratch=auto`` (the default), ``yes`` (an error where it cannot be) or ``no``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.config import ENUM
from sphinx.errors import ExtensionError
from sphinx.util import logging

from scratch.parts import EXAMPLES, HERE, LeftOutError, gather

if TYPE_CHECKING:
    from sphinx.application import Sphinx

logger = logging.getLogger(__name__)


def examples() -> list[dict[str, str]]:
    """Return the ready cells; the first line of each, a comment, is its title."""
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES]
    return [{"title": text.partition("\n")[0].removeprefix("# "), "text": text} for text in texts]


def write(app: Sphinx, error: Exception | None) -> None:
    """Put the page's files beside it and say what they cost, or why there are none."""
    if error is not None or app.builder.format != "html":
        return
    target = Path(app.outdir) / "scratch"
    target.mkdir(exist_ok=True)
    told: dict[str, Any] = {"examples": examples(), "megabytes": 0, "leftOut": ""}
    try:
        if app.config.scratch == "no":
            message = "it was built with -D scratch=no"
            raise LeftOutError(message)
        told["megabytes"] = round(gather(HERE.parent / "_build" / "scratch", target) / 1e6)
        logger.info("scratch page: %d MB beside it, loaded only when a reader asks", told["megabytes"])
    except LeftOutError as reason:
        if app.config.scratch == "yes":
            message = f"The scratch page cannot be built: {reason}"
            raise ExtensionError(message) from None
        told["leftOut"] = str(reason)
        logger.info("scratch page: left out, because %s", reason)
    (target / "data.js").write_text(f"window.scratch = {json.dumps(told)};\n", encoding="utf-8")
    for name in ("page.js", "page.css", "worker.js"):
        shutil.copy(HERE / name, target / name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the option and the files."""
    app.add_config_value("scratch", "auto", "", types=ENUM("auto", "yes", "no"))
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

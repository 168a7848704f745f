"""The scratch page as a part of the build: ``-D scratch=auto`` (the default), ``yes`` (an error if it cannot be built) or ``no``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scratch.parts import HERE, LeftOutError, provide
from sphinx.config import ENUM
from sphinx.errors import ExtensionError
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

logger = logging.getLogger(__name__)


def write(app: Sphinx, error: Exception | None) -> None:
    """Put the page's files beside it once the pages are written."""
    if error is None and app.builder.format == "html":
        try:
            logger.info("scratch page: %s", provide(app.config.scratch, HERE.parent / "_build" / "scratch", Path(app.outdir) / "scratch"))
        except LeftOutError as reason:
            message = f"The scratch page cannot be built: {reason}"
            raise ExtensionError(message) from None


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the option and the files."""
    app.add_config_value("scratch", "auto", "", types=ENUM("auto", "yes", "no"))
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

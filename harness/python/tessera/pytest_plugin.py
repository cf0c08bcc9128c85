"""The pytest plugin: where tessera.check and tessera.verify leave packs, and failures without our own frames.

Found by pytest where the package is installed; elsewhere `-p tessera.pytest_plugin`.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator

import pytest

from tessera import testing

FOLDER = "tessera-packs"
KEPT = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("tessera").addoption(
        "--tessera-packs",
        metavar="DIR",
        help="where tessera.check and tessera.verify leave packs of what fails, for `tsr replay` "
        "(default: tessera-packs in pytest's cache, of which the newest 100 stay)",
    )


def _folder(config: pytest.Config) -> tuple[str | None, bool]:
    """The folder, and whether it is ours to keep small; without a cache it is the program's, .tsr/failures."""
    named = config.getoption("--tessera-packs")
    if named:
        return os.path.abspath(named), False
    cache = getattr(config, "cache", None)
    return (str(cache.mkdir(FOLDER)), True) if cache else (None, False)


def _trim(folder: str) -> None:
    found = sorted(pathlib.Path(folder).glob("*.repro.tar.lz4"), key=lambda file: file.stat().st_mtime)
    for file in found[:-KEPT]:
        file.unlink(missing_ok=True)


@pytest.hookimpl(trylast=True)  # type: ignore[misc]
def pytest_configure(config: pytest.Config) -> None:
    testing.packs, _ = _folder(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    folder, ours = _folder(config)
    if ours and folder:
        _trim(folder)
    testing.packs = None


@pytest.fixture
def tessera_packs() -> Iterator[pathlib.Path]:
    """The folder that packs go to."""
    yield pathlib.Path(testing.packs or ".tsr/failures")

"""What the computations of timm's architectures and of diffusers' classes have in common: a search in few passes, and their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from atlas_builder.computing import Finder

from paramsym.atlas import computing
from paramsym.atlas.computing import formed, packed_computations, path_of
from paramsym.atlas.letters import name_of
from paramsym.atlas.record import plain, unpacked
from paramsym.read.recording import Recording


class NetworkFinder(Finder):
    """The search for the computation of one network, in fewer passes."""

    fresh, fewest, mixtures = 6, 5, 2

    def held(self, base: Mapping[str, int], recording: Recording, known: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return all keys that are no letters, rates excepted: in evaluation they do nothing."""
        del recording, known
        values = self.of.reference.resolved(self.of.base)
        rates = {key for key, domain in self.of.entry["keys"].items() if key.endswith("rate") and "number" in domain}
        return {key: [values.get(key)] for key in self.of.entry["keys"] if name_of(key) not in base and key not in rates}


def kept(model_type: str, found: Mapping[str, Any]) -> None:
    """Write the computation of a network into its file, from which it is read anew."""
    path_of(model_type).parent.mkdir(exist_ok=True, parents=True)
    path_of(model_type).write_bytes(packed_computations(model_type, found))
    for cache in (computing._classes_of, computing._forms_of):
        cache.cache_clear()


def known(model_type: str) -> dict[str, Any]:
    """Return the computation in a network's file."""
    found: dict[str, Any] = plain(unpacked(path_of(model_type).read_bytes()))["classes"]
    return found


def compared(model_type: str, found: Mapping[str, Any], form: dict[str, Any], differs: Callable[[], str]) -> str:
    """Let a form run if a run gives what the network gives; return why not, nothing if it does.

    Only of a network that makes no arrays from sizes.
    """
    (entry,) = found.values()
    form["recording"].pop("entries", None)
    if constants := formed(entry["inputs"], form).recording.constants:
        return f"no rules of {len(constants)} arrays"
    form["recording"]["entries"] = []
    kept(model_type, found)
    said = "the comparison failed"
    try:
        said = differs()
    finally:
        if said:
            form["recording"].pop("entries")
            kept(model_type, found)
    return said


def told(form: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
    """Return what is printed of a form."""
    return f"{form['certificate']} {inputs} held {sorted(form['held'])} above {form['above']} most {form['most']}"

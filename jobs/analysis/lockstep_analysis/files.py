"""Opens a file by what it says it is."""
import h5py

from .run import Run
from .sweep import Sweep


class NoOutput(Exception):
    """A file that Lockstep has not written."""


def load(path):
    """The Run or Sweep in a file; a run may still be under way, or have been killed."""
    try:
        file = open_file(path)
    except OSError as error:
        raise NoOutput(f"{path}: cannot be read as an output of lockstep: {error}") from error
    kind = text(file.attrs.get("file type", ""))
    if kind == "lockstep run":
        return Run(path, file)
    if kind == "lockstep sweep":
        return Sweep(path, file)
    file.close()
    raise NoOutput(f"{path}: is no output of lockstep: name what `run` or `collect` wrote")


def open_file(path):
    try:
        return h5py.File(path, "r")
    except OSError:  # still being written, or left by a run that was killed
        return h5py.File(path, "r", libver="latest", swmr=True)


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)

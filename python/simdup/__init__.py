"""Near-duplicate documents: the `simdup` program, and `simdup.spark` to run it on Spark."""

from simdup.binary import binary_path, version
from simdup.notes import SimdupWarning
from simdup.worker import StageError

__all__ = ["SimdupWarning", "StageError", "binary_path", "version"]

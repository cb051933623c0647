"""Near-duplicate documents: the `simdup` program, and `simdup.spark` to run it on Spark."""

from simdup.binary import binary_path, version

__all__ = ["binary_path", "version"]

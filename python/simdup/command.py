"""The command `simdup-spark`: what `simdup`, `simdup cluster` and `simdup dedup` do, on Spark."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from simdup import spark as on_spark
from simdup.progress import Progress
from simdup.worker import StageError

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

DESCRIPTION = """\
Finds near-duplicates on Spark, with the answer that `simdup` gives on one machine, byte for byte.
All flags of `simdup`, `simdup cluster` and `simdup dedup` that say what is read, compared and kept
are handed through, as they are typed there (`simdup --help`); flags that need all documents on one
machine are refused.
"""

EXAMPLE = """\
example:
  simdup-spark dedup --keep longest --threshold 0.8 crawl/ --output clean --master 'local[*,4]'
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="simdup-spark",
        description=DESCRIPTION,
        usage="simdup-spark pairs|cluster|dedup [OPTIONS] [SIMDUP'S FLAGS] INPUT... --output DIR",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("verb", choices=["pairs", "cluster", "dedup"])
    parser.add_argument("--output", "-o", required=True, metavar="DIR", help="where results go")
    parser.add_argument(
        "--work",
        metavar="DIR",
        help="where stages are kept, seen by all machines; a rerun skips "
        "those that are there (default: a temporary directory)",
    )
    parser.add_argument("--removed", metavar="DIR", help="dedup: what goes, and why, as JSONL")
    parser.add_argument("--master", help="Spark's master, if there is no spark-submit")
    parser.add_argument("--remote", help="the address of a Spark Connect server, or of Sail")
    parser.add_argument("--split", default="64M", help="bytes of input in a task (64M)")
    parser.add_argument(
        "--binary",
        metavar="NAME",
        help="the program on other machines: the name under which --files sends it, or a path",
    )
    parser.add_argument("--stats", metavar="FILE", help="what was done, as JSON")
    parser.add_argument("--quiet", "-q", action="store_true", help="no summary")
    return parser


def _session(arguments: argparse.Namespace) -> Any:
    from pyspark.conf import SparkConf
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    if arguments.remote:
        return builder.remote(arguments.remote).getOrCreate()
    if arguments.master:
        builder = builder.master(arguments.master)
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    if (arguments.master or SparkConf().get("spark.master", "")).startswith("local"):
        # Java only moves bytes here: compiling its code for speed takes more than it saves, and so
        # does a server of pages that end with this process.
        builder = builder.config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
        if SparkConf().get("spark.ui.enabled", None) is None:
            builder = builder.config("spark.ui.enabled", "false")
    return builder.appName("simdup").getOrCreate()


def split_typed(parser: argparse.ArgumentParser, typed: list[str]) -> tuple[list[str], list[str]]:
    """Give what is typed for this command, and what for the program, each as it stands.

    >>> split_typed(_parser(), ["pairs", "-t", "0.8", "--work=w", "a", "-o", "out", "--", "-q"])
    (['pairs', '--work=w', '-o', 'out'], ['-t', '0.8', 'a', '--', '-q'])
    """
    own, others = typed[:1], []
    rest = iter(typed[1:])
    for one in rest:
        action = parser._option_string_actions.get(one.split("=", 1)[0])
        if one == "--":
            others += [one, *rest]
        elif action is None:
            others.append(one)
        else:
            own.append(one)
            if action.nargs is None and "=" not in one:
                own += [value for value in [next(rest, None)] if value is not None]
    return own, others


def size(text: str) -> int:
    """Give a number of bytes.

    >>> size("64M"), size("512")
    (67108864, 512)
    """
    units = {"K": 10, "M": 20, "G": 30}
    unit = units.get(text[-1:].upper())
    return int(text) if unit is None else int(text[:-1]) << unit


def _run(arguments: argparse.Namespace, typed: list[str]) -> on_spark.Run:
    session = _session(arguments)
    with Progress(session, quiet=arguments.quiet) as progress:
        run = on_spark.start(
            session,
            arguments.verb,
            [],
            typed,
            work=arguments.work,
            emit="lines",
            lines=arguments.removed if arguments.verb == "dedup" else arguments.output,
            split=size(arguments.split),
            sent=arguments.binary,
            told=progress.stage,
        )
        results = on_spark.results(run)
        if arguments.verb == "dedup":
            on_spark.write_kept(run, results, arguments.output)
    session.stop()
    return run


def main(argv: list[str] | None = None) -> int:
    """Run what was typed, and give the exit status: 0 done, 2 an error or records skipped."""
    parser = _parser()
    own, typed = split_typed(parser, sys.argv[1:] if argv is None else argv)
    arguments = parser.parse_args(own)
    if arguments.removed and arguments.verb != "dedup":
        parser.error("--removed goes with dedup")
    if (
        arguments.removed
        and Path(arguments.removed).absolute() == Path(arguments.output).absolute()
    ):
        parser.error("--removed and --output are the same directory")
    started = time.monotonic()
    try:
        run = _run(arguments, typed)
    except (StageError, OSError, ValueError) as error:
        print(f"simdup-spark: {error}", file=sys.stderr)
        return 2
    stats = run.finish()
    told = {
        "counts": stats.counts,
        "stages": stats.stages,
        "warnings": stats.warnings,
        "seconds": round(time.monotonic() - started, 3),
    }
    for text in run.notes.problems() if arguments.quiet else stats.warnings:
        print(f"simdup-spark: {text}", file=sys.stderr)
    if arguments.stats:
        Path(arguments.stats).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if not arguments.quiet:
        _summary(told)
    skipped = stats.counts.get("skipped", 0)
    return 2 if skipped and "--skip-ok" not in run.arguments else 0


def _summary(told: dict[str, Any]) -> None:
    counts = told["counts"]
    documents = max(1, counts.get("documents", 0))
    for stage in told["stages"]:
        skipped = ", done before" if stage["skipped"] else ""
        print(f"simdup-spark: {stage['stage']}: {stage['seconds']:.1f} s{skipped}", file=sys.stderr)
        for name, used in stage["processes"].items():
            print(
                f"simdup-spark:   {name}: {used['tasks']} tasks, "
                f"{used['cpu_seconds']:.1f} s of CPU "
                f"(median {used['median']:.2f}, largest {used['largest']:.2f}), "
                f"{used['bytes']:,} bytes came, {used['bytes'] / documents:.0f} a document",
                file=sys.stderr,
            )
    shown = ("documents", "repeated_ids", "identical", "pairs", "clusters", "members", "kept")
    found = ", ".join(f"{counts[name]} {name}" for name in shown if counts.get(name))
    print(f"simdup-spark: {found}, {told['seconds']} s", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

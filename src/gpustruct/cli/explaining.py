"""gpustruct explain: the page of an error's rule, without a network."""

from __future__ import annotations

import argparse
import sys

from ..errors import pages
from .printing import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``gpustruct explain``."""
    parser.add_argument(
        "rule", nargs="*", help="the name of a rule, or a whole message; without it, all rules are listed"
    )
    parser.epilog = (
        "An error has the name of its rule in error.rule; error.explain() returns the same page.\n\n"
        "examples:\n"
        "  gpustruct explain array-stride-uniform\n"
        '  gpustruct explain "array stride must be a multiple of 16 in uniform (current: 4) - at Weights.values"'
    )


def main(args: argparse.Namespace) -> int:
    """Run ``gpustruct explain``: 0; an unknown rule raises CommandError."""
    text = pages.explain(" ".join(args.rule)) if args.rule else "\n".join(pages.rules()) + "\n"
    sys.stdout.write(printable(text))
    return 0

"""What a user did or has that cannot be measured: one sentence, exit status 2."""

import os
import sys


class Problem(Exception):
    """Ends the program with its sentence."""


class Skipped(Exception):
    """A row or a peer that this machine cannot measure, and why."""


def sentence_of(program, main):
    """Runs main(); a Problem becomes its sentence on stderr and exit status 2."""
    try:
        status = main()
        sys.stdout.flush()
        return status
    except Problem as problem:
        print(f"{program}: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1
    except OSError as error:
        if error.filename is not None:
            raise
        print(f"{program}: standard output: cannot be written: {error.strerror}", file=sys.stderr)
        os._exit(2)  # or Python would try once more to write what it holds

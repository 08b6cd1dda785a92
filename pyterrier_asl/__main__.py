"""``python -m pyterrier_asl``: the command ``pyterrier-asl``, as a process of its own."""

import atexit
import gc
import signal


def run() -> None:
    """Runs the command, and ends the process."""
    # Python looks for garbage among all that modules make, while they load and when it ends. There
    # is none, and looking takes a third of a second.
    gc.set_threshold(100_000, 50, 100)
    atexit.register(gc.freeze)
    # Ctrl-C ends the process without a traceback until the command can say that it was stopped.
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .cli import main

    signal.signal(signal.SIGINT, handler)
    main(prog_name="pyterrier-asl")


if __name__ == "__main__":
    run()

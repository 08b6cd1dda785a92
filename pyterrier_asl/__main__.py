"""``python -m pyterrier_asl``: the command ``pyterrier-asl``, as a process of its own."""

import atexit
import gc
import io
import os
import signal
import sys
from typing import Any


class _Pipe(io.FileIO):
    """A standard stream; once its reader has closed it, such as ``head``, the rest is dropped.

    The command goes on: it still writes its files, and its exit status is its own.
    """

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def _outlive_readers(name: str) -> None:
    """Opens a standard stream again as a :class:`_Pipe`."""
    stream = getattr(sys, name)
    if stream is not None and not stream.isatty():  # it can be closed from the start
        binary = io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False))
        settings = {key: getattr(stream, key) for key in ("encoding", "errors", "line_buffering")}
        setattr(sys, name, io.TextIOWrapper(binary, **settings))


def run() -> None:
    """Runs the command, and ends the process."""
    # Python looks for garbage among all that modules make, while they load and when it ends. There
    # is none, and looking takes a third of a second.
    gc.set_threshold(100_000, 50, 100)
    atexit.register(gc.freeze)
    # The products of matrices are small here: threads of BLAS only wait for one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The products of matrices are small here: threads of BLAS only wait for one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Ctrl-C ends the process without a traceback until the command can say that it was stopped.
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    _outlive_readers("stdout")
    _outlive_readers("stderr")
    from .cli import main

    signal.signal(signal.SIGINT, handler)
    main(prog_name="pyterrier-asl")


if __name__ == "__main__":
    run()

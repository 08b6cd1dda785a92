"""The limits of a process."""

from __future__ import annotations


def check_address_space(gigabytes: float, what: str) -> None:
    """Checks the limit of ``ulimit -v``: with a low limit libraries hang or end the process.

    Args:
        gigabytes: the address space that is needed.
        what: the part of this package that needs it.

    Raises:
        MemoryError: for a lower limit.

    >>> check_address_space(0.1, "this example")
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if 0 <= limit < gigabytes * 2**30:
        raise MemoryError(
            f"{what} needs {gigabytes:g} GB of address space, and 'ulimit -v' permits "
            f"{limit / 2**30:.1f} GB: raise it"
        )

"""Digests and checksums: parts of the ids of pools and lengths, and signs of damaged files."""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa


def digest_of(content: list[bytes | pa.Array | npt.NDArray[Any]]) -> str:
    """The digest of bytes and arrays; Arrow text contributes its lengths and characters."""
    from hashlib import blake2b

    from .values import arrays_of

    digest = blake2b(digest_size=16)
    for part in content:
        if isinstance(part, (bytes, np.ndarray)):
            digest.update(bytes(part))
        else:
            starts, characters = arrays_of(part)
            digest.update(bytes(starts - starts[0]))
            digest.update(characters[starts[0] : starts[-1]].data)
        digest.update(b"\0")
    return digest.hexdigest()


def checksum(path: str | os.PathLike[str]) -> int:
    """The CRC-32 of a file, which changes with every byte; some 0.3 s per gigabyte.

    Args:
        path: The file.

    Returns:
        A number from 0 to 2^32 - 1.

    Raises:
        OSError: If it cannot be read.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> file = Path(tempfile.mkdtemp()) / "digits.txt"
        >>> _ = file.write_text("123456789")
        >>> hex(checksum(file))
        '0xcbf43926'
    """
    crc = 0
    with open(path, "rb", buffering=0) as file:
        while block := file.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return crc

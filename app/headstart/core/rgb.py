"""Images as models take them: rows of pixels. The caller supplies the decoder."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

# larger images are scaled down to this: models use fewer pixels than that
LONGEST_SIDE = 2048


class Rgb(Struct, frozen=True):
    """`width` x `height` pixels of three bytes, row by row without gaps."""

    width: int
    height: int
    data: bytes

    def __repr__(self) -> str:
        return f"Rgb({self.width} x {self.height})"


DecodeImage = Callable[[bytes], Rgb | None]
"""A PNG, JPEG, WebP or GIF file's pixels, turned as it was taken; None where it cannot be read.
May be called on any thread."""


def no_images(_data: bytes) -> Rgb | None:
    """For programs without a window: decodes nothing."""
    return None

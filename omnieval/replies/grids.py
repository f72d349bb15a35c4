"""The grids that models point in, and the pictures that they are sent."""

from collections.abc import Callable
from typing import Literal

from taskloom.resources.record import Record
from taskloom.taskgraph.records.gestures import Point

Grid = Literal["pixels", "thousand", "thousand_less_one", "fractions"]
"""Pixels of the picture that was sent; 0 to 1000; 0 to 999; 0 to 1."""
_EXTENTS: dict[Grid, float] = {"thousand": 1000.0, "thousand_less_one": 999.0, "fractions": 1.0}


class Sizing(Record):
    """How a picture is resized before it is sent; as it is where `factor` is 1 and there is no limit.

    Models of the Qwen-VL family see pictures whose sides are multiples of `factor`, within limits of their
    number of pixels; models that point in pixels mean those of that picture.
    """

    factor: int = 1
    """Sides are multiples of it."""
    least_pixels: int = 0
    """Fewest pixels; 0 for any."""
    most_pixels: int = 0
    """Most pixels; 0 for any."""
    fixed: tuple[int, int] | None = None
    """Always this size."""

    def of(self, size: tuple[int, int]) -> tuple[int, int]:
        """The size at which a picture of that size is sent.

        >>> Sizing(factor=28, least_pixels=3136, most_pixels=12845056).of((1280, 800))
        (1288, 812)
        >>> Sizing(factor=28, least_pixels=3136, most_pixels=1003520).of((1920, 1080))
        (1316, 728)
        """
        if self.fixed is not None:
            return self.fixed
        width, height = size
        sent = self._multiples(lambda side: round(side / self.factor), width, height)
        pixels = sent[0] * sent[1]
        if self.most_pixels and pixels > self.most_pixels:
            scale = (width * height / self.most_pixels) ** 0.5
            return self._multiples(lambda side: int(side // self.factor), width / scale, height / scale)
        if self.least_pixels and pixels < self.least_pixels:
            scale = (self.least_pixels / (width * height)) ** 0.5
            return self._multiples(lambda side: -int(-side // self.factor), width * scale, height * scale)
        return sent

    def _multiples(self, times: Callable[[float], int], *sides: float) -> tuple[int, int]:
        across, down = (max(self.factor, times(side) * self.factor) for side in sides)
        return across, down


AS_IT_IS = Sizing()
"""The picture at the screen's own size."""


def on_screen(
    place: tuple[float, float], grid: Grid, sent: tuple[int, int], screen: tuple[int, int]
) -> Point:
    """The pixel of the screen that a place in the grid means.

    The far edge is the last pixel; what lies beyond it stays outside, and is refused where it is used.

    >>> on_screen((1000, 500), "thousand", (1288, 812), (1280, 800))
    (1279, 400)
    >>> on_screen((644, 406), "pixels", (1288, 812), (1280, 800))
    (640, 400)
    """
    extents = sent if grid == "pixels" else (_EXTENTS[grid], _EXTENTS[grid])
    x, y = (
        min(round(value / extent * side), side - 1) if 0 <= value <= extent else round(value / extent * side)
        for value, extent, side in zip(place, extents, screen, strict=True)
    )
    return x, y

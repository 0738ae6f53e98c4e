"""Products of weights and rows of numbers have the same bits for one row and for many, and are the
products of the numbers that the formats stand for."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from gguf import GGMLQuantizationType as Type
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize

from tests.support.native_library import SAMPLED, native_library


class Format(NamedTuple):
    """Places of the numbers in half precision within a block."""

    type: Type
    halves: tuple[int, ...]


FORMATS = (
    Format(Type.Q4_0, (0,)),
    Format(Type.Q4_1, (0, 2)),
    Format(Type.Q5_0, (0,)),
    Format(Type.Q5_1, (0, 2)),
    Format(Type.Q8_0, (0,)),
    Format(Type.Q4_K, (0, 2)),
    Format(Type.Q5_K, (0, 2)),
    Format(Type.Q6_K, (208,)),
    Format(Type.IQ4_NL, (0,)),
    Format(Type.IQ4_XS, (0,)),
    Format(Type.MXFP4, ()),
    Format(Type.F16, ()),
    Format(Type.BF16, ()),
    Format(Type.F32, ()),
)
FLOATS = (Type.F16, Type.BF16, Type.F32)
ROWS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 130, 257)

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


@pytest.fixture(scope="module", params=SAMPLED)
def library(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> ctypes.CDLL:
    source = Path(__file__).parent / "x86_tiles.c"
    loaded = native_library(source, tmp_path_factory, request.param)
    loaded.row_size.restype = ctypes.c_size_t
    return loaded


def _weights(form: Format, rows: int, numbers: int, random: np.random.Generator) -> Bytes:
    """Any bytes, with scales of a usual size."""
    block, size = GGML_QUANT_SIZES[form.type]
    if form.type in FLOATS:
        values = random.standard_normal((rows, numbers)).astype(np.float32)
        if form.type == Type.F16:
            return values.astype(np.float16).view(np.uint8)
        if form.type == Type.BF16:
            return (values.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
        return values.view(np.uint8)
    data = random.integers(0, 256, (rows * numbers // block, size), dtype=np.uint8)
    for place in form.halves:
        scales = random.standard_normal(len(data)).astype(np.float16)
        data[:, place : place + 2] = scales.view(np.uint8).reshape(-1, 2)
    if form.type == Type.MXFP4:
        data[:, 0] = random.integers(110, 135, len(data))
    return data.reshape(rows, -1)


class Case:
    """A matrix of weights, and rows of numbers for it."""

    def __init__(self, library: ctypes.CDLL, form: Format, rows: int, numbers: int) -> None:
        random = np.random.default_rng(rows * numbers)
        self._library, self.form, self.rows, self.numbers = library, form, rows, numbers
        self.weights = _weights(form, rows, numbers, random)
        self.x = random.standard_normal((max(ROWS), numbers)).astype(np.float32)
        self.x[::5] *= 100
        self.x[1, : numbers // 2] = 0
        size = library.row_size(int(form.type), ctypes.c_int64(numbers))
        self.made: npt.NDArray[Any] = self.x
        if size:
            self.made = np.zeros((len(self.x), size), np.uint8)
            for row, made in zip(self.x, self.made, strict=True):
                library.make_row(int(form.type), _at(row), ctypes.c_int64(numbers), _at(made))

    def product(self, n: int, first: int = 0, begin: int = 0, end: int | None = None) -> Floats:
        made = np.zeros((n, self.rows), np.float32)
        whole = ctypes.c_int64
        self._library.multiply(
            *(int(self.form.type), whole(begin), whole(self.rows if end is None else end)),
            *(whole(n), whole(self.numbers), _at(self.weights)),
            *(ctypes.c_size_t(self.weights.strides[0]), _at(self.made[first:])),
            *(ctypes.c_size_t(self.made.strides[0]), _at(made), whole(self.rows)),
        )
        return made

    def rounded(self) -> npt.NDArray[np.float64]:
        """The rows of numbers, as their 8 bits stand for them."""
        if self.made is self.x:
            return self.x.astype(np.float64)
        wide = 256 if GGML_QUANT_SIZES[self.form.type][0] == 256 else 32
        blocks = self.made.reshape(len(self.x), self.numbers // wide, -1)
        place = wide + 48 if wide == 256 else wide
        scales = np.ascontiguousarray(blocks[:, :, place : place + 4]).view(np.float32)
        values = blocks[:, :, :wide].view(np.int8).astype(np.float64) * scales
        return np.asarray(values.reshape(len(self.x), -1), np.float64)


def _at(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _each(test: Callable[..., None]) -> Any:
    return pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.type.name)(test)


def _shapes(form: Format) -> list[tuple[int, int]]:
    """Rows of weights, and numbers in each; also fewer than go together, and a last part."""
    if GGML_QUANT_SIZES[form.type][0] == 256:
        return [(48, 256), (37, 768), (3, 512), (1, 256), (6, 2304)]
    return [(48, 32), (37, 576), (3, 96), (1, 256), (6, 2080)]


@_each
def test_one_row_and_many_have_the_same_bits(library: ctypes.CDLL, form: Format) -> None:
    for rows, numbers in _shapes(form):
        case = Case(library, form, rows, numbers)
        single = np.concatenate([case.product(1, row) for row in range(len(case.x))])
        assert np.abs(single).max() > 0
        for n in ROWS:
            np.testing.assert_array_equal(
                case.product(n).view(np.uint32), single[:n].view(np.uint32)
            )


@_each
def test_parts_of_the_weights_have_the_same_bits(library: ctypes.CDLL, form: Format) -> None:
    """Threads take parts that begin and end at multiples of 16, the last one anywhere."""
    case = Case(library, form, *_shapes(form)[1])
    for n in (1, 2, 4, 9):
        whole, parts = case.product(n), [(0, 16), (16, 32), (32, case.rows)]
        together = sum(case.product(n, 0, begin, end) for begin, end in parts)
        np.testing.assert_array_equal(np.asarray(together), whole)


@_each
def test_they_are_the_products(library: ctypes.CDLL, form: Format) -> None:
    for rows, numbers in _shapes(form):
        case = Case(library, form, rows, numbers)
        stored = case.weights if form.type in FLOATS else case.weights.reshape(rows, -1)
        weights = dequantize(stored, form.type).reshape(rows, numbers).astype(np.float64)
        x = case.rounded()
        wanted, most = x @ weights.T, np.abs(x) @ np.abs(weights).T
        for n in (1, 4, 17):
            assert (np.abs(case.product(n) - wanted[:n]) <= 2e-6 * most[:n] + 1e-30).all()


def test_numbers_are_rounded_to_the_nearest_of_255(library: ctypes.CDLL) -> None:
    for form in (FORMATS[0], FORMATS[5]):
        case = Case(library, form, 16, 512)
        wide = 256 if GGML_QUANT_SIZES[form.type][0] == 256 else 32
        most = np.abs(case.x.reshape(-1, wide)).max(axis=1, keepdims=True)
        error = np.abs(case.rounded().reshape(-1, wide) - case.x.reshape(-1, wide))
        assert (error <= most / 127 / 2 * 1.0001).all()

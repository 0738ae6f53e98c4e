"""Attention has the same bits however many rows are computed together and whatever cells lie
between, and is what the formula says."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize, quantize

from tests.support.native_library import SAMPLED, native_library

TYPES = (
    (Type.F16, Type.F16),
    (Type.BF16, Type.BF16),
    (Type.Q8_0, Type.Q8_0),
    (Type.F32, Type.F32),
    (Type.Q8_0, Type.F16),
    (Type.F16, Type.Q8_0),
)
# rows, numbers of a key and of a value, cells
SHAPES = (
    (32, 64, 64, 200),
    (9, 128, 128, 513),
    (5, 96, 32, 7),
    (33, 64, 160, 64),
    (3, 256, 256, 1000),
)

Floats = npt.NDArray[np.float32]


@pytest.fixture(scope="module", params=SAMPLED)
def library(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> ctypes.CDLL:
    source = Path(__file__).parent / "x86_attention.c"
    return native_library(source, tmp_path_factory, request.param)


def _at(array: npt.NDArray[Any] | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data if array is not None else 0)


class Case:
    """Rows that look at cells; a half of the cells is hidden from each, and some rows see few."""

    def __init__(
        self, kinds: tuple[Type, Type], shape: tuple[int, int, int, int], *, sink: bool = False
    ) -> None:
        self.rows, self.dk, self.dv, self.cells = shape
        random = np.random.default_rng(sum(shape))
        draw = random.standard_normal
        self.kinds = kinds
        self.k = quantize(draw((self.cells, self.dk)).astype(np.float32) * 2, kinds[0])
        self.v = quantize(draw((self.cells, self.dv)).astype(np.float32), kinds[1])
        self.q = draw((self.rows, self.dk)).astype(np.float32) * 2
        hidden = random.random((self.rows, self.cells)) < 0.5
        hidden[0, :-3] = True
        hidden[:, -2] = False
        # a bias, as with ALiBi
        self.mask = np.where(hidden, -np.inf, -random.random(hidden.shape) * 4).astype(np.float16)
        self.slopes = random.random(self.rows).astype(np.float32) + 0.5
        self.sink = np.array([0.7], np.float32) if sink else None
        self.scale, self.cap = 1 / self.dk**0.5, 0.0

    def run(self, library: ctypes.CDLL, together: int) -> Floats:
        out = np.full((self.rows, self.dv), np.nan, np.float32)
        whole, size, number = ctypes.c_int64, ctypes.c_size_t, ctypes.c_float
        library.attend(
            *(int(self.kinds[0]), int(self.kinds[1]), whole(self.dk), whole(self.dv)),
            *(_at(self.k), size(self.k.strides[0]), _at(self.v), size(self.v.strides[0])),
            *(number(self.scale), number(self.cap), whole(self.rows), whole(together)),
            *(whole(self.cells), _at(self.q), _at(self.mask), _at(self.slopes), _at(self.sink)),
            _at(out),
        )
        return out

    def wanted(self) -> npt.NDArray[np.float64]:
        k = dequantize(self.k, self.kinds[0]).astype(np.float64)
        v = dequantize(self.v, self.kinds[1]).astype(np.float64)
        scores = self._rounded() @ k.T * self.scale
        if self.cap:
            scores = self.cap * np.tanh(scores)
        scores = scores + self.mask.astype(np.float64) * self.slopes[:, None]
        top = scores.max(axis=1, keepdims=True)
        weights = np.exp(scores - top)
        total = weights.sum(axis=1, keepdims=True)
        if self.sink is not None:
            total += np.exp(self.sink - top)
        return np.asarray(weights @ v / total, np.float64)

    def _rounded(self) -> npt.NDArray[np.float64]:
        """Rows meet keys of 8 bits in 8 bits."""
        if self.kinds[0] != Type.Q8_0:
            return self.q.astype(np.float64)
        blocks = self.q.reshape(-1, 32)
        most = np.abs(blocks).max(axis=1, keepdims=True)
        rounded = np.rint(blocks * (np.float32(127) / most)) * (most / np.float32(127))
        return np.asarray(rounded.reshape(self.q.shape), np.float64)

    def without(self, cells: npt.NDArray[np.bool_]) -> None:
        """Leave out cells that no row sees."""
        self.k, self.v = np.ascontiguousarray(self.k[~cells]), np.ascontiguousarray(self.v[~cells])
        self.mask = np.ascontiguousarray(self.mask[:, ~cells])
        self.cells = int((~cells).sum())


@pytest.mark.parametrize("kinds", TYPES, ids=lambda kinds: f"{kinds[0].name}-{kinds[1].name}")
@pytest.mark.parametrize("sink", [False, True], ids=["", "sink"])
def test_it_is_what_the_formula_says(
    library: ctypes.CDLL, kinds: tuple[Type, Type], sink: bool
) -> None:
    for shape in SHAPES:
        for cap in (0.0, 20.0):
            case = Case(kinds, shape, sink=sink)
            if cap:
                case.scale, case.cap = case.scale / cap, cap
            np.testing.assert_allclose(case.run(library, 32), case.wanted(), atol=2e-5, rtol=0)


@pytest.mark.parametrize("kinds", TYPES, ids=lambda kinds: f"{kinds[0].name}-{kinds[1].name}")
def test_one_row_and_many_have_the_same_bits(
    library: ctypes.CDLL, kinds: tuple[Type, Type]
) -> None:
    for shape in SHAPES:
        case = Case(kinds, shape)
        single = case.run(library, 1)
        for together in (2, 3, 4, 5, 8, 9, 32):
            np.testing.assert_array_equal(case.run(library, together), single)


@pytest.mark.parametrize("kinds", TYPES, ids=lambda kinds: f"{kinds[0].name}-{kinds[1].name}")
def test_cells_that_nobody_sees_change_no_bit(
    library: ctypes.CDLL, kinds: tuple[Type, Type]
) -> None:
    """Other chats' cells lie before, between and behind; what stands in them does not matter."""
    for shape in SHAPES:
        case = Case(kinds, shape)
        unseen = np.random.default_rng(1).random(case.cells) < 0.6
        unseen[-2] = False
        unseen[: case.cells // 3] = True
        case.mask[:, unseen] = -np.inf
        with_them = case.run(library, 4)
        case.without(unseen)
        np.testing.assert_array_equal(case.run(library, 4), with_them)


def test_a_row_that_sees_nothing_is_zero(library: ctypes.CDLL) -> None:
    case = Case(TYPES[0], SHAPES[0])
    case.mask[3] = -np.inf
    assert (case.run(library, 8)[3] == 0).all()
    assert np.isfinite(case.run(library, 8)).all()


def test_scores_may_be_far_apart(library: ctypes.CDLL) -> None:
    for size in (1e-3, 30.0, 300.0):
        case = Case((Type.F32, Type.F32), SHAPES[0])
        case.q *= np.float32(size)
        np.testing.assert_allclose(case.run(library, 32), case.wanted(), atol=1e-5 * max(size, 1))
        np.testing.assert_array_equal(case.run(library, 3), case.run(library, 32))

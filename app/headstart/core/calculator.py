"""Exact arithmetic: whole numbers and fractions without rounding. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

# bits of a numerator or a denominator, characters of a term, and parentheses inside one another
_MOST_BITS = 100_000
_LONGEST = 10_000
_DEEPEST = 100
# digits of a result that cannot be written exactly, or that would be too long to read
_DIGITS = 30
_LONGEST_RESULT = 2_000

_TOKEN = re.compile(
    r"(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?)"
    r"|(?P<name>[A-Za-z]+)|(?P<sign>\*\*|//|[-+*/%^(),!×÷−]))\s*+"
)
_SAME = {"×": "*", "÷": "/", "−": "-", "^": "**"}


class CalculationError(Exception):
    """The term has no value; the text says why, to a model."""


def calculate(term: str) -> str:
    """The value of a term: exactly as a whole number or a decimal where it has one, else as a
    fraction with a rounded decimal. Raises CalculationError."""
    if len(term) > _LONGEST:
        raise CalculationError("The term is too long.")
    value, rounded = _Term(term).value()
    return _shown(value, rounded)


class _Term:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0
        self._rounded = False

    def value(self) -> tuple[Fraction, bool]:
        found = self._sum()
        if self._at < len(self._tokens):
            raise CalculationError(f"Unexpected: {self._tokens[self._at][1]}")
        return found, self._rounded

    def _takes(self, *signs: str) -> str:
        if self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            if kind == "sign" and text in signs:
                self._at += 1
                return text
        return ""

    def _sum(self) -> Fraction:
        value = self._product()
        while sign := self._takes("+", "-"):
            other = self._product()
            value = _checked(value + other if sign == "+" else value - other)
        return value

    def _product(self) -> Fraction:
        value = self._signed()
        while sign := self._takes("*", "/", "//", "%"):
            other = self._signed()
            if sign != "*" and not other:
                raise CalculationError("Division by zero.")
            if sign == "*":
                value *= other
            elif sign == "/":
                value /= other
            else:
                value = Fraction(value // other) if sign == "//" else value % other
            _checked(value)
        return value

    def _signed(self) -> Fraction:
        sign = self._takes("-", "+")
        value = self._signed() if sign else self._power()
        return -value if sign == "-" else value

    def _power(self) -> Fraction:
        base = self._counted()
        if not self._takes("**"):
            return base
        exponent = self._signed()
        if exponent.denominator != 1:
            if exponent == Fraction(1, 2):
                return self._root(base)
            raise CalculationError("Only whole exponents and 1/2 are possible.")
        power = int(exponent)
        if not base and power < 0:
            raise CalculationError("Division by zero.")
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits * abs(power) > _MOST_BITS and base not in (0, 1, -1):
            raise CalculationError("The number is too large.")
        return base**power

    def _counted(self) -> Fraction:
        value = self._single()
        while self._takes("!"):
            value = _factorial([value])
        return value

    def _single(self) -> Fraction:
        if self._at >= len(self._tokens):
            raise CalculationError("The term is incomplete.")
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return _number(text)
        if kind == "name":
            return self._named(text)
        if text != "(":
            raise CalculationError(f"Unexpected: {text}")
        return self._inside()[0]

    def _inside(self) -> list[Fraction]:
        """Values up to a closing parenthesis."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise CalculationError("Too many parentheses.")
        found = [self._sum()]
        while self._takes(","):
            found.append(self._sum())
        if not self._takes(")"):
            raise CalculationError("A closing parenthesis is missing.")
        self._depth -= 1
        return found

    def _named(self, name: str) -> Fraction:
        if not self._takes("("):
            raise CalculationError(f"Unknown name: {name}")
        values = self._inside()
        if name == "sqrt" and len(values) == 1:
            return self._root(values[0])
        if name not in _FUNCTIONS:
            raise CalculationError(f"Unknown function: {name}")
        return _checked(_FUNCTIONS[name](values))

    def _root(self, value: Fraction) -> Fraction:
        if value < 0:
            raise CalculationError("The square root of a negative number.")
        roots = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if roots[0] ** 2 == value.numerator and roots[1] ** 2 == value.denominator:
            return Fraction(*roots)
        self._rounded = True
        with localcontext() as context:
            context.prec = _DIGITS * 2
            return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at, text = [], 0, text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CalculationError(f"Unexpected: {text[at]}")
        at = match.end()
        kind = match.lastgroup or ""
        found.append((kind, _SAME.get(match[kind], match[kind])))
    return found


def _number(text: str) -> Fraction:
    mantissa, _, exponent = text.replace("_", "").lower().partition("e")
    return _checked(Fraction(mantissa) * Fraction(10) ** int(exponent or 0))


def _checked(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise CalculationError("The number is too large.")
    return value


def _factorial(values: Sequence[Fraction]) -> Fraction:
    (value,) = values if len(values) == 1 else (Fraction(-1),)
    if value.denominator != 1 or not 0 <= value <= 5000:
        raise CalculationError("Factorials go from 0 to 5000.")
    return Fraction(math.factorial(int(value)))


def _round(values: Sequence[Fraction]) -> Fraction:
    if len(values) > 2 or (len(values) == 2 and abs(values[1]) > 1000):
        raise CalculationError("round takes a number and a number of digits.")
    scale = Fraction(10) ** int(values[1] if len(values) == 2 else 0)
    scaled = values[0] * scale
    # as people round: half away from zero
    whole = math.floor(abs(scaled) + Fraction(1, 2))
    return Fraction(whole if scaled >= 0 else -whole) / scale


def _of_one(act: Callable[[Fraction], int | Fraction]) -> Callable[[Sequence[Fraction]], Fraction]:
    def run(values: Sequence[Fraction]) -> Fraction:
        if len(values) != 1:
            raise CalculationError("This function takes one number.")
        return Fraction(act(values[0]))

    return run


_FUNCTIONS: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "abs": _of_one(abs),
    "floor": _of_one(math.floor),
    "ceil": _of_one(math.ceil),
    "round": _round,
    "factorial": _factorial,
    "min": min,
    "max": max,
    "sum": lambda values: sum(values, Fraction(0)),
}


def _shown(value: Fraction, rounded: bool) -> str:
    if rounded:
        return f"about {_decimal(value)}"
    if value.denominator == 1:
        # Python limits the digits that it writes of a whole number
        digits = str(Decimal(value.numerator))
        return digits if len(digits) <= _LONGEST_RESULT else f"about {_decimal(value)}"
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest == 1 and places <= _DIGITS * 2:
        with localcontext() as context:
            context.prec = _LONGEST_RESULT
            return format(Decimal(value.numerator) / Decimal(value.denominator), "f")
    fraction = f"{Decimal(value.numerator)}/{Decimal(value.denominator)}"
    about = _decimal(value)
    return f"{fraction}, about {about}" if len(fraction) <= 200 else f"about {about}"


def _decimal(value: Fraction) -> str:
    with localcontext() as context:
        context.prec = _DIGITS
        found = (Decimal(value.numerator) / Decimal(value.denominator)).normalize()
    return str(found) if abs(found) >= 10**_DIGITS else format(found, "f")

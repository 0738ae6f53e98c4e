"""The window's languages: codes, own names, and what Qt calls them. Pure.

A code is that of BCP 47: a language, and a script or a country where the language has several
written forms.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Language(Struct, frozen=True):
    """`name`: in the language itself; `english`: for translators and tests. `qt`: Qt's name of its
    locale and of its own sentences."""

    code: str
    name: str
    english: str
    qt: str

    @property
    def base(self) -> str:
        """The language without its script or country: plural forms depend on it alone."""
        return self.code.partition("-")[0]

    @property
    def from_right(self) -> bool:
        """True for a language that is written from right to left."""
        return self.base in FROM_RIGHT

    @property
    def in_inter(self) -> bool:
        """True if the bundled font has its letters: Latin, Cyrillic."""
        return self.base not in _OTHER_LETTERS


# countries that write Chinese in traditional signs, where a system names no script
_TRADITIONAL = frozenset(("TW", "HK", "MO"))
_OTHER_LETTERS = frozenset(("ar", "fa", "he", "hi", "ja", "ko", "ur", "zh"))
FROM_RIGHT = frozenset(("ar", "fa", "he", "ur"))
ENGLISH = Language("en", "English", "English", "en")
# each character with an accent, and a third longer: for tests of the window
PSEUDO = Language("qps", "Ρšéũðö", "Pseudo-locale", "en")
LANGUAGES = (
    ENGLISH,
    Language("de", "Deutsch", "German", "de"),
    Language("es", "Español", "Spanish", "es"),
    Language("fr", "Français", "French", "fr"),
    Language("it", "Italiano", "Italian", "it"),
    Language("pt-BR", "Português (Brasil)", "Brazilian Portuguese", "pt_BR"),
    Language("ru", "Русский", "Russian", "ru"),
    Language("pl", "Polski", "Polish", "pl"),
    Language("uk", "Українська", "Ukrainian", "uk"),
    Language("tr", "Türkçe", "Turkish", "tr"),
    Language("id", "Bahasa Indonesia", "Indonesian", "id"),
    Language("vi", "Tiếng Việt", "Vietnamese", "vi"),
    Language("ar", "العربية", "Arabic", "ar"),
    Language("fa", "فارسی", "Persian", "fa"),
    Language("hi", "हिन्दी", "Hindi", "hi"),
    Language("zh-Hans", "简体中文", "Simplified Chinese", "zh_CN"),
    Language("zh-Hant", "繁體中文", "Traditional Chinese", "zh_TW"),
    Language("ja", "日本語", "Japanese", "ja"),
    Language("ko", "한국어", "Korean", "ko"),
)


def language_of(code: str) -> Language | None:
    """The language with a code."""
    return next((one for one in (*LANGUAGES, PSEUDO) if one.code == code), None)


def best_language(wanted: Iterable[str], offered: Iterable[Language]) -> Language:
    """The offered language that a system wants most; English without any. `wanted`: codes of BCP
    47, the best first: “zh-Hans-CN”, “pt-PT”, “de”."""
    known = tuple(offered)
    for code in wanted:
        parts = code.replace("_", "-").split("-")
        if parts[0] == "zh" and not {"Hans", "Hant"}.intersection(parts):
            parts = ["zh", "Hant" if parts[-1] in _TRADITIONAL else "Hans"]
        for one in known:
            own = one.code.split("-")
            # a script or a country that is named must be the same: Taiwan does not read zh-Hans
            if own == parts[: len(own)] or (len(parts) == 1 and own[0] == parts[0]):
                return one
        same = [one for one in known if one.base == parts[0]]
        if same and parts[0] != "zh":
            return same[0]
    return ENGLISH

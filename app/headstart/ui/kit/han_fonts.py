"""The fonts of Chinese, Japanese and Korean: the same signs are drawn differently in each, and
without a word from the program many systems take the Japanese ones. Main thread."""

from __future__ import annotations

import functools

from PySide6.QtCore import QLocale
from PySide6.QtGui import QFontDatabase

from headstart.core.text.languages import LANGUAGES, best_language
from headstart.ui.kit import languages

# those that come with systems, in the order of Linux, macOS, Windows
_FONTS = {
    "zh-Hans": (
        "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei",
        "PingFang SC", "Microsoft YaHei UI", "Microsoft YaHei",
    ),
    "zh-Hant": (
        "Noto Sans CJK TC", "Noto Sans TC", "Source Han Sans TC", "PingFang TC",
        "Microsoft JhengHei UI", "Microsoft JhengHei",
    ),
    "ja": (
        "Noto Sans CJK JP", "Noto Sans JP", "Source Han Sans JP", "Hiragino Sans",
        "Yu Gothic UI", "Meiryo UI",
    ),
    "ko": (
        "Noto Sans CJK KR", "Noto Sans KR", "Source Han Sans KR", "Apple SD Gothic Neo",
        "Malgun Gothic",
    ),
}  # fmt: skip


@functools.cache
def han_fonts() -> tuple[str, ...]:
    """An installed font, after that of the text, for the first of these languages that the window
    or the system speaks; () if there is none."""
    known = [one for one in LANGUAGES if one.code in _FONTS]
    wanted = (languages.current().code, *QLocale.system().uiLanguages())
    first = best_language(wanted, known)
    fonts = _FONTS.get(first.code, ())
    return tuple(one for one in fonts if QFontDatabase.hasFamily(one))[:1]

"""Encodings of text files, by their common names. Pure."""

from __future__ import annotations

# name, Python's codec, script or region; the names are stored with the files of messages
_ENCODINGS: tuple[tuple[str, str, str], ...] = (
    ("UTF-8", "utf-8", "Unicode"),
    ("UTF-16", "utf-16-le", "Unicode"),
    ("Windows-1252", "cp1252", "Western European"),
    ("Mac Roman", "mac_roman", "Western European"),
    ("IBM 850", "cp850", "Western European"),
    ("IBM 437", "cp437", "Western European"),
    ("Windows-1250", "cp1250", "Central European"),
    ("ISO 8859-2", "iso8859_2", "Central European"),
    ("IBM 852", "cp852", "Central European"),
    ("ISO 8859-16", "iso8859_16", "Romanian"),
    ("Windows-1251", "cp1251", "Cyrillic"),
    ("KOI8-R", "koi8_r", "Cyrillic"),
    ("KOI8-U", "koi8_u", "Cyrillic"),
    ("IBM 866", "cp866", "Cyrillic"),
    ("IBM 855", "cp855", "Cyrillic"),
    ("ISO 8859-5", "iso8859_5", "Cyrillic"),
    ("Mac Cyrillic", "mac_cyrillic", "Cyrillic"),
    ("Windows-1253", "cp1253", "Greek"),
    ("ISO 8859-7", "iso8859_7", "Greek"),
    ("Windows-1254", "cp1254", "Turkish"),
    ("Windows-1255", "cp1255", "Hebrew"),
    ("ISO 8859-8", "iso8859_8", "Hebrew"),
    ("Windows-1256", "cp1256", "Arabic"),
    ("ISO 8859-6", "iso8859_6", "Arabic"),
    ("Windows-1257", "cp1257", "Baltic"),
    ("ISO 8859-13", "iso8859_13", "Baltic"),
    ("Windows-1258", "cp1258", "Vietnamese"),
    ("Windows-874", "cp874", "Thai"),
    ("GB 18030", "gb18030", "Simplified Chinese"),
    ("Big5", "big5hkscs", "Traditional Chinese"),
    ("Shift JIS", "cp932", "Japanese"),
    ("EUC-JP", "euc_jp", "Japanese"),
    ("ISO-2022-JP", "iso2022_jp_ext", "Japanese"),
    ("EUC-KR", "cp949", "Korean"),
    ("Johab", "johab", "Korean"),
    ("ISO-2022-KR", "iso2022_kr", "Korean"),
)
CODECS = {name: codec for name, codec, _ in _ENCODINGS}
# name and script or region, as offered to the user
NAMES: tuple[tuple[str, str], ...] = tuple((name, whose) for name, _, whose in _ENCODINGS)

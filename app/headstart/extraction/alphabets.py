"""The letters beyond a to z of languages in Latin script. Pure.

A text decoded with the wrong encoding has letters that no single language combines. Lower-case
letters only, including those of foreign words that a language's dictionaries list.
"""

from __future__ import annotations

_LETTERS = {
    "Albanian": "çë",
    "Catalan": "àçèéíïòóúü",
    "Croatian, Bosnian, Slovene": "čćđšž",
    "Czech": "áčďéěíňóřšťúůýžöü",
    "Danish, Norwegian": "æøåéèêòóôâäöü",
    "Dutch": "áàäâéèëêíïîóöôúüûç",
    "English": "éèêëïöüñçàâôæœ",
    "Esperanto": "ĉĝĥĵŝŭ",
    "Estonian": "äöõüšž",
    "Faroese": "áðíóúýæø",
    "Finnish": "äöåšžéü",
    "French": "àâæçéèêëîïôœùûüÿñ",
    "German": "äöüßéèàêçñ",
    "Hungarian": "áéíóöőúüű",
    "Icelandic": "áéíóúýþæðö",
    "Irish": "áéíóú",
    "Italian": "àèéìíîòóùúü",
    "Latvian": "āčēģīķļņšūžŗō",
    "Lithuanian": "ąčęėįšųūž",
    "Maltese": "ċġħżàèìòù",
    "Polish": "ąćęłńóśźżéöü",
    "Portuguese": "áâãàçéêíóôõúüñ",
    "Romanian": "ăâîșțşţ",
    "Slovak": "áäčďéíĺľňóôŕšťúýžöü",
    "Spanish": "áéíñóúüçª",
    "Swedish": "åäöéèàüçô",
    "Turkish": "çğıöşüâîûé",
    "Vietnamese": "ăâđêôơưàáãèéìíòóõùúý",
    "Welsh": "âêîôûŵŷäëïöüáéíóúàèìòùẁẃẅ",
}
ALPHABETS = tuple(frozenset(letters) for letters in _LETTERS.values())
_COMMON = frozenset("ªºµ")


def foreign_letters(text: str) -> int:
    """Count the letters missing from the closest language."""
    letters = {
        one
        for one in text.lower()
        # Latin-1 to Latin Extended-B, without Vietnamese letters that carry two marks
        if "\u00df" <= one <= "\u024f" and one.isalpha()
    } - _COMMON
    return min(len(letters - alphabet) for alphabet in ALPHABETS)

"""Text files of one sentence in the encodings that their languages were written in."""

from __future__ import annotations

import unicodedata

import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.core.text.encodings import CODECS
from headstart.extraction.texts import Decoded, decode, decode_html

WESTERN = ("cp1252", "latin-1")
LANGUAGES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "French": (
        (*WESTERN, "mac_roman", "cp850"),
        (
            "Le garçon a mangé un gâteau à la crème près de l'école.",
            "Nous étions très fatigués après la randonnée, mais la vue était magnifique.",
            "nom;prénom;âge\nLefèvre;Hélène;34\nDubois;André;51\n",
        ),
    ),
    "Spanish": (
        (*WESTERN, "cp850"),
        (
            "Mañana iré al mercado con mi niño, que está muy contento.",
            "¿Dónde está la estación más cercana, por favor?",
        ),
    ),
    "Portuguese": (
        WESTERN,
        (
            "A população não sabia que a informação já estava disponível.",
            "Amanhã haverá reunião às três horas na câmara municipal.",
            "São Paulo;Brasília;Goiânia\n",
        ),
    ),
    "German": (
        (*WESTERN, "cp850"),
        (
            "Die Bäckerei in der Königstraße öffnet früh am Morgen.",
            "Für Müller war die Prüfung schwer, aber er hörte nicht auf zu üben.",
        ),
    ),
    "German list": (WESTERN, ("Straße;Größe\nMühlenweg;12\n", "[ansicht]\nüberschrift=Übung\n")),
    "Italian": (
        WESTERN,
        (
            "Perché la città è così bella di notte?",
            "L'università è più lontana di quanto pensassi, però ci andrò a piedi.",
            "Lunedì non verrà nessuno, ma martedì sì.",
        ),
    ),
    "Dutch": (
        WESTERN,
        (
            "De coördinatie van de financiële reünie verliep geheel zonder problemen.",
            "Eén keer per jaar gaan we naar België om patiënten te bezoeken.",
        ),
    ),
    "Swedish": (
        WESTERN,
        (
            "Flickan åkte över ån för att köpa smörgåsar på torget.",
            "Vi går på bio i kväll, sedan äter vi något gott.",
        ),
    ),
    "Danish": (
        WESTERN,
        (
            "Børnene spiste rødgrød med fløde på broen ved åen.",
            "Jeg kan ikke forstå, hvorfor køleskabet er tomt igen.",
        ),
    ),
    "Norwegian": (
        WESTERN,
        (
            "Været på Østlandet blir kjølig, og det kommer snø på fjellet.",
            "Han kjøpte brød og smør før han gikk hjem.",
        ),
    ),
    "Finnish": (
        WESTERN,
        (
            "Minä päätin lähteä tänään järvelle kävelemään.",
            "Yöllä satoi lunta, ja aamulla pihalla oli hiljaista.",
        ),
    ),
    "Icelandic": (
        WESTERN,
        (
            "Það er gott veður í dag og börnin leika sér úti.",
            "Þú átt að fara heim áður en myrkrið skellur á.",
        ),
    ),
    "Polish": (
        ("cp1250", "iso8859_2"),
        (
            "Zażółć gęślą jaźń, powiedział chłopiec i wyszedł z pokoju.",
            "W środę pójdziemy do kościoła, a później na łąkę.",
        ),
    ),
    "Czech": (
        ("cp1250", "iso8859_2"),
        (
            "Příliš žluťoučký kůň úpěl ďábelské ódy.",
            "Včera večer jsme šli do divadla a potom na večeři.",
        ),
    ),
    "Hungarian": (
        ("cp1250", "iso8859_2"),
        (
            "Árvíztűrő tükörfúrógép áll a műhely sarkában.",
            "Tegnap este a gyerekek később mentek aludni, mint szoktak.",
        ),
    ),
    "Romanian": (
        ("cp1250",),
        (
            "Mâine vom merge la piaţă să cumpărăm pâine şi lapte.",
            "Copiii se joacă în grădină până la căderea nopţii.",
        ),
    ),
    "Turkish": (
        ("cp1254", "iso8859_9"),
        (
            "Şişli ilçesinde güneşli bir gün, çocuklar bahçede oynuyor.",
            "Işık söndü ve herkes dışarı çıktı, çünkü yangın vardı.",
        ),
    ),
    "Lithuanian": (
        ("cp1257", "iso8859_13"),
        (
            "Vakar mes ėjome į mišką grybauti ir grįžome vėlai.",
            "Šiandien oras labai gražus, todėl važiuosime prie jūros.",
        ),
    ),
    "Latvian": (
        ("cp1257",),
        (
            "Vakar mēs gājām uz mežu sēņot un atgriezāmies vēlu.",
            "Šodien laiks ir ļoti jauks, tāpēc brauksim pie jūras.",
        ),
    ),
    "Russian": (
        ("cp1251", "koi8_r", "cp866", "iso8859_5"),
        (
            "Вчера мы ходили в лес собирать грибы.",
            "Она долго смотрела в окно и ничего не говорила.",
        ),
    ),
    "Ukrainian": (
        ("cp1251", "koi8_u"),
        (
            "Учора ми їздили до лісу й збирали гриби.",
            "Її сестра живе в Києві й працює лікаркою.",
        ),
    ),
    "Greek": (
        ("cp1253", "iso8859_7"),
        (
            "Η θάλασσα ήταν ήρεμη και ο ήλιος έλαμπε.",
            "Αύριο θα πάμε στην αγορά για να αγοράσουμε ψωμί.",
        ),
    ),
    "Hebrew": (
        ("cp1255", "iso8859_8"),
        ("הילדים שיחקו בגן כל אחר הצהריים.", "מחר ניסע לירושלים ברכבת הראשונה."),
    ),
    "Arabic": (
        ("cp1256", "iso8859_6"),
        ("ذهب الأولاد إلى المدرسة في الصباح.", "كانت السماء صافية والبحر هادئا في ذلك اليوم."),
    ),
    "Thai": (("cp874",), ("เด็กๆ ไปโรงเรียนแต่เช้าทุกวัน", "พรุ่งนี้เราจะไปตลาดเพื่อซื้อผลไม้")),
    "Vietnamese": (
        ("cp1258",),
        ("Hôm qua chúng tôi đã đi chợ mua trái cây.", "Trời hôm nay đẹp, chúng ta đi ra biển nhé."),
    ),
    "Japanese": (
        ("shift_jis", "euc_jp", "iso2022_jp"),
        ("昨日は友達と一緒に山へ行きました。", "明日の会議は午後三時から始まります。"),
    ),
    "Simplified Chinese": (
        ("gbk", "gb18030"),
        ("昨天我和朋友一起去了山上看日出。", "明天的会议下午三点开始,请不要迟到。"),
    ),
    "Traditional Chinese": (
        ("big5",),
        ("昨天我和朋友一起去了山上看日出。", "明天的會議下午三點開始,請不要遲到。"),
    ),
    "Korean": (
        ("euc_kr", "iso2022_kr"),
        ("어제 친구와 함께 산에 갔습니다.", "내일 회의는 오후 세 시에 시작합니다."),
    ),
}
ROWS = [
    pytest.param(text, encoding, id=f"{language}-{encoding}-{number}")
    for language, (encodings, texts) in LANGUAGES.items()
    for encoding in encodings
    for number, text in enumerate(texts)
]


def _composed(text: str) -> str:
    """Letters and their tones as `encoding` has them: Windows-1258 has tones of their own."""
    made = ""
    for one in text:
        try:
            one.encode("cp1258")
            made += one
        except UnicodeEncodeError:
            parts = unicodedata.normalize("NFD", one)
            tones = [part for part in parts if part in "\u0300\u0301\u0303\u0309\u0323"]
            letter = "".join(part for part in parts if part not in tones)
            made += unicodedata.normalize("NFC", letter) + "".join(tones)
    return made


def _decoded(text: str, encoding: str) -> Decoded:
    data = (_composed(text) if encoding == "cp1258" else text).encode(encoding)
    return decode(data, "notes.txt")


@pytest.mark.parametrize(("text", "encoding"), ROWS)
def test_a_sentence_is_read_as_it_was_written(text: str, encoding: str) -> None:
    assert unicodedata.normalize("NFC", _decoded(text, encoding).text) == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32-le"])
def test_unicode_is_certain(encoding: str) -> None:
    for texts in LANGUAGES.values():
        for text in texts[1]:
            # without a mark only texts with some ASCII tell how wide they are
            if encoding == "utf-16-le" and sum(one.isascii() for one in text) < 4:
                continue
            found = decode(text.encode(encoding), "notes.txt")
            assert (found.text, found.encoding) == (text, "")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"[a]\nname=Caf\xe9\n", "[a]\nname=Café\n"),
        (b"[a]\nname=Caf\xe9", "[a]\nname=Café"),
        (b"M\xfcller;K\xf6ln\nB\xe4cker;Z\xfcrich", "Müller;Köln\nBäcker;Zürich"),
        (b"\x93Quoted\x94 \x96 it\x92s 5 \x80", "“Quoted” – it’s 5 €"),
        (b"50 \xb0C \xb1 2 \xb5m", "50 °C ± 2 µm"),
    ],
)
def test_letters_at_the_end_and_signs_alone_are_kept(data: bytes, text: str) -> None:
    assert decode(data, "notes.txt").text == text


def test_a_guess_that_could_be_another_one_is_told() -> None:
    told = [
        bool(_decoded(text, encoding).encoding)
        for encodings, texts in LANGUAGES.values()
        for encoding in encodings
        for text in texts
    ]
    assert sum(told) > len(told) // 4
    # a word or two can be many things
    assert _decoded("Да", "koi8_r").encoding
    # much text leaves no doubt
    for encodings, texts in LANGUAGES.values():
        text = " ".join(texts) * 20
        for encoding in encodings:
            found = _decoded(text, encoding)
            assert unicodedata.normalize("NFC", found.text) == text
    assert _decoded("Она долго смотрела в окно. " * 20, "cp1251").encoding == ""
    assert _decoded("明日の会議は午後三時から始まります。" * 20, "shift_jis").encoding == ""


def test_a_letter_that_a_write_was_cut_in_is_told() -> None:
    found = decode("Das Mädchen aß Käs".encode() + "e für".encode()[:-2], "log.txt")
    assert found.text == "Das Mädchen aß Käse f\ufffd"
    assert found.encoding == "UTF-8"


def test_unicode_with_some_foreign_bytes_stays_unicode() -> None:
    line = "Größe, Übung, Änderung, naïve Café-Besucher; déjà vu.\n" * 20
    found = decode(line.encode() + b"one line of another program: M\xfcller\n", "log.txt")
    assert found.text.startswith(line)
    assert found.text.endswith("M\ufffdller\n")
    assert found.encoding == "UTF-8"


def test_escapes_of_terminals_are_no_mail() -> None:
    text = "\x1b[31mred\x1b[0m and \x1b$ nothing"
    assert decode(text.encode(), "log.txt").text == text


@pytest.mark.parametrize("name", CODECS)
def test_every_encoding_can_be_chosen(name: str) -> None:
    data = "plain letters, 123".encode(CODECS[name])
    found = decode(data, "notes.txt", name)
    assert found.text == "plain letters, 123"
    assert found.encoding == name
    # and reads anything
    decode(bytes(range(1, 256)), "notes.txt", name)


def test_what_is_no_text_is_refused() -> None:
    for data in (bytes(range(256)) * 20, b"\x00\x01\x02\x03" * 100):
        with pytest.raises(EnvironmentProblem):
            decode(data, "data.bin")


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ('<meta charset="windows-1251">', "cp1251"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8_r"),
        ('<?xml version="1.0" encoding="ISO-8859-5"?>', "iso8859_5"),
        ("<META CHARSET=utf-8>", "utf-8"),
        ("", "cp1251"),
    ],
)
def test_a_page_is_read_as_it_declares_or_as_it_looks(head: str, encoding: str) -> None:
    page = f"<html><head>{head}</head><p>Вчера мы ходили в лес собирать грибы.</p>"
    assert "Вчера мы ходили в лес" in decode_html(page.encode(encoding), "a.html").text


def test_a_page_that_declares_something_else_is_read_as_it_looks() -> None:
    page = '<meta charset="utf-8"><p>Le garçon a mangé un gâteau à la crème.</p>'
    assert "garçon a mangé un gâteau" in decode_html(page.encode("cp1252"), "a.html").text
    # as in browsers, this name stands for Windows-1252
    page = '<meta charset="iso-8859-1"><p>“Quoted” – 5 €</p>'
    assert "“Quoted” – 5 €" in decode_html(page.encode("cp1252"), "a.html").text


def test_a_line_without_end_is_read_as_quickly_as_others() -> None:
    """A sample is given to chardet; the cut may go through a letter."""
    for text, encoding in (
        ("明日の会議は午後三時から", "shift_jis"),
        ("Größe und Übung ", "cp1252"),
    ):
        line = "x" * 100_000 + text * 60_000
        assert decode(line.encode(encoding), "line.txt").text == line

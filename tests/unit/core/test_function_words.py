"""Words that tell nothing about a question's subject, in the language of the question."""

from __future__ import annotations

import pytest

from headstart.core.knowledge.function_words import function_words
from headstart.core.knowledge.terms import terms_of
from headstart.core.resources import resources
from headstart.core.text.languages import LANGUAGES

# a question, and the words of it that tell what it is about
TELLING = (
    ("What is the budget of project Heron 3?", "budget project heron 3"),
    ("Where is the car insurance?", "car insurance"),
    ("car insurance", "car insurance"),
    ("Who is it?", ""),
    ("What is the total amount of the bill of May?", "total amount bill"),
    ("Wie hoch ist das Budget des Projekts?", "hoch budget projekts"),
    ("War die Rechnung im Mai bezahlt?", "rechnung mai bezahlt"),
    ("Quel est le montant de la facture ?", "montant facture"),
    ("¿Cuánto cuesta el alquiler?", "cuesta alquiler"),
    ("Chi ha firmato il contratto?", "firmato contratto"),
    ("Qual é o prazo da nota?", "prazo nota"),
    ("Ile wynosi czynsz za mieszkanie?", "wynosi czynsz mieszkanie"),
    ("Сколько стоит проект?", "стоит проект"),
    ("Який бюджет у проєкту?", "бюджет проєкту"),
    ("Projenin bütçesi nedir?", "projenin butcesi"),
    ("Berapa anggaran proyek itu?", "anggaran proyek"),
    ("Ngân sách của dự án là bao nhiêu?", "ngan sach du an"),
    ("ما هي ميزانية المشروع؟", "ميزانيه المشروع"),
    ("بودجه پروژه چقدر است؟", "بودجه پروژه"),
    ("परियोजना का बजट क्या है?", "परियोजना बजट"),
    ("りんごの値段は？", "りん んご の値 値段 段は"),
    ("予算はいくらですか？", "予算 算は"),
    ("项目预算是多少？", "项目 目预 预算"),
    ("예산은 얼마입니까?", "예산 산은"),
)


@pytest.mark.parametrize(("question", "telling"), TELLING)
def test_words_that_tell_nothing_are_known_by_the_language_of_the_question(
    question: str, telling: str
) -> None:
    words = terms_of(question).words
    nothing = function_words(words)
    left = [one[1:-1].replace(" ", "") for one in words if one not in nothing]
    assert left == telling.split()


def test_each_language_of_the_window_has_its_words() -> None:
    text = (resources() / "function-words.txt").read_text(encoding="utf-8")
    has = {line.partition(":")[0] for line in text.splitlines() if not line.startswith("#")}
    assert {one.code.partition("-")[0] for one in LANGUAGES} <= has


def test_names_end_where_a_script_without_spaces_begins() -> None:
    assert terms_of("A113の予算は？").exact == ("A113",)
    assert terms_of("海伦3项目的预算是多少？").exact == ()
    assert terms_of("كم كلف المشروع 2024؟").exact == ("2024",)
    assert terms_of("readLine를 설명해 줘").exact == ("readLine",)

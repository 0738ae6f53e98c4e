"""Small folders of papers that resemble each other, and questions whose answer one of them has.

A paper differs from its neighbours by a name or a number: the question names it, and asks for
something else in the paper. Questions are put as people write them, not as the papers do.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct


class Alike(Struct, frozen=True):
    """A kind of paper in a language. `names`: one for each paper; `text` and `questions` have
    {name}, {number}, {sum}, {day} and {person} as gaps. `stray`: a question that none
    of them answers."""

    folder: str
    names: tuple[str, ...]
    text: str
    questions: tuple[str, ...]
    people: tuple[str, ...]
    stray: str


class AlikeQuestion(Struct, frozen=True):
    """`file`: the name of the paper that has the answer, "" if none has."""

    folder: str
    text: str
    file: str


_EN = ("Alder", "Birch", "Cedar", "Doyle", "Ellis", "Frost", "Grant", "Hayes", "Irwin")
_DE = ("Albers", "Brandt", "Conrad", "Dressel", "Ehlers", "Förster", "Gruber", "Hübner", "Jansen")
_FR = ("Arnaud", "Bertin", "Colas", "Delmas", "Estève", "Fabre", "Guérin", "Hardy", "Imbert")
_PLANTS = ("Otter", "Falcon", "Badger", "Salmon", "Beaver", "Plover", "Weasel", "Magpie", "Curlew")

KINDS = (
    Alike(
        "notes-en",
        tuple(f"Heron {number}" for number in range(9)),
        "# Note {number}\n\nThe budget of project {name} is {sum} euros.\n\n"
        "The contact for {name} is Mx. {person}.\n\nDeadline: {day} March.\n",
        ("What is the budget of project {name}?", "Who is the contact for {name}?"),
        _EN,
        "How long does it take to bake sourdough bread?",
    ),
    Alike(
        "invoices-en",
        (
            "Northgate Ltd",
            "Southbank Ltd",
            "Eastfield Ltd",
            "Westbrook Ltd",
            "Hilltop Ltd",
            "Lakeside Ltd",
            "Meadow Ltd",
            "Orchard Ltd",
            "Quarry Ltd",
        ),
        "INVOICE No. 4{number}7\n\nCustomer: {name}\nDate: {day} May 2024\n\n"
        "Consulting, 12 hours: {sum}.00 EUR\n\nTotal amount: {sum}.00 EUR\n"
        "Payable within 30 days.\n\nYour contact: {person}\n",
        ("How much did we bill {name}?", "What is the date of the invoice to {name}?"),
        _EN,
        "Which wines go with grilled fish?",
    ),
    Alike(
        "minutes-en",
        _PLANTS,
        "# Meeting of team {name}, {day} June\n\nPresent: {person}, Mills, Ortega\n\n"
        "1. The move to the new office was postponed by {number} weeks.\n"
        "2. {person} orders chairs for {sum} euros.\n3. Next meeting in two weeks.\n",
        (
            "Who orders chairs in team {name}?",
            "By how many weeks did team {name} postpone the move?",
        ),
        _EN,
        "What is the capital of Mongolia?",
    ),
    Alike(
        "recipes-en",
        (
            "Apple cake",
            "Plum cake",
            "Cherry cake",
            "Lemon cake",
            "Walnut cake",
            "Carrot cake",
            "Poppy cake",
            "Ginger cake",
            "Pumpkin cake",
        ),
        "# {name}\n\n200 g flour, {sum} g sugar, {number} eggs, butter.\n\n"
        "Stir everything, fill it into a tin, bake it for {day} minutes at 180 degrees.\n"
        "From the book of {person}.\n",
        ("How many minutes is the {name} baked?", "How much sugar goes into the {name}?"),
        _EN,
        "Who won the election in 1960?",
    ),
    Alike(
        "contracts-en",
        (
            "Elm Street 4",
            "Oak Street 9",
            "Pine Street 12",
            "Ash Street 3",
            "Rowan Street 7",
            "Hazel Street 21",
            "Maple Street 5",
            "Willow Street 8",
            "Aspen Street 16",
        ),
        "LEASE\n\nbetween {person} (landlord) and the tenant, about the flat in {name}.\n\n"
        "The rent is {sum} euros a month. The deposit is three rents.\n"
        "Either side may end the lease with {number} months' notice. It begins on {day} July.\n",
        ("What rent do we pay for the flat in {name}?", "Who is the landlord of {name}?"),
        _EN,
        "Explain quantum entanglement to a child",
    ),
    Alike(
        "notizen-de",
        tuple(f"Reiher {number}" for number in range(9)),
        "# Notiz {number}\n\nDas Budget des Projekts {name} beträgt {sum} Euro.\n\n"
        "Ansprechpartner für {name} ist {person}.\n\nFrist: {day}. März.\n",
        ("Wie hoch ist das Budget von Projekt {name}?", "Wer ist Ansprechpartner für {name}?"),
        _DE,
        "Welche Gewürze passen zu Lamm?",
    ),
    Alike(
        "rechnungen-de",
        (
            "Nordtor GmbH",
            "Südufer GmbH",
            "Ostfeld GmbH",
            "Westbach GmbH",
            "Hügel GmbH",
            "Seeblick GmbH",
            "Wiesengrund GmbH",
            "Obstgarten GmbH",
            "Steinbruch GmbH",
        ),
        "Rechnung Nr. 5{number}3\n\nKunde: {name}\nDatum: {day}. Mai 2024\n\n"
        "Beratung, 12 Stunden: {sum},00 EUR\n\nGesamtbetrag: {sum},00 EUR\n"
        "Zahlbar innerhalb von 30 Tagen.\n\nIhr Kontakt: {person}\n",
        ("Wie viel haben wir {name} berechnet?", "Wann ging die Rechnung an {name} raus?"),
        _DE,
        "Wie wird das Wetter morgen in Hamburg?",
    ),
    Alike(
        "protokolle-de",
        ("Dachs", "Falke", "Otter", "Lachs", "Biber", "Kiebitz", "Wiesel", "Elster", "Brachvogel"),
        "# Besprechung der Gruppe {name} am {day}. Juni\n\nAnwesend: {person}, Möller, Yilmaz\n\n"
        "1. Der Umzug wurde um {number} Wochen verschoben.\n"
        "2. {person} bestellt Stühle für {sum} Euro.\n3. Nächstes Treffen in zwei Wochen.\n",
        (
            "Wer bestellt die Stühle in der Gruppe {name}?",
            "Um wie viele Wochen hat die Gruppe {name} den Umzug verschoben?",
        ),
        _DE,
        "Schreib mir ein Gedicht über Schmetterlinge",
    ),
    Alike(
        "factures-fr",
        (
            "Nord Bois SARL",
            "Sud Rive SARL",
            "Est Champ SARL",
            "Ouest Pont SARL",
            "Colline SARL",
            "Bord du Lac SARL",
            "Prairie SARL",
            "Verger SARL",
            "Carrière SARL",
        ),
        "FACTURE n° 6{number}1\n\nClient : {name}\nDate : {day} mai 2024\n\n"
        "Conseil, 12 heures : {sum},00 EUR\n\nMontant total : {sum},00 EUR\n"
        "Payable sous 30 jours.\n\nVotre contact : {person}\n",
        (
            "Quel est le montant de la facture de {name} ?",
            "Qui est le contact pour la facture de {name} ?",
        ),
        _FR,
        "Raconte-moi l'histoire des pyramides",
    ),
    Alike(
        "contrats-fr",
        (
            "rue des Ormes",
            "rue des Chênes",
            "rue des Pins",
            "rue des Frênes",
            "rue des Sorbiers",
            "rue des Noisetiers",
            "rue des Érables",
            "rue des Saules",
            "rue des Trembles",
        ),
        "BAIL\n\nentre {person} (bailleur) et le locataire, pour l'appartement situé {name}.\n\n"
        "Le loyer est de {sum} euros par mois. Le dépôt de garantie est de trois loyers.\n"
        "Chaque partie peut résilier avec un préavis de {number} mois. Début : {day} juillet.\n",
        ("Combien coûte le loyer {name} ?", "Qui est le bailleur de l'appartement {name} ?"),
        _FR,
        "Comment apprendre la guitare ?",
    ),
    Alike(
        "recetas-es",
        (
            "Tarta de manzana",
            "Tarta de ciruela",
            "Tarta de cereza",
            "Tarta de limón",
            "Tarta de nuez",
            "Tarta de zanahoria",
            "Tarta de amapola",
            "Tarta de jengibre",
            "Tarta de calabaza",
        ),
        "# {name}\n\n200 g de harina, {sum} g de azúcar, {number} huevos, mantequilla.\n\n"
        "Mezclar todo, llenar el molde y hornear {day} minutos a 180 grados.\n"
        "Del libro de {person}.\n",
        ("¿Cuánto azúcar lleva la {name}?", "¿Cuántos minutos se hornea la {name}?"),
        (
            "Álvarez",
            "Benítez",
            "Castro",
            "Díaz",
            "Espinosa",
            "Flores",
            "Gómez",
            "Herrera",
            "Ibáñez",
        ),
        "¿Quién escribió el Quijote?",
    ),
    Alike(
        "verbali-it",
        (
            "Lontra",
            "Falco",
            "Tasso",
            "Salmone",
            "Castoro",
            "Piviere",
            "Donnola",
            "Gazza",
            "Chiurlo",
        ),
        "# Riunione del gruppo {name}, {day} giugno\n\nPresenti: {person}, Ricci, Moretti\n\n"
        "1. Il trasloco è rimandato di {number} settimane.\n"
        "2. {person} ordina sedie per {sum} euro.\n3. Prossima riunione tra due settimane.\n",
        (
            "Chi ordina le sedie nel gruppo {name}?",
            "Di quante settimane è rimandato il trasloco del gruppo {name}?",
        ),
        ("Amato", "Bianchi", "Conti", "De Luca", "Esposito", "Fontana", "Greco", "Leone", "Marini"),
        "Come si coltivano i pomodori?",
    ),
    Alike(
        "notas-pt",
        tuple(f"Garça {number}" for number in range(9)),
        "# Nota {number}\n\nO orçamento do projeto {name} é de {sum} euros.\n\n"
        "O contato de {name} é {person}.\n\nPrazo: {day} de março.\n",
        ("Qual é o orçamento do projeto {name}?", "Quem é o contato de {name}?"),
        ("Almeida", "Barros", "Campos", "Duarte", "Esteves", "Farias", "Gomes", "Lopes", "Moreira"),
        "Me explique a fotossíntese",
    ),
    Alike(
        "umowy-pl",
        (
            "Wiązowa 4",
            "Dębowa 9",
            "Sosnowa 12",
            "Jesionowa 3",
            "Jarzębinowa 7",
            "Leszczynowa 21",
            "Klonowa 5",
            "Wierzbowa 8",
            "Osikowa 16",
        ),
        "UMOWA NAJMU\n\nWynajmujący: {person}. Mieszkanie przy ulicy {name}.\n\n"
        "Czynsz wynosi {sum} złotych miesięcznie. Kaucja wynosi trzy czynsze.\n"
        "Okres wypowiedzenia: {number} miesiące. Początek: {day} lipca.\n",
        (
            "Ile wynosi czynsz za mieszkanie przy {name}?",
            "Kto jest wynajmującym mieszkania {name}?",
        ),
        (
            "Adamski",
            "Borek",
            "Czajka",
            "Dudek",
            "Filipek",
            "Górski",
            "Halicki",
            "Jasiński",
            "Kania",
        ),
        "Jak ugotować pierogi z kapustą?",
    ),
    Alike(
        "zametki-ru",
        tuple(f"Цапля {number}" for number in range(9)),
        "# Заметка {number}\n\nБюджет проекта {name} составляет {sum} евро.\n\n"
        "Контактное лицо проекта {name}: {person}.\n\nСрок: {day} марта.\n",
        ("Какой бюджет у проекта {name}?", "Кто контактное лицо по проекту {name}?"),
        ("Белов", "Волков", "Громов", "Дроздов", "Ершов", "Жуков", "Зимин", "Котов", "Лосев"),
        "Как приготовить борщ?",
    ),
    Alike(
        "tutanak-tr",
        (
            "Samur",
            "Doğan",
            "Porsuk",
            "Somon",
            "Kunduz",
            "Yağmurcun",
            "Gelincik",
            "Saksağan",
            "Turna",
        ),
        "# {name} ekibinin toplantısı, {day} Haziran\n\nKatılanlar: {person}, Demir, Kaya\n\n"
        "1. Taşınma {number} hafta ertelendi.\n2. {person} {sum} avroya sandalye sipariş ediyor.\n"
        "3. Sonraki toplantı iki hafta sonra.\n",
        (
            "{name} ekibinde sandalyeleri kim sipariş ediyor?",
            "{name} ekibinde taşınma kaç hafta ertelendi?",
        ),
        ("Aydın", "Bulut", "Çelik", "Doruk", "Erdem", "Fidan", "Güneş", "Işık", "Koç"),
        "Bana uzay hakkında bir hikâye anlat",
    ),
    Alike(
        "memo-ja",
        tuple(f"サギ{number}" for number in range(9)),
        "# メモ {number}\n\nプロジェクト{name}の予算は{sum}ユーロです。\n\n"
        "{name}の担当者は{person}さんです。\n\n締め切り：三月{day}日\n",
        ("プロジェクト{name}の予算はいくらですか？", "{name}の担当者は誰ですか？"),
        ("青木", "石川", "上田", "遠藤", "小川", "加藤", "木村", "工藤", "後藤"),
        "おいしいラーメンの作り方を教えて",
    ),
    Alike(
        "fapiao-zh",
        (
            "北门公司",
            "南岸公司",
            "东田公司",
            "西溪公司",
            "山顶公司",
            "湖滨公司",
            "草原公司",
            "果园公司",
            "石矿公司",
        ),
        "发票 编号 7{number}2\n\n客户：{name}\n日期：2024年5月{day}日\n\n"
        "咨询，12小时：{sum}欧元\n\n总金额：{sum}欧元\n三十天内付款。\n\n联系人：{person}\n",
        ("{name}的发票金额是多少？", "{name}的联系人是谁？"),
        ("陈强", "丁磊", "冯静", "郭涛", "何敏", "江平", "李娜", "马超", "宋雨"),
        "怎么学习弹钢琴？",
    ),
    Alike(
        "noteu-ko",
        tuple(f"왜가리 {number}" for number in range(9)),
        "# 메모 {number}\n\n프로젝트 {name}의 예산은 {sum}유로입니다.\n\n"
        "{name} 담당자는 {person}입니다.\n\n마감: 3월 {day}일\n",
        ("프로젝트 {name}의 예산은 얼마입니까?", "{name} 담당자는 누구입니까?"),
        ("강민수", "김영희", "박지훈", "서은지", "오세훈", "유나영", "이정호", "정다은", "최우진"),
        "된장찌개 끓이는 방법 알려줘",
    ),
    Alike(
        "uqud-ar",
        (
            "شارع الزيتون",
            "شارع النخيل",
            "شارع الصنوبر",
            "شارع الرمان",
            "شارع الياسمين",
            "شارع البرتقال",
            "شارع التفاح",
            "شارع الليمون",
            "شارع اللوز",
        ),
        "عقد إيجار\n\nالمؤجر: {person}. الشقة في {name}.\n\nالإيجار {sum} يورو في الشهر."
        " التأمين ثلاثة إيجارات.\nمدة الإشعار {number} أشهر. البداية {day} يوليو.\n",
        ("كم إيجار الشقة في {name}؟", "من هو مؤجر الشقة في {name}؟"),
        ("أحمد", "بشار", "جمال", "حسام", "خالد", "رامي", "سمير", "طارق", "عادل"),
        "كيف أتعلم السباحة؟",
    ),
)

# questions of each folder about papers in it
EACH = 6


def write(folder: Path, seed: int = 1) -> list[AlikeQuestion]:
    """Write all folders into one; the questions about them, then one for each that none answers."""
    draw = random.Random(seed)
    asked: list[AlikeQuestion] = []
    for kind in KINDS:
        (folder / kind.folder).mkdir(parents=True)
        for number, gaps in enumerate(_papers(kind)):
            path = folder / kind.folder / _name(kind, number)
            path.write_text(kind.text.format(**gaps), encoding="utf-8")
        chosen = draw.sample(range(len(kind.names)), EACH)
        for place, number in enumerate(chosen):
            question = kind.questions[place % len(kind.questions)].format(name=kind.names[number])
            asked.append(AlikeQuestion(kind.folder, question, _name(kind, number)))
    asked += [AlikeQuestion(kind.folder, kind.stray, "") for kind in KINDS]
    return asked


def _name(kind: Alike, number: int) -> str:
    return f"{kind.folder}-{number}.md"


def _papers(kind: Alike) -> Iterator[dict[str, str | int]]:
    for number, (name, person) in enumerate(zip(kind.names, kind.people, strict=True)):
        yield {
            "name": name,
            "number": number,
            "sum": 500 + number * 1000,
            "day": number * 3 + 1,
            "person": person,
        }

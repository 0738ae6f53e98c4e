"""What goes out: our own format and back, Markdown and back, HTML, text, lines."""

from __future__ import annotations

import html.parser
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from headstart.core.chats.parts import ReasoningPart, TextPart, needed_blobs
from headstart.core.chats.values import MessageStatus, Role
from headstart.core.settings.schema import ChatOptions, changed
from headstart.exchange import own_format
from headstart.exchange.include import Include
from headstart.exchange.names import file_name
from headstart.exchange.readers.markdown import from_markdown
from headstart.exchange.rendering import markdown_html
from headstart.exchange.tree import ChatNode, ExchangeChat, ModelName
from headstart.exchange.writers.html import to_html
from headstart.exchange.writers.lines import trace_lines, training_line
from headstart.exchange.writers.markdown import to_markdown
from headstart.exchange.writers.text import to_text
from tests.support import conversation_files as files
from tests.support.conversations import conversations, read_bytes

ROUNDS = [100, pytest.param(1_000, marks=pytest.mark.proof)]
_CALM = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None)


def _times(count: int) -> settings:
    return settings(_CALM, max_examples=count)


def chat_of(*texts: str, **more: object) -> ExchangeChat:
    """Questions and answers in turn."""
    nodes = [
        ChatNode(
            f"{n}",
            f"{n - 1}" if n else None,
            Role.ASSISTANT if n % 2 else Role.USER,
            (TextPart(t),),
        )
        for n, t in enumerate(texts)
    ]
    nodes = [
        replace(node, model=ModelName("gemma")) if node.role is Role.ASSISTANT else node
        for node in nodes
    ]
    return replace(
        ExchangeChat("headstart", "c" * 32, "A chat", tuple(nodes), created_at=1_760_000_000_000),
        **more,
    )


@pytest.mark.parametrize("count", ROUNDS)
def test_our_own_format_loses_nothing(count: int) -> None:
    @_times(count)
    @given(conversations())
    def check(chat: ExchangeChat) -> None:
        again = own_format.from_json(own_format.to_json(chat))
        assert again == replace(chat, blobs=again.blobs)
        assert set(again.blobs) == set(
            needed_blobs(part for node in chat.nodes for part in node.parts)
        ) & set(chat.blobs)
        assert own_format.to_json(again) == own_format.to_json(replace(chat, blobs=again.blobs))

    check()


def test_a_deep_tree_is_no_problem() -> None:
    nodes = [
        ChatNode(f"{n}", f"{n - 1}" if n else None, Role.USER, (TextPart("x"),))
        for n in range(20_000)
    ]
    chat = ExchangeChat("headstart", "c" * 32, "Deep", tuple(nodes))
    again = own_format.from_json(own_format.to_json(chat))
    assert again == chat
    assert len(again.branch()) == 20_000
    assert len(to_markdown(again)) > 20_000


def test_what_a_later_version_adds_stays() -> None:
    value = json.loads(own_format.to_json(chat_of("Q", "A")))
    value["mood"] = {"is": "good"}
    value["options"]["telepathy"] = 3
    value["messages"][0]["colour"] = "red"
    value["messages"][0]["parts"][0]["tone"] = 7
    value["messages"][1]["parts"].append({"kind": "hologram", "text": "h", "depth": [1, 2]})
    chat = own_format.from_json(files.dumps(value))
    again = json.loads(own_format.to_json(chat))
    assert again == value


def test_no_path_of_this_computer_is_in_it() -> None:
    chat = chat_of("Q", "A", model=ModelName("gemma", "", "content-1"))
    assert b"/" not in own_format.to_json(chat).replace(b"\\/", b"")


def test_a_broken_file_is_told(tmp_path: Path) -> None:
    data = own_format.to_json(chat_of("Q", "A"))
    found, report = read_bytes(data[:-20], tmp_path, "x.headstart.json")
    assert not found
    assert report.counts.total() == 1


@pytest.mark.parametrize("count", ROUNDS)
def test_markdown_read_again_is_the_same_text(count: int) -> None:
    @_times(count)
    @given(conversations(8))
    def check(chat: ExchangeChat) -> None:
        first = to_markdown(chat)
        again = from_markdown(first, "x")
        if again is None:
            # only an instruction
            assert {node.role for node in chat.branch()} == {Role.SYSTEM}
            return
        assert to_markdown(again) == first

    check()


@pytest.mark.parametrize(
    "text", [files.FENCE, files.LATEX, "## User\n\nno message", "a\n\n\n\nb", "<b>"]
)
def test_markdown_keeps_every_word_as_it_is(text: str) -> None:
    chat = chat_of("Show me", text, "again", "yes")
    written = to_markdown(chat)
    assert text in written
    again = from_markdown(written)
    assert again is not None
    assert [node.parts for node in again.branch()] == [node.parts for node in chat.nodes]


def test_markdown_says_how_replies_ended_and_what_was_thought() -> None:
    chat = chat_of("Q", "A")
    reply = replace(
        chat.nodes[1],
        parts=(ReasoningPart("Hm.\n\nYes."), TextPart("A")),
        status=MessageStatus.STOPPED,
    )
    options = changed(ChatOptions(), system_prompt="Be kind.")
    chat = replace(chat, nodes=(chat.nodes[0], reply), options=options)
    written = to_markdown(chat)
    assert "## Assistant (stopped)" in written
    again = from_markdown(written)
    assert again is not None
    assert again.nodes[1].parts == reply.parts
    assert again.nodes[1].status is MessageStatus.STOPPED
    assert again.options.system_prompt == "Be kind."
    assert "Hm." not in to_markdown(chat, Include(reasoning=False))


def test_front_matter_of_others_stays() -> None:
    written = '---\ntitle: "T"\ntags: [a, b]\n# a word\n---\n\n## User\n\nQ\n'
    again = from_markdown(written)
    assert again is not None
    assert to_markdown(again) == written


class _Page(html.parser.HTMLParser):
    """What a page asks for, and what it runs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.tags: set[str] = set()
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on"), name
            if name == "src" or (name == "href" and tag == "link"):
                self.fetched.append(value or "")
            if name == "href":
                assert (value or "").startswith(("http://", "https://", "mailto:", "#")), value

    def handle_data(self, data: str) -> None:
        self.words += data


HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> ![x](https://evil.example/p.png) "
    "[a](javascript:alert(1)) ![y](data:image/svg+xml;base64,AAAA) <iframe src='https://x'>"
)


def test_html_is_one_file_that_fetches_and_runs_nothing() -> None:
    page = _Page(to_html(chat_of(HOSTILE, HOSTILE, "</style><script>x</script>", "ok")))
    assert not page.fetched
    assert not page.tags & {"script", "iframe", "img", "link", "object", "embed", "svg"}
    assert "<script>alert(1)</script>" in page.words


def test_html_shows_code_math_images_and_other_versions(tmp_path: Path) -> None:
    (image, *_), _report = read_bytes(
        files.dumps([files.chatgpt_image("sediment://none")]), tmp_path
    )
    assert image.branch()
    (chat, *_), _report = read_bytes(files.dumps([files.openwebui()]), tmp_path)
    page = to_html(replace(chat, title="A & B"), Include(branches=True))
    assert "data:image/png;base64," in page
    assert "<title>A &amp; B</title>" in page
    assert "Another version, after message 1" in page
    assert "I do not know." in page
    code = to_html(chat_of("x", f"{files.FENCE}\n\n{files.LATEX}\n\nand \\(a_1 * b_2 * c\\) $x_1$"))
    words = _Page(code).words
    assert "#include <vector>\nint a[] = {1, 2}; // a != b" in words
    assert "\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}" in words
    assert "\\(a_1 * b_2 * c\\)" in words
    assert "$x_1$" in words
    # coloured by classes
    assert '<span class="cp">' in code or '<span class="cpf">' in code


def test_text_and_lines() -> None:
    chat = chat_of("Q", "A", options=changed(ChatOptions(), system_prompt="S"))
    assert to_text(chat).endswith("You:\nQ\n\ngemma:\nA\n")
    assert json.loads(training_line(chat)) == {
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "Q"},
            {"role": "assistant", "content": "A"},
        ]
    }
    lines = [json.loads(line) for line in trace_lines(chat).splitlines()]
    assert lines[0]["type"] == "session"
    assert lines[0]["harness"] == "headstart"
    assert [line["message"]["content"] for line in lines[1:]] == ["S", "Q", "A"]


@pytest.mark.parametrize("branches", [False, True])
def test_a_trace_is_read_again(branches: bool, tmp_path: Path) -> None:
    (chat,), _ = read_bytes(files.dumps([files.chatgpt()]), tmp_path)
    (again,), _ = read_bytes(trace_lines(chat, Include(branches=branches)), tmp_path)
    assert [node.parts for node in again.branch()] == [node.parts for node in chat.branch()]
    assert len(again.nodes) == (len(chat.nodes) if branches else len(chat.branch()))


def test_a_page_says_what_the_window_says(tmp_path: Path) -> None:
    node = ChatNode("1", None, Role.USER, (TextPart("# no heading\n  two  spaces\n_x_ <b>"),))
    answer = TextPart("one\ntwo https://a.example **“好”**的\n\n- שלום\n\n|a|\n|-|\n|x<br>y|")
    reply = ChatNode("2", "1", Role.ASSISTANT, (answer,))
    page = to_html(ExchangeChat("list", "c", "T", (node, reply)))
    assert "# no heading\n  two  spaces\n_x_ &lt;b&gt;" in page
    assert "one<br />\ntwo" in page
    assert '<a href="https://a.example">' in page
    assert "<strong>“好”</strong>的" in page
    assert '<li dir="auto">' in page
    assert "x<br />" in page
    assert '<p dir="auto">' in page


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("नमस्ते दुनिया", "नमस्ते दुनिया"),
        ("สวัสดี", "สวัสดี"),
        ("Trip 👩🏽‍💻 to 🇳🇴", "Trip 👩🏽‍💻 to 🇳🇴"),
        ("a/b:c*d?e", "a b c d e"),
        ("e\u0301t\u00e9", "été"),
        ("👩\u200d", "👩"),
        ("con", "chat con"),
        ("...", "chat"),
        ("می‌خواهم", "می‌خواهم"),
    ],
)
def test_a_files_name_keeps_letters_with_their_marks_and_emoji(title: str, name: str) -> None:
    assert file_name(title) == name


# what a reply left open when it was stopped
OPEN = (
    "Look:\n\n```python\nprint(1)",
    "Look:\n\n~~~~\n~~~\nprint(1)",
    "- an item\n\n```\ncode\n``",
    "Hidden <!-- so far",
    "<pre>\nas it is",
    "<details>\n<summary>More</summary>\n\nwords",
    "<details>\n\n<script>\nlet a = 1",
    "```\nclosed\n```\n\nand ``` open",
)


@pytest.mark.parametrize("text", OPEN)
def test_what_a_reply_left_open_does_not_swallow_what_follows(text: str) -> None:
    from markdown_it import MarkdownIt

    from headstart.exchange.readers.markdown import from_markdown

    nodes = (
        ChatNode("1", None, Role.USER, (TextPart("Write."),)),
        ChatNode(
            "2", "1", Role.ASSISTANT, (ReasoningPart(text), TextPart(text)),
            status=MessageStatus.STOPPED,
        ),
        ChatNode("3", "2", Role.USER, (TextPart("And now?"),)),
    )  # fmt: skip
    chat = ExchangeChat(source="", id="c", title="T", nodes=nodes)
    written = to_markdown(chat)
    tokens = MarkdownIt("commonmark").parse(written)
    heads = [
        tokens[number + 1].content
        for number, token in enumerate(tokens)
        if token.type == "heading_open"
    ]
    assert heads[-2:] == ["Assistant (stopped)", "User"]
    # and it is read back as it was
    again = from_markdown(written)
    assert again is not None
    assert [node.parts for node in again.nodes] == [node.parts for node in nodes]
    assert to_markdown(again) == written


def test_a_table_begins_at_the_right_where_its_heads_do() -> None:
    hebrew = markdown_html("| שם | Age |\n|---|---|\n| דוד | 3 |")
    assert '<table border="1" cellspacing="0" dir="rtl">' in hebrew
    assert "dir" not in markdown_html("| Name | שם |\n|---|---|\n| דוד | 3 |").split(">")[1]

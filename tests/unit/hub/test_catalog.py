"""What the hub offers: links, files as models, what fits, what drafts for what."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import pytest

from headstart.core.errors import ModelProblem
from headstart.core.hub import catalog_filter
from headstart.core.hub.catalog import CompanionKind, Fit, Repository, Search, Variant
from headstart.core.hub.downloads import LARGEST_HTTP, RemoteFile
from headstart.core.models.quantization import bits, quality, quantization
from headstart.core.models.recommended import PURPOSES, for_memory
from headstart.hub.downloads.source import DownloadProblem, Unavailable
from headstart.hub.online import variants
from headstart.hub.online.client import HubClient
from headstart.hub.online.links import Link, parse
from headstart.hub.online.remote_model import RemoteModels
from headstart.hub.recommended import read_list
from headstart.hub.shapes import read_shape
from tests.support.endless_server import BODIES, endless_server
from tests.support.gguf_files import make_gguf
from tests.support.hub_server import Fault, HubServer, Repo

LLAMA = make_gguf(vocabulary=40_000, weights=2 << 20)


@pytest.fixture
def hub() -> Iterator[HubServer]:
    gguf = {"total": 7_000_000_000, "architecture": "llama", "context_length": 8192}
    server = HubServer(
        {
            "maker/Llama-7B-GGUF": Repo(
                {
                    "Llama-7B-Q4_K_M.gguf": LLAMA,
                    "Llama-7B-Q8_0.gguf": LLAMA + b"\0" * 1_000_000,
                    "mmproj-F16.gguf": b"GGUF",
                    "README.md": b"---\nlicense: mit\n---\n# Llama\r\n\r\nHello.\n",
                },
                {"gguf": gguf},
            ),
            "maker/Tiny-4bit": Repo({"a": b"b"}, {"tags": ["mlx"], "library_name": "mlx"}),
            "maker/secret-GGUF": Repo({"x-Q8_0.gguf": LLAMA}, token="hf_1"),
        }
    )
    yield server
    server.close()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("https://huggingface.co/maker/Model-GGUF", Link("maker/Model-GGUF")),
        ("https://huggingface.co/maker/M/blob/dev/a/b.gguf", Link("maker/M", "a/b.gguf", "dev")),
        ("hf.co/maker/M:Q4_K_M", Link("maker/M", "Q4_K_M")),
        ("maker/M:Q4_K_M", Link("maker/M", "Q4_K_M")),
        ("  maker/M/ ", Link("maker/M")),
        ("qwen3 instruct", None),
        ("https://example.com/maker/M", None),
        ("https://huggingface.co/", None),
        ("https://[", None),
        ("maker/../M", None),
    ],
)
def test_links_and_names_are_told_from_words(text: str, wanted: Link | None) -> None:
    assert parse(text) == wanted


@pytest.mark.parametrize(
    ("path", "name", "dots"),
    [
        ("Qwen3.5-4B-UD-Q4_K_XL.gguf", "UD-Q4_K_XL", 3),
        ("Q6_K/m-00001-of-00002.gguf", "Q6_K", 4),
        ("m.IQ2_XXS.gguf", "IQ2_XXS", 1),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4", 3),
        ("m-q3_k_l.gguf", "Q3_K_L", 2),
        ("model-BF16.gguf", "BF16", 4),
        ("Llama-3.1-8B.gguf", "", 0),
    ],
)
def test_quantizations_are_read_from_names(path: str, name: str, dots: int) -> None:
    assert quantization(path) == name
    assert quality(bits(name)) == dots


def test_files_become_models_and_what_belongs_to_them() -> None:
    paths = {
        "m-Q8_0.gguf": 90, "m-Q4_K_M-00001-of-00002.gguf": 20, "m-Q4_K_M-00002-of-00002.gguf": 20,
        "m-Q2_K-00001-of-00002.gguf": 5, "mmproj-m-F16.gguf": 3, "mmproj-m-F32.gguf": 6,
        "MTP/mtp-m.gguf": 4, "imatrix.gguf": 1, "README.md": 1, "m-DFlash-Q4_K_M.gguf": 5,
        "dflash2-m.gguf": 6, "m.DSpark-b8.gguf": 7,
    }  # fmt: skip
    files = [RemoteFile(path, size, "e") for path, size in paths.items()]
    found = variants.of_files(files)
    # one whose second part is missing cannot be opened by anybody
    assert [(one.title, one.size, len(one.files)) for one in found] == [
        ("Q4_K_M", 40, 2),
        ("Q8_0", 90, 1),
    ]
    companions = variants.companions(files)
    best = catalog_filter.best(CompanionKind.PROJECTOR, companions)
    assert best is not None
    assert best.file.path == "mmproj-m-F16.gguf"
    head = catalog_filter.best(CompanionKind.HEAD, companions)
    assert head is not None
    assert head.file.path == "MTP/mtp-m.gguf"
    heads = [(one.title, one.main) for one in variants.of_heads(files)]
    assert heads == [
        ("mtp-m", "MTP/mtp-m.gguf"),
        ("Q4_K_M", "m-DFlash-Q4_K_M.gguf"),
        ("dflash2-m", "dflash2-m.gguf"),
        ("m.DSpark-b8", "m.DSpark-b8.gguf"),
    ]


def test_a_search_gives_what_matches(hub: HubServer) -> None:
    client = HubClient(endpoint=hub.endpoint)
    (page,) = client.search(Search("llama"), "gguf")
    (found,) = page
    assert (found.id, found.parameters, found.context) == (
        "maker/Llama-7B-GGUF",
        7_000_000_000,
        8192,
    )
    assert found.has_vision
    assert found.licence == "apache-2.0"
    ((other,),) = client.search(Search(""), "mlx")
    assert other.formats == ("mlx",)


def test_a_repository_is_read_with_its_card(hub: HubServer) -> None:
    client = HubClient(endpoint=hub.endpoint)
    details = client.details("maker/Llama-7B-GGUF")
    assert [one.title for one in details.variants] == ["Q4_K_M", "Q8_0"]
    assert details.commit == hub.repos["maker/Llama-7B-GGUF"].commit
    assert client.card("maker/Llama-7B-GGUF", details.commit) == "# Llama\n\nHello.\n"
    assert client.card("maker/Tiny-4bit", "x") == ""


def test_what_a_model_takes_is_known_from_its_first_bytes(hub: HubServer, tmp_path: object) -> None:
    client = HubClient(endpoint=hub.endpoint)
    details = client.details("maker/Llama-7B-GGUF")
    before = hub.sent
    shape = RemoteModels(client).shape(details, details.variants[0])
    assert hub.sent - before <= 192 << 10
    assert (shape.keys, shape.values, shape.trained) == (256, 256, 8192)
    assert shape.vocabulary == 40_000
    assert shape.weights == details.variants[0].size


def test_the_estimate_is_the_one_of_loading(hub: HubServer, starter: object) -> None:
    from headstart.core.models.fit import need
    from headstart.core.models.ref import ModelRef
    from headstart.core.settings.schema import EngineSettings

    assert isinstance(starter, ModelRef)
    hub.repos["maker/S-GGUF"] = Repo({"S-Q4_1.gguf": starter.path.read_bytes()})
    client = HubClient(endpoint=hub.endpoint)
    details = client.details("maker/S-GGUF")
    remote = RemoteModels(client).shape(details, details.variants[0])
    here = read_shape(starter)
    for context in (2048, 8192):
        ratio = need(remote, context, EngineSettings()).total
        assert ratio == pytest.approx(need(here, context, EngineSettings()).total, rel=0.02)


def test_a_vocabulary_comes_by_ranges(hub: HubServer) -> None:
    client = HubClient(endpoint=hub.endpoint)
    details = client.details("maker/Llama-7B-GGUF")
    hub.faults = [None, Fault("cut", 1000)]
    card = RemoteModels(client).card(details, details.variants[0])
    assert card.vocabulary_size == 40_000
    assert card.vocabulary.texts[39_999] == b"t39999"


@pytest.mark.parametrize("seed", range(10))
def test_damaged_heads_are_refused_or_read(hub: HubServer, seed: int) -> None:
    client = HubClient(endpoint=hub.endpoint)
    rng = random.Random(seed)
    models = RemoteModels(client)
    for _ in range(10):
        data = bytearray(LLAMA)
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(600)] = rng.randrange(256)
        hub.repos["maker/bad-GGUF"] = Repo({"m-Q4_K_M.gguf": bytes(data)})
        details = client.details("maker/bad-GGUF")
        for look in (models.shape, models.card):
            # whatever else is raised is ours
            with contextlib.suppress(ModelProblem):
                look(details, details.variants[0])


@pytest.mark.parametrize(
    ("fault", "kind", "code"),
    [
        (Fault("status", 0, 503), Unavailable, "hub-trouble"),
        (Fault("status", 7, 429), Unavailable, "hub-busy"),
        (Fault("status", 0, 418), DownloadProblem, "hub-refused"),
    ],
)
def test_what_the_hub_cannot_do_is_told_apart(
    hub: HubServer, fault: Fault, kind: type[Exception], code: str
) -> None:
    hub.api_fault = fault
    with pytest.raises(kind) as caught:
        HubClient(endpoint=hub.endpoint).details("maker/Llama-7B-GGUF")
    error = caught.value
    told = error.why if isinstance(error, Unavailable) else None
    assert (told.code if told else error.told.code) == code  # type: ignore[attr-defined]
    if isinstance(error, Unavailable) and code == "hub-busy":
        assert error.after == 7


def test_what_is_not_there_or_private_is_said(hub: HubServer) -> None:
    client = HubClient(endpoint=hub.endpoint)
    for repo in ("maker/none", "maker/secret-GGUF"):
        with pytest.raises(DownloadProblem) as caught:
            client.details(repo)
        assert caught.value.told.code == "hub-repository-gone"
    assert HubClient(lambda: "hf_1", hub.endpoint).details("maker/secret-GGUF").variants


def test_without_a_network_it_can_be_tried_again(hub: HubServer) -> None:
    client = HubClient(endpoint="http://127.0.0.1:9")
    with pytest.raises(Unavailable) as caught:
        client.details("maker/Llama-7B-GGUF")
    assert caught.value.why.code == "download-no-network"


# --- choosing ----------------------------------------------------------------------------


def repo(name: str, **says: object) -> Repository:
    return Repository(f"maker/{name}", ("gguf",), **says)  # type: ignore[arg-type]


def test_filters_never_speak_against_what_is_not_said() -> None:
    unknown = repo("x")
    assert catalog_filter.matches(unknown, Search(fits=8_000_000_000, largest=4, licences=("mit",)))
    assert not catalog_filter.matches(unknown, Search(has_vision=True))
    large = repo(
        "y", smallest=9_000_000_000, parameters=14_000_000_000, licence="other", gated=True
    )
    assert not catalog_filter.matches(large, Search(fits=8_000_000_000))
    assert not catalog_filter.matches(large, Search(largest=9))
    assert not catalog_filter.matches(large, Search(licences=("mit",)))
    assert not catalog_filter.matches(large, Search(open_only=True))
    assert not catalog_filter.matches(large, Search(formats=("mlx",)))
    assert catalog_filter.matches(large, Search())


def test_results_of_both_formats_are_one_list() -> None:
    pages = [[repo("a", likes=5), repo("b", likes=1)], [repo("c", likes=3), repo("a", likes=5)]]
    names = [one.name for one in catalog_filter.merged(pages, "likes")]
    assert names == ["a", "c", "b"]
    assert [one.name for one in catalog_filter.merged(pages, "trending")] == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Qwen3-4B-Instruct-2507-GGUF", "Qwen3"),
        ("Llama-3.2-1B-Instruct-GGUF", "Llama-3.2"),
        ("gemma-4-26B-A4B-it-GGUF", "gemma-4"),
        ("SmolLM2-135M-Instruct-GGUF", "SmolLM2"),
    ],
)
def test_families_are_read_from_names(name: str, family: str) -> None:
    assert catalog_filter.family(name) == family


def test_the_head_whose_name_says_most_of_the_model_comes_first() -> None:
    page = [
        Repository(f"maker/{name}", ("gguf",))
        for name in (
            "Qwen3-4B-DFlash-b16-GGUF",
            "Qwen3-4B-Instruct-2507-EAGLE-3",
            "Qwen3-4B-Thinking-2507-DFlash",
            "Qwen3-40B-DFlash",
            "Qwen3-4B-GGUF",
        )
    ]
    for model, first in (
        ("Qwen3-4B-Instruct-2507.Q4_K_M", "Qwen3-4B-Instruct-2507-EAGLE-3"),
        ("Qwen3-4B-Q8_0", "Qwen3-4B-DFlash-b16-GGUF"),
    ):
        found = catalog_filter.likely_heads(page, model)
        assert found[0].name == first
        assert len(found) == 3
    assert catalog_filter.head_searches("a model without a size") == []


def test_the_recommended_file_balances_size_and_quality_where_it_fits() -> None:
    titles = {"Q2_K": 3, "Q4_K_M": 5, "Q8_0": 9}
    files = [RemoteFile(f"m-{title}.gguf", size, "e") for title, size in titles.items()]
    found = variants.of_files(files)
    fits = {one.title: Fit("fits", one.size, 10, 8192) for one in found}
    large = 7_000_000_000
    best = catalog_filter.recommended(found, fits, large)
    assert best is not None
    assert (best[0].title, best[1]) == ("Q4_K_M", "recommended-balance")
    best = catalog_filter.recommended(found, fits, 600_000_000)
    assert best is not None
    assert best[0].title == "Q8_0"
    fits["Q4_K_M"] = fits["Q8_0"] = Fit("no", 99, 10, 8192)
    best = catalog_filter.recommended(found, fits, large)
    assert best is not None
    assert (best[0].title, best[1]) == ("Q2_K", "recommended-largest")
    fits["Q2_K"] = fits["Q8_0"]
    assert catalog_filter.recommended(found, fits, large) is None


def test_the_list_to_begin_with_has_something_for_every_computer() -> None:
    models = read_list()
    assert len(models) > 20
    for gigabytes in (4, 8, 16, 24, 32, 64, 128):
        for fast in (False, True):
            chosen = for_memory(models, gigabytes << 30, fast)
            assert 3 <= len(chosen) <= len(PURPOSES)
            assert chosen[0].purpose == "general"
            assert all(one.size_gb * 1e9 < 0.85 * (gigabytes << 30) for one in chosen)
            assert len({one.repo for one in chosen}) == len(chosen)
    assert all(one.read_gb <= 6.5 for one in for_memory(models, 128 << 30))


def test_a_mac_gets_the_folder_of_a_recommended_model() -> None:
    with_both = next(one for one in read_list() if one.mlx_repo)
    only_gguf = next(one for one in read_list() if not one.mlx_repo)
    folder = Variant("4bit", "mlx", (RemoteFile("model.safetensors", 9, "e"),))
    file = Variant("Q4_K_M", "gguf", (RemoteFile("a.gguf", 9, "e"),), "a.gguf")
    there = with_both.in_format("mlx")
    assert there.repo == with_both.mlx_repo
    assert catalog_filter.matching((file, folder), there.patterns) is folder
    assert with_both.in_format("gguf") == with_both
    assert only_gguf.in_format("mlx") == only_gguf


def test_a_file_that_the_hub_does_not_serve_is_said_before_its_download() -> None:
    large = RemoteFile("model.gguf", LARGEST_HTTP + 1, "e")
    assert Variant("F16", "gguf", (large,), "model.gguf").too_large_for_http
    assert not Variant("F16", "gguf", (RemoteFile("a", 1, "e"),) * 99, "a").too_large_for_http


def test_answers_without_an_end_and_odd_ones_are_left_with_a_reason() -> None:
    with endless_server() as server:
        for kind in BODIES:
            if kind in ("tiny pieces", "packed twice"):
                # they take some seconds
                continue
            client = HubClient(endpoint=server.url(kind).removesuffix("/v1"), stall_seconds=2)
            with pytest.raises((Unavailable, DownloadProblem)):
                list(client.search(Search(), "gguf"))
            with pytest.raises((Unavailable, DownloadProblem)):
                client.details("a/b")

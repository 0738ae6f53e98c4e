"""Short texts of the pages about models: verdicts, sources, states."""

from __future__ import annotations

from headstart.core.hub.catalog import Fit, Repository
from headstart.core.hub.downloads import Download, DownloadState
from headstart.core.models.recommended import Recommended
from headstart.core.text.shown import size_text, time_text
from headstart.ui.kit import theme

# beside its weights, what a model takes at least; and of the memory, what it may take at ease
_BESIDE, _EASY, _MOST = 1.15, 0.7, 0.9
SOURCES = {
    "starter": "came with Headstart",
    "opened": "opened from a file",
    "hugging-face": "Hugging Face cache",
    "lm-studio": "LM Studio",
    "ollama": "Ollama",
    "gpt4all": "GPT4All",
    "folder": "your folder",
}
PURPOSES = {
    "general": "for everything",
    "code": "for code",
    "reasoning": "thinks first",
    "small": "small and quick",
    "vision": "sees pictures",
}


def badge_of(row: Repository | Recommended, memory: int) -> tuple[str, str] | None:
    """A word beside the name, with its colour; None where there is nothing to say."""
    colours = theme.current()
    if isinstance(row, Recommended):
        return PURPOSES[row.purpose], colours.accent
    needed = int(row.smallest * _BESIDE)
    if not memory or not needed:
        return None
    if needed > _MOST * memory:
        return f"needs {size_text(needed)}", colours.warning
    if needed > _EASY * memory:
        return "tight", colours.warning
    return None


def memory_words(fit: Fit, short: bool = False) -> tuple[str, str]:
    """Memory of a variant, and the colour of the text."""
    colours = theme.current()
    text = (
        size_text(fit.need)
        if short
        else f"{size_text(fit.need).removesuffix(' GB')} of {size_text(fit.total)}"
    )
    if fit.verdict == "fits":
        return text, colours.accent
    if fit.verdict == "tight":
        return f"{text}, tight", colours.warning
    return f"{text}: too large", colours.warning


def fit_hint(fit: Fit) -> str:
    """The numbers behind the verdict, for a tool tip."""
    beside = " and a draft" if fit.with_draft else ""
    verdict = {
        "fits": "Fits in the memory that is free.",
        "tight": "Fits if you close other programs.",
        "no": "It does not fit into this computer's memory.",
    }[fit.verdict]
    context = f"with a context of {fit.context:,} tokens{beside}"
    return f"{size_text(fit.need)} of {size_text(fit.total)} {context}. {verdict}"


def quality_words(quality: int) -> str:
    return "●" * quality + "○" * (4 - quality) if quality else ""


def download_words(download: Download) -> str:
    """Progress of a download, in one line."""
    size = download.wanted.size
    amount = f"{size_text(download.received)} of {size_text(size)}"
    if download.state is DownloadState.RUNNING:
        parts = [amount]
        if download.speed:
            parts.append(f"{size_text(int(download.speed))}/s")
        if download.seconds_left is not None:
            parts.append(f"{time_text(download.seconds_left)} left")
        return " · ".join(parts)
    if download.state is DownloadState.CHECKING:
        return f"{size_text(size)} · checking"
    if download.state is DownloadState.DONE:
        return f"{size_text(size)} · done"
    state = {
        DownloadState.QUEUED: "queued",
        DownloadState.WAITING: "waiting",
        DownloadState.PAUSED: "paused",
        DownloadState.FAILED: "stopped",
    }[download.state]
    return f"{amount} · {state}"

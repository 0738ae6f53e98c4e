"""Names of models as people say them."""

from __future__ import annotations

import pytest

from headstart.core.models.names import people_name


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("SmolLM2-135M-Instruct.Q4_1", "SmolLM2 135M"),
        ("Qwen3.5-9B-UD-Q4_K_XL", "Qwen3.5 9B"),
        ("qwen3-8b", "Qwen3 8B"),
        ("gemma-3-270m-it-Q4_K_M", "Gemma 3 270M"),
        ("Meta-Llama-3.1-8B-Instruct-Q6_K_L", "Meta Llama 3.1 8B"),
        ("Qwen3-30B-A3B-Instruct-2507-Q4_K_M", "Qwen3 30B A3B Instruct 2507"),
        ("Mistral-7B-Instruct-v0.3.Q8_0", "Mistral 7B Instruct v0.3"),
        ("tiny:3b", "Tiny 3B"),
        ("SmolLM2-135M-4bit", "SmolLM2 135M"),
        # somebody's own name is kept
        ("My poet", "My poet"),
        ("Fine-4bit", "Fine"),
        ("notes", "notes"),
        ("Q4_K_M", "Q4_K_M"),
        ("7B", "7B"),
    ],
)
def test_a_file_is_called_as_people_call_it(file: str, name: str) -> None:
    assert people_name(file) == name
    # a name is its own name
    assert people_name(people_name(file)) == people_name(file)

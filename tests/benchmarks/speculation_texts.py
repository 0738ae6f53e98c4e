"""Prompts of the speculation benchmark, by class, and the text that is edited."""

from __future__ import annotations

# SmolLM2 writes well over 160 tokens to each
PROMPTS = {
    "code": (
        "Write a Python class for a stack with push, pop and peek, and show how to use it.",
        "Write a JavaScript function that sorts a list of people by age, with an example.",
        "Write a Python function for binary search with comments and tests.",
        "Write an SQL schema for a library with books, members and loans.",
        "Write a C program that counts the words in a text file.",
        "Write a Python class for a bank account with deposit and withdraw and tests.",
    ),
    "prose": (
        "Write a short story about a lighthouse keeper who finds a letter.",
        "Describe an autumn morning in a small mountain village.",
        "Write an essay on why people like the sea.",
        "Write a story about two friends who build a boat.",
        "Describe a busy market in an old city.",
        "Write a fairy tale about a fox and a river.",
    ),
    "chat": (
        "How can I sleep better? Give me practical advice.",
        "What should I see in Lisbon in three days?",
        "Explain how vaccines work to a teenager.",
        "What are the pros and cons of working from home?",
        "How do I start running as a beginner?",
        "What is inflation and how does it affect me?",
    ),
}
# to learn from before the warm runs; none of them is measured
EARLIER = (
    "Write a Python function that checks if a number is prime, and explain each line.",
    "Write a letter from a sailor to his sister.",
    "How do I prepare for a job interview?",
    "Write a Python program that reads a CSV file and prints the sum of every column.",
)

NAMES = ("order", "customer", "invoice", "product", "payment", "shipment")
VERBS = ("load", "store", "check", "count", "print")


def code_lines() -> list[str]:
    """60 lines of code as somebody might want edited."""
    lines = []
    for name in NAMES:
        lines += [f"class {name.title()}List:", "    def __init__(self, items):"]
        lines += ["        self.items = list(items)"]
        for verb in VERBS[:3]:
            lines.append(f"    def {verb}_{name}(self, key):")
            lines.append(f"        return {verb}(self.items, key)")
        lines.append("")
    return lines[:60]


def edited(lines: list[str]) -> list[str]:
    """The same with a small change every few lines."""
    result = []
    for number, line in enumerate(lines):
        if number % 9 == 4:
            line = line.replace("key", "wanted_key")
        elif number % 14 == 7:
            line = line.replace("self.items", "self.rows")
        result.append(line)
    return result

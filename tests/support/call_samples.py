"""Replies that call tools, as models of several families write them."""

from __future__ import annotations

ON = '{"on": true}'
HARMONY = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
QWEN = "<function=lamp>\n<parameter=on>\ntrue\n</parameter>\n</function>"

# template, the prompt's end, what is written, reasoning, text, calls
CALLS = [
    ("openai-gpt-oss-120b", "<|start|>assistant",
     f"{HARMONY} to=functions.lamp<|channel|>commentary <|constrain|>json<|message|>{ON}",
     "Hm.", "", [("lamp", ON)]),
    ("openai-gpt-oss-120b", "<|start|>assistant",
     f"{HARMONY}<|channel|>analysis to=browser.search<|message|>{ON}",
     "Hm.", "", [("browser.search", ON)]),
    ("openai-gpt-oss-120b", "<|start|>assistant",
     (f"{HARMONY}<|channel|>commentary to=functions.lamp<|message|>{ON}<|end|><|start|>assistant"
     "<|channel|>final<|message|>Done."), "Hm.", "Done.", [("lamp", ON)]),
    ("Qwen3.5-4B", "<|im_start|>assistant\n<think>\n", f"Hm.\n<tool_call>\n{QWEN}\n</tool_call>",
     "Hm.", "", [("lamp", ON)]),
    ("Qwen3.5-4B", "<|im_start|>assistant\n<think>\n",
     f"Hm.\n</think>\n\nYes.\n<tool_call>\n{QWEN}\n</tool_call>", "Hm.", "Yes.", [("lamp", ON)]),
    ("Qwen-Qwen3-0.6B", "<|im_start|>assistant\n",
     ('<tool_call>\n{"name": "lamp", "arguments": {"on": true}}\n</tool_call>\n<tool_call>\n'
     '{"name": "tide", "arguments": {}}\n</tool_call>'), "", "", [("lamp", ON), ("tide", "{}")]),
    ("GLM-4.7-Flash", "<|assistant|></think>",
     "<tool_call>lamp<arg_key>on</arg_key><arg_value>true</arg_value></tool_call>",
     "", "", [("lamp", ON)]),
    ("google-gemma-4-31B-it", "<|turn>model\n", "<|tool_call>call:lamp{on:true}<tool_call|>",
     "", "", [("lamp", ON)]),
    # the reply ended in the call
    ("Qwen3.5-4B", "<|im_start|>assistant\n<think>\n\n</think>\n\n",
     "<tool_call>\n<function=lamp>\n<parameter=on>\ntru", "", "", [("lamp", '{"on": ')]),
    # words about the mark are words
    ("Qwen-Qwen3-0.6B", "<|im_start|>assistant\n", "The tag <tool_call> begins a call.",
     "", "The tag <tool_call> begins a call.", []),
    ("Qwen-Qwen3-0.6B", "<|im_start|>assistant\n", "Write <tool_call>x</tool_call> there.",
     "", "Write <tool_call>x</tool_call> there.", []),
]  # fmt: skip

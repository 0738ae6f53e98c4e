"""Depth of drafting, 0 included: most expected tokens for the expected time. Pure.

`choice.Depth` decides round by round, from what forwards cost (`cost_table`), what drafts are worth
(`worth`) and what may be lost (`time_budget`). `looks` times again what other programs may have
slowed down; `catch_up` says when a draft that lags behind the text is worth prefilling.
"""

"""Chooses the draft depth, 0 included: most expected tokens for the expected time. Pure.

`choice.Depth` decides round by round, from the costs of forwards (`cost_table`), the worth of
drafts (`worth`) and the allowed loss (`time_budget`). `looks` repeats measurements that other
programs may have slowed down; `catch_up` decides when a draft that lags behind the text is worth
prefilling.
"""

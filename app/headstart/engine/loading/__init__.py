"""Loading models: `plan` decides, `check` tests the files, `open` and `draft` execute a plan,
`models` keeps the loaded models. Engine thread.

Each request takes the same path: look the model up, else measure the computer, plan, and do the
plan's first step (try the file, evict, open). Any step that changes the computer needs a new plan.
"""

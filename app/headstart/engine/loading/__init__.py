"""Loading models: `plan` decides, `check` knows what files say, `open` and `draft` execute a plan,
`models` keeps what is loaded. Engine thread.

A request goes one way: look the model up, else measure the computer, plan, and do what the plan
says first (try the file, evict, open). Whatever changes the computer asks for another plan.
"""

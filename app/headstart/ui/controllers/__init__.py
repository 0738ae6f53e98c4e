"""The user's actions, by subject: widgets call plain methods, the verbs are awaited here."""

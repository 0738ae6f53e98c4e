"""What the user does, by subject: widgets call plain methods, the verbs are awaited here."""

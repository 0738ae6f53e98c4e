"""The user's actions, by subject: widgets call plain methods, whose tasks await the services."""

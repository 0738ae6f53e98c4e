"""Folders that questions are answered from: their files as the file system tells them."""

"""Files that questions are answered from, as values: passages, questions, ranks, citations."""

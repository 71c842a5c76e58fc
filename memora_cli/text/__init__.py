"""Text: words, dates, entities, passages and tokens, all pure functions."""

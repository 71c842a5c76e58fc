"""Ranking: pure functions from candidates to candidates, one file for each stage."""

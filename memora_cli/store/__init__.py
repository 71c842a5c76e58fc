"""The database: one schema, what SQLite does in its own way, and functions that read and write within a transaction."""

"""The retrieval strategies: each takes a `Source` and returns a `RankedList`."""

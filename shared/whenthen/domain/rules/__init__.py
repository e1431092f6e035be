"""One rule of the semantics in each file; the file is named after the question it answers."""

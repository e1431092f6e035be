"""The shapes that cross a border: request bodies, stored definitions, events, messages."""

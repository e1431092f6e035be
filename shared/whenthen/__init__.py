"""The one layer that every function shares: schemas, rules, store, actions, engine."""

"""All SQL. One file per aggregate; every function takes an open connection."""

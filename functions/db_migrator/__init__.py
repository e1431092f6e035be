"""Brings the database's schema to this release, before any other function of it runs."""

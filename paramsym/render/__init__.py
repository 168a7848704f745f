"""Formats: functions from a table, or an expression, to a string. They know no layers and no letters."""

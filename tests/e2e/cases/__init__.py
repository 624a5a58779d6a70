"""The cases, a file for each family."""

"""What is known before the program runs: numbers, lists, optionals, branches and loops, one subject a file."""

"""What stands between capture and the dialects: the core ops and what a target is."""

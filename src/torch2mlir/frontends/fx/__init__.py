"""Capture through torch.export and FX: graphs as they come, no whole-program re-trace."""

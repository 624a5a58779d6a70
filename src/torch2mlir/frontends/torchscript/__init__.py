"""TorchScript: graphs of the JIT and the module objects they work on, as programs of the torch dialect."""

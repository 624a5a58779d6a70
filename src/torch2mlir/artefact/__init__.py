"""Compiled programs as directories: ``torch2mlir.save`` and ``torch2mlir.load``.

    manifest.json       what the artefact is: format, engine, versions, processor, and the digest of every other file
    signature.json      how it is called: structures, types, symbolic sizes with ranges, state, what is written back
    weights.safetensors what the program takes besides the caller's arguments; mapped into memory by ``load``
    code/*.bin          what the engine compiled, one file for each combination of sizes where the engine needs that

Nothing in it is unpickled, and no Python of the model is needed to run it.
"""

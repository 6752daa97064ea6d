/// Nothing: the target that compiles Catch's header for the others needs a file.

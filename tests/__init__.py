"""A package, since a folder alone would be hidden by the `tests` that a wheel of gpuhunt puts beside its own."""

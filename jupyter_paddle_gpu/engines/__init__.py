"""Where jobs run: one module an engine, all behind the protocol in `base`."""

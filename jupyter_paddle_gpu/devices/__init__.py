"""The devices of this machine as they are now, and the catalogue of accelerators as their makers describe them."""

"""Viewers of other projects (VisualDL, TensorBoard) shown behind Jupyter's own login."""

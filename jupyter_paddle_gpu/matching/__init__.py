"""From an estimate and an inventory to a placement, with its reasons."""

"""Data and weights: loaders, data sets, files that are not here."""

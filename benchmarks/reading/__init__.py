"""Notebooks of public repositories, read without their data: how far each comes, and real steps beside the figures."""

"""Figures of GPUs from public logs, beside what the product estimates for the same trainings."""

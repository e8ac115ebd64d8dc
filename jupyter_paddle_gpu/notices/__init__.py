"""Telling people outside of JupyterLab that a job has ended: webhooks and mail."""

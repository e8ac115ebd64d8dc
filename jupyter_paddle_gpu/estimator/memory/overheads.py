"""Where in the range of convolution workspaces a kernel is expected. What a process takes of a device beside its
tensors stands with the device makers (`devices.contexts`)."""

from __future__ import annotations

WORKSPACE_SHARE = 0.25
"""Where in the range of convolution workspaces a kernel is expected, before a machine was measured: cuDNN's
heuristics prefer algorithms with little workspace to the largest that the limit allows. An assumption."""
WORKSPACE_SHARE_SPREAD = 0.25
"""Standard deviation of that share."""

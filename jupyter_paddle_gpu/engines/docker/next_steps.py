"""What can be done on this engine about the end of a job: the reasons that its settings have an answer to."""

from __future__ import annotations

from ...domain.messages import Message


def explain(reason: Message) -> Message:
    """The same reason with the settings of this engine in its next step; unchanged where none has to do with it."""
    if reason.code == "shared_memory_full":
        return Message(
            code=reason.code,
            text=reason.text,
            hint="Use fewer DataLoader workers (num_workers), a smaller batch or use_shared_memory=False. In a "
            "container it has the job's `shm_bytes`, else those under docker in the policy file.",
            params=reason.params,
        )
    if reason.code == "temporary_full":
        return Message(
            code=reason.code,
            text=reason.text,
            hint="Write large files beside the notebook, or into the folder that PADDLE_GPU_CHECKPOINTS names. The "
            "administrator may give more (`tmp_bytes` under docker in the policy file).",
            params=reason.params,
        )
    return reason

"""What the variables say that a launcher of several processes sets, where a program runs as one process."""

from __future__ import annotations

ALONE = "alone"
"""Where such a value comes from."""
ENDPOINT = "127.0.0.1:6170"
"""Where the only process may be found: the first port that Paddle's launcher gives (`launch/controllers`)."""
VARIABLES = {
    **dict.fromkeys(
        ("PADDLE_TRAINERS_NUM", "PADDLE_TRAINERS", "PADDLE_NNODES", "PADDLE_GLOBAL_SIZE", "PADDLE_LOCAL_SIZE",
         "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NNODES"),
        "1",
    ),
    **dict.fromkeys(
        ("PADDLE_TRAINER_ID", "PADDLE_GLOBAL_RANK", "PADDLE_LOCAL_RANK", "PADDLE_RANK_IN_NODE",
         "PADDLE_LOCAL_DEVICE_IDS", "RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "FLAGS_selected_gpus",
         "FLAGS_selected_xpus"),
        "0",
    ),
    **dict.fromkeys(
        ("PADDLE_TRAINER_ENDPOINTS", "PADDLE_CURRENT_ENDPOINT", "DISTRIBUTED_TRAINER_ENDPOINTS", "PADDLE_MASTER"),
        ENDPOINT,
    ),
    **dict.fromkeys(("POD_IP", "PADDLE_CURRENT_IP", "MASTER_ADDR"), "127.0.0.1"),
    **dict.fromkeys(("PADDLE_PORT", "MASTER_PORT"), "6170"),
    "TRAINING_ROLE": "TRAINER",
}  # fmt: skip
"""By what Paddle takes where they are not set (`paddle.distributed.ParallelEnv`), and by torch's names for the same."""

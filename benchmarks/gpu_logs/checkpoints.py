"""Files that PASSL's fine-tunings and linear probes begin from: their published ones, with weights as they are made.

`python -m benchmarks.gpu_logs.checkpoints CLONES`, behind `made_up`, with a Python that has what PASSL imports. A run
keeps all of such a file. MAE's has both moments of the optimizer beside the weights, as its `save_model` writes them;
those of ConvMAE and CAE have weights alone. That is what their logs say, to the MiB; the files themselves are not here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAE = "pretrained/mae/mae_pretrain_vit_base_1599ep.pd"
CONVMAE = "pretrained/convmae/convmae_convvit_base_pretrained_1599ep.pd"
CAE = "pretrained/cae/cae_base_patch16_224_8k_vocab_pretrained_800ep.pd"
CAE_ASKED = (
    "--model cae_base_patch16_224_8k_vocab --layer_scale_init_value 0.1 --sincos_pos_emb --regressor_depth 4 "
    "--decoder_layer_scale_init_value 0.1 --num_decoder_self_attention 4 --data_path . --output_dir ."
)


def written(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each file's path below the repository and what it holds."""
    import paddle

    trainer = root / "tasks" / "ssl" / "cae"
    sys.path[:0] = [str(root), str(trainer)]
    from passl.models import cae, convmae, mae  # type: ignore[import-not-found]

    net = mae.mae_vit_base_patch16(norm_pix_loss=True)
    learned = [one for one in net.parameters() if not one.stop_gradient]
    moments = {f"{one.name}_moment{n}_0": paddle.zeros_like(one) for one in learned for n in (1, 2)}
    yield MAE, {"model": net.state_dict(), "optimizer": moments, "epoch": 1599}
    yield CONVMAE, {"model": convmae.convmae_convvit_base_patch16(norm_pix_loss=True).state_dict(), "epoch": 1599}
    os.chdir(trainer)
    sys.argv = ["main_pretrain.py", *CAE_ASKED.split()]
    import main_pretrain  # type: ignore[import-not-found]

    args = main_pretrain.get_args()
    net = cae.cae_base_patch16_224_8k_vocab(use_abs_pos_emb=args.abs_pos_emb, init_values=0.1, args=args)
    weights = {name: value for name, value in net.state_dict().items() if not name.startswith("teacher_network.")}
    yield CAE, {"model": weights, "epoch": 799}


def main(clones: Path) -> None:
    """Write them."""
    import paddle

    root = clones / "PASSL"
    for path, held in written(root):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        paddle.save(held, str(root / path))


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())

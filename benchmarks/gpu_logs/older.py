"""What trainers of 2023 left to the Paddle of their time, in words of Paddle 3.

Until type promotion came with Paddle 2.6 an operator between two tensors (`scores + mask`) had its left operand's type
(`tensor__add__method` of `eager_math_op_patch.cc`).
"""

KINDS = (
    ("utils/grid.py", "coords / (shape - 1) * (max_n - min_n) + min_n",
     "coords / (shape - 1).cast(coords.dtype) * (max_n - min_n) + min_n"),
    ("models/heads/dense_heads/anchor_head.py", "reg_weights = positives", 'reg_weights = positives.cast("float32")'),
    ("models/heads/dense_heads/anchor_head.py", "pos_normalizer = positives.sum(1, keepdim=True)",
     'pos_normalizer = positives.sum(1, keepdim=True).cast("float32")'),
    ("models/detection/caddn/ffe/ddn_loss/balancer.py", 'fg_mask.cast("int64")', 'fg_mask.cast("float32")'),
    ("models/detection/caddn/ffe/ddn_loss/balancer.py", 'bg_mask.cast("int64")', 'bg_mask.cast("float32")'),
)  # fmt: skip
"""What Paddle 3 divides: numbers of one type. The Paddle of 2023 made these casts itself."""
RENAMED = (
    ("paddle.fluid.core.is_compiled_with_cuda", "paddle.is_compiled_with_cuda"),
    ("paddle.fluid.set_flags", "paddle.set_flags"), ("paddle.fluid.framework.", "paddle.base.framework."),
    ("from paddle.fluid import", "from paddle.base import"),
    ("from paddle.fluid.framework import", "from paddle.base.framework import"),
    ("import paddle.fluid\n", "import paddle.base\n"), ("if hasattr(self, '_scale'):", "if self._enable:"),
    ("np.int32(target)", "np.int64(target)"), ("np.int32(l[1])", "np.int64(l[1])"),
    ("ImageOps.posterize(img, bits_to_keep)", "ImageOps.posterize(img, max(1, bits_to_keep))"),
    ("+ mask.unsqueeze(1).unsqueeze(0)\n", "+ mask.unsqueeze(1).unsqueeze(0).cast(attn.dtype)\n"),
)  # fmt: skip
"""Of PASSL of 2023: names of modules that went, the scaler that has no scale when it is off, labels that are compared
with int64, no bit of a colour kept, and scores that stay in their type beside a float32 mask, as `+` of then had it."""
TODAYS_ADAMW = """

def _adamw(p, grad, lr, moment1, moment2, beta1_pow, beta2_pow, master, *rest):
    told = dict(zip(rest[6::2], rest[7::2]))
    return paddle._C_ops.adamw_(
        p, grad, lr, moment1, moment2, None, beta1_pow, beta2_pow, master, None, told["beta1"], told["beta2"],
        told["epsilon"], 1.0, told["coeff"], told["with_decay"], False, 1000, told["multi_precision"], False, False)[:6]
"""
"""The operator's arguments since Paddle 3.0: what the trainer gives it, by name."""
SCORES = (
    ("trainer/trainer.py", "_cache_founf_inf", "_cache_found_inf"),
    ("transformers/opt/modeling.py", "product + attn_mask\n", "product + attn_mask.cast(product.dtype)\n"),
)
"""Of PaddleNLP of 2023: a name of Paddle 3, and scores that stay in their type, as in PASSL."""
REDUCED = (
    *(
        (
            "modeling/heads/base.py",
            f"{name} = paddle.distributed.all_reduce(\n                {name}, op=paddle.distributed.ReduceOp.SUM)"
            " / world_size",
            f"paddle.distributed.all_reduce({name})\n            {name} = {name} / world_size",
        )
        for name in ("top1", "top5")
    ),
    ("tasks/train.py", "optimizer._global_learning_rate().numpy()[0]", "optimizer._global_learning_rate().item()"),
    ("tasks/train.py", "value.numpy()[0]", "value.item()"),
)
"""Of PaddleVideo of December 2020: `all_reduce` gave its tensor, and a number of Paddle 3 has no dimension."""
OF_BASE = (
    "models/vae.py", "patches/ppnlp_patch_utils.py", "pipelines/semantic_stable_diffusion/custom_quantile.py",
)  # fmt: skip
"""Of PaddleMIX of 2023 what imports from `paddle.fluid`, which is `paddle.base` since."""

"""What a step's operations are made of: products that tensor cores compute, and all the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..trace import Operation

_PRODUCTS = re.compile(
    r"(fused_)?(matmul|bmm|mv|mm|addmm|baddbmm|linear|fc|gemm_epilogue|multi_dot|einsum|bilinear|rnn|lstm|gru|"
    r"(depthwise_|deformable_|sparse_)?conv([123]d)?(_transpose)?|flash_attn|flashmask_attention|"
    r"memory_efficient_attention|scaled_dot_product_attention)(_v2|_unpadded|_varlen)?(_double|_triple)?(_grad)?"
)
"""Paddle's operators, and their gradients, whose kernels multiply matrices (cuBLAS, cuDNN, CUTLASS)."""


def matrix_flops(operations: Iterable[Operation]) -> int:
    """FLOPs of products of matrices and of convolutions."""
    return sum(one.flops for one in operations if one.flops and _PRODUCTS.fullmatch(one.name))

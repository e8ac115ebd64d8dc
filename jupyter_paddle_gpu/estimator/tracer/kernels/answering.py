"""Operators that eager mode can be asked about with tensors that have no memory (`program/asking.py`).

Their kernels were called so, with right arguments and with wrong ones: each ends with an exception when it first looks
at a number. Not among them: kernels whose threads end the process there (`argsort`, `topk`, `kthvalue`, `mode`), those
that fill their result before they look (`full_like`), optimizers, and operators of which the program builder checks all
that there is to check (`slice`, `cast`).
"""

from __future__ import annotations

_NAMES = """
abs abs_ acos acos_ acosh acosh_ add add_ add_n all allclose amax amin angle any argmax argmin as_complex
as_real asin asin_ asinh asinh_ atan atan2 atan_ atanh atanh_ batch_norm bce_loss bicubic_interp bilinear_interp
bincount bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or
bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ bmm broadcast_tensors ceil celu
clip clip_by_norm complex concat conj conv2d conv2d_transpose conv3d conv3d_transpose copysign copysign_ cos
cos_ cosh cosh_ crop cross cross_entropy_with_softmax cummax cummin cumprod cumprod_ cumsum cumsum_
deformable_conv depthwise_conv2d diag diag_embed diagonal digamma digamma_ dist divide divide_ dot dropout
einsum elementwise_pow elu embedding equal equal_ equal_all erf erf_ erfinv exp exp_ expand expand_as expm1
expm1_ fft_c2c fft_c2r fft_r2c fill_diagonal_tensor flip floor floor_divide floor_divide_ fmax fmin fold
gammaincc gammaincc_ gammaln gammaln_ gather gather_nd gelu greater_equal greater_than group_norm hardsigmoid
hardswish hardtanh heaviside histogram huber_loss i0 i0_ i0e i1 i1e imag index_add index_add_ index_put
index_put_ index_sample index_select instance_norm isclose isfinite isinf isnan kldiv_loss kron label_smooth
layer_norm leaky_relu lerp less_equal less_equal_ less_than less_than_ lgamma lgamma_ log log10 log10_ log1p
log1p_ log2 log2_ log_ log_loss log_softmax logcumsumexp logical_and logical_and_ logical_not logical_not_
logical_or logical_or_ logical_xor logical_xor_ logit logit_ logsigmoid logsumexp masked_fill masked_fill_
masked_select matmul max max_pool2d_with_index max_pool3d_with_index maximum mean mean_all median min minimum
mish multiplex multiply multiply_ mv nanmedian nearest_interp nextafter nll_loss norm not_equal not_equal_
p_norm pad3d pixel_shuffle pixel_unshuffle polygamma polygamma_ pool2d pool3d pow pow_ prelu prod real
reciprocal reduce_as relu relu6 relu_ remainder remainder_ renorm renorm_ reshape reshape_ rnn roi_align roll
round rsqrt scale scale_ scatter scatter_ scatter_nd_add searchsorted selu send_u_recv sigmoid
sigmoid_cross_entropy_with_logits sign silu sin sin_ sinh sinh_ softmax softplus softshrink softsign split sqrt
sqrt_ square square_ squared_l2_norm stack stanh subtract subtract_ swish take_along_axis tan_ tanh tanh_shrink
tile trilinear_interp trunc unbind unfold warpctc where where_
"""
ANSWERING = frozenset(_NAMES.split())
_OF_ONE = """
abs acos acosh all amax any asin asinh atan atanh bitwise_not ceil celu clip cos cosh cumsum digamma elu erf exp expm1
flip floor gelu hardsigmoid hardswish isfinite isinf isnan leaky_relu lgamma log log10 log1p log2 log_softmax
logical_not logsigmoid logsumexp max mean mean_all min mish p_norm pow prod reciprocal relu relu6 reshape roll rsqrt
scale selu sigmoid sign silu sin sinh softmax softplus softsign sqrt square squared_l2_norm swish tanh tile trunc
"""
_OF_TWO = """
add bitwise_and bitwise_or bitwise_xor divide elementwise_pow equal floor_divide fmax fmin greater_equal greater_than
less_equal less_than logical_and logical_or logical_xor maximum minimum multiply not_equal remainder subtract
"""
BY_TYPE = {name: count for count, names in enumerate((_OF_ONE, _OF_TWO), 1) for name in names.split()}
"""Of those, with how many tensors they are called, where types are all that the program builder leaves out: of shapes
and attributes it says what eager mode says. Asked once for each combination of types. The functions of each element of
one tensor take every shape; of the others 1,500 random calls each (equal, broadcast and unlike shapes, empty ones,
five types, axes that are not there) were asked of both: none that the builder takes was refused by eager mode where it
had taken the types before. Not so: `expand`, `dist`, `heaviside`, `kldiv_loss`."""
CRASHING = frozenset(("argsort", "kthvalue", "mode", "topk"))
"""Those are asked for their types alone, with one number each: without memory their threads would end the process."""
ONLY_ON_GPU = frozenset(("float8_e4m3fn", "float8_e5m2"))
"""Types that only kernels of a GPU have: what a CPU says of them means nothing to a job on one. Beside low precision,
which is asked for as float32, no other was found where registrations were compared (`gpu/*.cu`, `kps/*.cu`: products,
activations, elementwise operators, `flip`, `where`, `scatter`, `index_select`, `take_along_axis`, `expand_as`)."""

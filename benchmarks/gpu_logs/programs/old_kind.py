"""Builds what one process of an automatically parallel training runs, as a program of Paddle's old kind.

`python old_kind.py FILE CONFIG KEY=VALUE...` runs in the folder `model_zoo/gpt-3` of a PaddleNLP of 2023, with
Paddle 2.6.2 for CPUs and without data; the configuration's values are those of the trainer's `-o`. Paddle itself
completes the program, divides it, puts low types, recomputation, merged gradients and what is written over what into it
and cuts it into jobs. What it asks of a GPU is answered as by a V100; processes are not started. FILE gets the
operators, the bytes of the variables and the jobs, which `old_programs` replays.
"""

import json
import os
import sys
import zlib  # noqa: F401 - the system's comes before the one that libpaddle brings
from pathlib import Path
from types import SimpleNamespace

SIZES = {"float16": 2, "float32": 4, "float64": 8, "int32": 4, "int64": 8, "bool": 1, "uint8": 1}
FED = ("tokens", "position_ids", "labels", "loss_mask")
LENGTH = 1024


def prepare(values):
    """Be the first process of as many as the degrees ask for; to be done before Paddle is imported."""
    count = 1
    for name in ("dp_degree", "mp_degree", "pp_degree"):
        count *= int(values.get("Distributed." + name, 1))
    ends = [f"127.0.0.1:{61700 + number}" for number in range(count)]
    os.environ.update(
        PADDLE_TRAINER_ID="0", PADDLE_RANK_IN_NODE="0", PADDLE_TRAINERS_NUM=str(count),
        PADDLE_TRAINER_ENDPOINTS=",".join(ends), PADDLE_CURRENT_ENDPOINT=ends[0],
        FLAGS_new_executor_micro_batching="True",
    )  # fmt: skip
    return count


def answer_as_a_gpu():
    """Give Paddle what its Python asks a GPU, or a build for one, while it builds a program."""
    import paddle
    from paddle.base import core
    from paddle.distributed.auto_parallel.static import engine, process_group
    from paddle.static.amp import fp16_lists

    card = SimpleNamespace(name="Tesla V100-SXM2-16GB", major=7, minor=0, total_memory=16 << 30)
    paddle.is_compiled_with_cuda = lambda: True
    paddle.device.cuda.get_device_properties = lambda *_: card
    known = core.op_supported_infos("CPU", core.VarDesc.VarType.FP32)[0]
    fp16_lists._get_sys_unsupported_list = lambda _: ("GPU", set(), known)  # all that is met has a kernel in half
    process_group.ProcessGroup.instantiate = lambda _: None
    engine.Engine._initialize = lambda *_, **__: None


def built(config, overrides, count):
    """The engine, once its program is divided."""
    import paddlenlp  # noqa: F401 - the trainer wants it to be there first
    from paddle.static import InputSpec
    from ppfleetx.core import AutoEngine
    from ppfleetx.data.tokenizers import GPTTokenizer
    from ppfleetx.distributed.apis import auto_env
    from ppfleetx.models import build_module
    from ppfleetx.utils import auto_config

    GPTTokenizer.from_pretrained = classmethod(lambda *_: SimpleNamespace(vocab_size=50257))
    asked = auto_config.get_config(config, overrides=overrides, show=False)
    if count > 1:
        degrees = (asked.Distributed[name] for name in ("dp_degree", "mp_degree", "pp_degree"))
        auto_env.set_mesh(auto_env.Mesh(0, *degrees))
    module = build_module(asked)
    asked.Optimizer.lr.update({"epochs": 1, "step_each_epoch": asked.Engine.max_steps})
    made = AutoEngine(configs=asked, module=module)._auto_engine
    shape = [asked.Global.global_batch_size, LENGTH]
    specs = [InputSpec(shape, "float32" if name == "loss_mask" else "int64", name) for name in FED]
    made.prepare(inputs_spec=specs[:2], labels_spec=specs[2:], mode="train")
    return made._dist_contexts["train"]


class Job:
    """Stands for a job of Paddle's, which tells nobody what it leaves to others."""

    def __init__(self, kind):
        self.kind, self.batch, self.stays = kind, 0, []

    def type(self):
        return self.kind

    def set_micro_batch_id(self, number):
        self.batch = number

    def micro_batch_id(self):
        return self.batch

    def set_skip_gc_vars(self, names):
        self.stays = sorted(names)


def jobs_of(program):
    """The program's parts by kind, the jobs that run them, and what holds the parts' inner blocks."""
    if not program._pipeline_opt:
        return {"whole": program}, [Job("whole")], program
    from paddle.distributed.passes import pipeline_pass_base, pipeline_scheduler_pass

    found = {}
    own = SimpleNamespace(Job=Job, Plan=lambda jobs, _: found.update(jobs=jobs))
    divide = pipeline_pass_base.set_skip_gc_vars

    def kept(number, kinds, parts, jobs):
        made = divide(number, kinds, parts, jobs)
        found["parts"] = dict(made)
        return made

    pipeline_pass_base.set_skip_gc_vars = kept
    pipeline_pass_base.core = pipeline_scheduler_pass.core = own
    asked = dict(program._pipeline_opt["standalone_opt"])
    whole = program.clone()
    pipeline_scheduler_pass.apply_pass(whole, whole, asked["schedule_mode"], asked)
    return found["parts"], found["jobs"], whole


def told(program, variables, number=0):
    """The operators of a block; of its variables bytes, whether they stay, and whether they are parameters."""
    from paddle.distributed.passes.pass_utils import OpInOutInfo

    block, rows = program.block(number), []
    for one in block.vars.values():
        if str(one.type).endswith(".LOD_TENSOR"):
            size = SIZES.get(str(one.dtype).rpartition(".")[2], 0)
            for side in one.shape:
                size *= abs(side)
            variables[one.name] = [size, bool(one.persistable), bool(getattr(one, "is_parameter", False))]
    for one in block.ops:
        row = {"name": one.type, "takes": list(one.input_arg_names), "gives": list(one.output_arg_names)}
        if one.type == "conditional_block":  # asking what it needs may end the process: Paddle does not either
            row["inner"] = told(program, variables, one._block_attr_id("sub_block"))
        else:
            read = OpInOutInfo()
            read.build_info(one)
            row["takes"] = [name for name in row["takes"] if read.is_needed(name)]  # of the others it needs the shape
        rows.append(row)
    return rows


def main():
    file, config, *overrides = sys.argv[1:]
    count = prepare(dict(one.split("=", 1) for one in overrides))
    sys.path.insert(0, str(Path.cwd()))
    answer_as_a_gpu()
    from paddle.base.executor import _apply_inplace_addto_pass

    context = built(config, overrides, count)
    program, variables = context.dist_main_programs[0], {}
    _apply_inplace_addto_pass(program, True, False, list(FED))  # as the executor does before the first step
    parts, jobs, _whole = jobs_of(program)
    found = {
        "starts": told(context.dist_startup_programs[0], variables),
        "parts": {kind: told(part, variables) for kind, part in parts.items()},
        "jobs": [[one.kind, one.batch, one.stays] for one in jobs],
        "variables": variables,
    }
    Path(file).write_text(json.dumps(found))


if __name__ == "__main__":
    main()

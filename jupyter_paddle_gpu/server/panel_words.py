"""What pages say where a terminal would name an option: the same next step, in the panel's own words.

A sentence arises where nobody knows who will read it, and says what works everywhere: `--image`, `--set name=value`.
In the panel there are no options; there is a dialog behind *Change…*, a list, a cell. REST and events go to pages.
"""

from __future__ import annotations

from functools import cache

from ..domain.messages import Translate
from ..i18n import translator

IN_PANEL = {
    "`jupyter paddle-gpu images` names the image for this driver: submit with it as `--image`, or update the driver.": (
        "Choose the image for this driver under Change…, or update the driver."
    ),
    "`jupyter paddle-gpu images` names the image for the card that is here: submit with it as `--image`.": (
        "Choose the image for the card that is here under Change…"
    ),
    "`jupyter paddle-gpu images` names one for this machine: submit with it as `--image`.": (
        "Choose one for this machine under Change…"
    ),
    "Name one of Paddle's images, for instance with --image.": "Choose one of Paddle's images under Change…",
    "Name an image yourself (`--image`), or choose another device (`--device-id`).": (
        "Choose an image yourself or another device under Change…"
    ),
    "Make one of your own (docs/images-of-your-own.md) and name it with `--image`.": (
        "Make one of your own (docs/images-of-your-own.md) and name it under Change…"
    ),
    "By the estimate the batch of {batch} fits {device} with nothing else on it: look with `jupyter paddle-gpu gpus` "
    "who uses it, or submit with a smaller `--batch-size`.": "By the estimate the batch of {batch} fits {device} with "
    "nothing else on it: look under Devices who uses it, or submit with a smaller batch.",
    "By the estimate a batch of {batch} fits {device}: submit with `--batch-size {batch}`, use mixed precision, or "
    "take a device with more memory.": "By the estimate a batch of {batch} fits {device}: re-run it with that batch, "
    "use mixed precision, or take a device with more memory.",
    "`jupyter paddle-gpu estimate --details {notebook}` names the largest batch that fits and what else would help; or "
    "submit to a device with more free memory.": "The notebook's estimate says which batch fits and what else would "
    "help; or submit to a device with more free memory.",
    "`jupyter paddle-gpu logs {job} --rank {rank}` has what it said. Submit again; training that saves checkpoints "
    "goes on from there.": "What it said is under Ranks. Submit again; training that saves checkpoints goes on from "
    "there.",
    "It was process {rank} of the training: `jupyter paddle-gpu logs {job} --rank {rank}` has the traceback. Correct "
    "the cell and submit again.": "It was process {rank} of the training: its traceback is under Ranks. Correct the "
    "cell and submit again.",
    "It was process {rank} of the training: `jupyter paddle-gpu logs {job} --rank {rank}` has the traceback. Correct "
    "the script and submit again.": "It was process {rank} of the training: its traceback is under Ranks. Correct the "
    "script and submit again.",
    "Submit it again with more (`--memory` or memory_bytes; {more}, say), use fewer DataLoader workers, or load the "
    "data in parts.": "Submit it again with more memory under Change… ({more}, say), use fewer DataLoader workers, or "
    "load the data in parts.",
    "Re-run it: it then gets {more}. Or submit it with a limit of your own (`--memory` or memory_bytes), up to "
    "{most}.": "Re-run it: it then gets {more}. Or submit it with a limit of your own under Change…, up to {most}.",
    "Submit again with a higher limit (`--time-limit`); training that saves into the checkpoints folder can go on from "
    "there.": "Submit again with more time under Change…; training that saves into the checkpoints folder can go on "
    "from there.",
    "The maker's tool may reset the card when nothing uses it; else restart the machine. Submit to another device "
    "meanwhile (`--device-id`).": "The maker's tool may reset the card when nothing uses it; else restart the machine. "
    "Submit to another device meanwhile.",
    "`--details-seconds {more}` seeks for longer; or ask for the one that matters: mixed precision, for instance, or a "
    "smaller batch.": "Seek on, or ask for the one that matters: mixed precision, for instance, or a smaller batch.",
    "Answer that as well (`name=value`), or have the file where the job runs.": "Answer that as well, or have the file "
    "where the job runs.",
    "Give the variable that holds their size with --set name=value.": "Hold their size in a variable and change it in "
    "its cell.",
    "Give the variable that holds their length with --set name=value.": "Hold their length in a variable and change it "
    "in its cell.",
    "Give the variable that sizes the batch with --set name=value.": "Change the variable that sizes the batch in its "
    "cell.",
    "Ask for another one with --training, or in the panel's list; a job is placed by the most.": "Choose another one "
    "in the list; a job is placed by the most.",
    "Look at `jupyter paddle-gpu estimate --batch-size 1`, which says why.": "Estimate it with batch 1: that says why.",
    "Shorten what runs before the training (smaller data, no waiting), or answer with --set name=value.": "Shorten "
    "what runs before the training (smaller data, no waiting), or write its results as plain values in a cell.",
    "Where that number decides sizes, answer for it with --set name=value.": "Where that number decides sizes, write "
    "it as a plain value in its cell.",
    "Say what a batch looks like with --set where they are others.": "Say what a batch looks like where they are "
    "others.",
    "Give other values with --set where you know them.": "Write other values where you know them.",
    "Write it as a number in a cell, or answer for what it is computed from with --set name=value.": "Write it as a "
    "number in a cell.",
    "Ask for several devices (--devices): each then also holds buffers as large as the gradients.": "Ask for several "
    "devices under What if…: each then also holds buffers as large as the gradients.",
    "It leaves by itself where Paddle has no GPU. Tell it by its own arguments or settings to take the CPU, or "
    "name the card that it is meant for (--device) and submit it where there is one.": "It leaves by itself where "
    "Paddle has no GPU. Tell it by its own arguments or settings to take the CPU, or name the card that it is meant "
    "for and submit it where there is one.",
    "The line asks for a device that is not here: {device}. Let the job's copy take the CPU there (--on-cpu), or "
    "submit it where there is one.": "The line asks for a device that is not here: {device}. Let the job's copy take "
    "the CPU there, or submit it where there is one.",
    "Another limit is asked for when it is submitted (--memory).": "Another limit is asked for under Change…",
    "Ask for several devices (--devices), or leave fleet.distributed_model out where one trains alone.": "Ask for "
    "several devices under What if…, or leave fleet.distributed_model out where one trains alone.",
    "Ask again for a number of devices (--devices).": "Ask again for a number of devices under What if…",
    "Did you mean {near}? `jupyter paddle-gpu gpus --catalog` lists the names.": "Did you mean {near}?",
    "`jupyter paddle-gpu gpus --catalog` lists the names, for example A100-80GB.": "Names look like A100-80GB.",
    "Leave these values out, run only those that fit (`--skip`), or submit them all the same (`--anyway`).": "Leave "
    "these values out, run only those that fit, or submit them all the same.",
    "Name some for a variable of the notebook: `--set lr=0.1,0.01`.": "Name some for a variable of the notebook, as "
    "0.1, 0.01 for lr.",
    "Run `pip install optuna` in the environment that submits, or search by `grid` or `random`.": (
        "Run `pip install optuna` in JupyterLab's environment, or try all combinations, or some by chance."
    ),
    "Install Paddle for GPUs in the kernel's environment (https://www.paddlepaddle.org.cn/install/quick), or submit it "
    "to the CPU.": "Choose the CPU, or install Paddle for GPUs.",
    "The kernel's {package} {version} is for the CPU: a job would hold a device and train on the CPU.": "The kernel's "
    "Paddle is for the CPU: a job would train on the CPU and hold the devices for nothing.",
    "Name fewer values, or take some of them: `--search random --trials 20`.": "Name fewer values, or take some of "
    "them by chance.",
    "Name them in the policy file (`matching.prices`), or fetch the market's: `jupyter paddle-gpu prices --update`.": (
        "Name them in the policy file (`matching.prices`)."
    ),
    "`--at 22:00`, `--cron '0 2 * * *'`, `--when 'gpu 1 free'` or `--when 'cost<2'`.": "At 22:00, by a cron expression "
    "as 0 2 * * *, when GPU 1 is free or when an hour costs less than 2.",
    "Write `--when 'gpu 1 free'` or `--when 'cost<2'`.": "Write gpu 1 free or cost<2.",
}
"""Template -> what a page says."""


def page_translator(language: str) -> Translate:
    """As `i18n.translator`, for a reader in front of a page: one function a language, by which made JSON is kept."""
    return _in_panel(translator(language))


@cache
def _in_panel(translate: Translate) -> Translate:
    return lambda template: translate(IN_PANEL.get(template, template))

"""Batches of sound: spectrograms and their like as high as the program's constants say and as long as its clips, and
clips themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ....undecided.made_up import is_of_sound
from ..hints import Hints
from ..models import input_width
from ..numbers import ASSUMED, CELLS, LENGTH
from .constants import all_numbers
from .specified import Sourced

_RATE = re.compile(r"(?i)^(target_?|audio_?)?(sample_?rate|sampling_?rate|samplerate|sr|fs|rate)$")
_SECONDS = re.compile(r"(?i)^(?!.*min)(\w+_)?(seconds?|secs?|duration|dur|clip_?len(gth)?|audio_?len(gth)?)$")
_SAMPLES = re.compile(r"(?i)^(num|n|max|target|fixed)_?(audio_?|wav_?)?(samples|points)$")
_FRAMES = re.compile(r"(?i)^(num|n|max|target|fixed)_?(frames?|pad(_?len(gth)?)?|time_?steps|len(gth)?)$")
_WINDOW, _HOP = re.compile(r"(?i)^n_?fft$"), re.compile(r"(?i)^hop(_?(length|size|len))?$")
_MELS = re.compile(r"(?i)^(n|num)_?mels?(_?bins?)?$|^(n|num)_?filters$")
_CEPSTRUM = re.compile(r"(?i)^(n|num)_?mfccs?$|^(n|num)_?ceps$")
_RATE_USUAL, _WINDOW_USUAL, _LONGEST = 22_050, 2_048, 600
"""What librosa and Paddle take where nothing is said, and the seconds above which a length is one of samples."""
_MELS_USUAL, _CEPSTRUM_USUAL = {"librosa": 128, "paddle": 64}, {"librosa": 20, "paddle": 40}


class _Sizes(NamedTuple):
    """How high what a program makes of a clip may be, the likeliest first, how long, and of how many samples a clip is;
    0 where nobody knows."""

    high: list[int]
    long: int
    clip: int


def sounds(size: int, layer: Any, found: Hints) -> Iterator[Sourced]:
    """What the first layer of a net takes of sound, either way round; nothing of a program that reads none."""
    text = "\n".join(found.sources) or found.text
    if not is_of_sound(text):
        return
    one = _sizes(text, all_numbers(found))
    kind, where = type(layer).__name__, CELLS if one.long else ASSUMED
    long = one.long or LENGTH
    if kind.startswith("Conv1D"):
        wide = int(layer._in_channels)
        if wide == 1 and one.clip:
            yield from ((CELLS, "float32", shape) for shape in ((size, 1, one.clip), (size, one.clip)))
        yield from ((where, "float32", shape) for shape in ((size, wide, long), (size, long, wide)))
    elif kind.startswith("Conv2D") and one.high:
        wide = int(layer._in_channels)
        for sides in (sides for high in one.high for sides in ((high, long), (long, high))):
            yield where, "float32", (size, wide, *sides)
            if wide == 1:  # the net itself gives it a channel
                yield where, "float32", (size, *sides)
    elif (width := input_width(layer)) is not None:
        yield where, "float32", (size, long, width)


def _sizes(text: str, numbers: Mapping[str, float]) -> _Sizes:
    rate = _of(_RATE, numbers) or _RATE_USUAL
    seconds, window = _of(_SECONDS, numbers), int(_of(_WINDOW, numbers) or _WINDOW_USUAL)
    clip = int(seconds if seconds > _LONGEST else rate * seconds) or int(_of(_SAMPLES, numbers))
    hop = int(_of(_HOP, numbers)) or window // 4
    library = "librosa" if "librosa" in text else "paddle"
    kinds = (
        (r"(?i)mfcc", _of(_CEPSTRUM, numbers), _CEPSTRUM_USUAL[library]),
        (r"(?i)mel|fbank", _of(_MELS, numbers), _MELS_USUAL[library]),
        (r"(?i)stft|spectrogram", 0, window // 2 + 1),
    )
    named = [(said, usual) for kind, said, usual in kinds if re.search(kind, text)]
    high = [int(said or usual) for said, usual in sorted(named, key=lambda one: not one[0])][:2]
    return _Sizes(high, int(_of(_FRAMES, numbers)) or (clip // hop + 1 if clip else 0), clip)


def _of(kind: re.Pattern[str], numbers: Mapping[str, float]) -> float:
    return next((number for name, number in numbers.items() if kind.match(name) and number > 0), 0)

"""Advice is made once for the same step, and anew where anything differs that it hangs on."""

import msgspec

from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.estimator import messages
from jupyter_paddle_gpu.estimator.advice.known import KnownAdvice


def test_advice_is_made_anew_where_what_it_hangs_on_is_another():
    first, other = object(), object()
    plain = Estimate(status="ok", evidence="trace", seconds=1.0)
    late, made = False, []

    def make():
        made.append(1)
        note = messages.DETAILS_LATE.filled(seconds=1, more=2)
        return msgspec.structs.replace(plain, paddle_version=str(len(made)), notes=(note,) if late else ())

    known = KnownAdvice(4)
    assert known.of([first], (1,), plain, make).paddle_version == "1"
    again = known.of([first], (1,), msgspec.structs.replace(plain, seconds=2.0), make)
    assert (again.paddle_version, again.seconds) == ("1", 2.0)
    assert known.of([other], (1,), plain, make).paddle_version == "2"
    assert known.of([first, other], (1,), plain, make).paddle_version == "3"
    assert known.of([first], (2,), plain, make).paddle_version == "4"
    assert known.of([first], (1,), msgspec.structs.replace(plain, batch_size=3), make).paddle_version == "5"
    late = True  # what time was too short for is sought again
    assert known.of([first], (3,), plain, make).paddle_version == "6"
    assert known.of([first], (3,), plain, make).paddle_version == "7"

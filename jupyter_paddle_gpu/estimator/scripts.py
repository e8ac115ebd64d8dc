"""An estimate of a script: what is said in it is of lines of its file."""

from __future__ import annotations

import msgspec

from ..domain.estimates import Estimate
from ..domain.scripts import of_script


def said(estimate: Estimate) -> Estimate:
    """The same, said of a script."""
    return msgspec.structs.replace(
        estimate,
        is_script=True,
        notes=tuple(map(of_script, estimate.notes)),
        questions=tuple(msgspec.structs.replace(one, why=of_script(one.why)) for one in estimate.questions),
        packages=tuple(msgspec.structs.replace(one, why=of_script(one.why)) for one in estimate.packages),
        remedies=tuple(
            one if one.refused is None else msgspec.structs.replace(one, refused=of_script(one.refused))
            for one in estimate.remedies
        ),
    )

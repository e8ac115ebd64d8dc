"""What is here and what is asked for, for Hypothesis: cards, estimates, policies, choices."""

from __future__ import annotations

import msgspec
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.decisions import Choice
from jupyter_paddle_gpu.domain.devices import Device, DeviceDetails
from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.matching.policy import Policy

GIB = 1 << 30
LOST = Message(code="card_lost", text="This card does not answer.")


@st.composite
def devices(draw: st.DrawFn) -> tuple[Device, ...]:
    """Up to four cards, of one maker or two: full, empty, silent, lost, simulated, or divided."""
    found: list[Device] = []
    for index in range(draw(st.integers(0, 4))):
        total = draw(st.none() | st.sampled_from([8, 16, 24, 40, 80]).map(lambda gib: gib * GIB))
        kind = draw(st.sampled_from(["", "", "", "", "simulated", "lost", "divided"]))
        kept = draw(st.sampled_from([0, 0, GIB // 2])) if total is not None else 0
        usable = None if total is None else total - kept
        used = None if usable is None else int(usable * draw(st.sampled_from([0, 0, 0.1, 0.5, 0.95, 1])))
        name = draw(st.sampled_from(["Tesla T4", "NVIDIA A100-SXM4-80GB", "Card"]))
        card = Device(
            id=f"GPU-{index}",
            index=index,
            vendor=draw(st.sampled_from(["nvidia", "nvidia", "nvidia", "ascend"])),
            name=name,
            memory_total=total,
            memory_used=used,
            memory_free=None if usable is None or used is None else usable - used,
            details=DeviceDetails(memory_reserved=kept) if kept else None,
            simulated=kind == "simulated",
            problem=LOST if kind == "lost" else None,
        )
        found.append(card)
        if kind == "divided":
            half = {"memory_total": 5 * GIB, "memory_used": 0, "memory_free": 5 * GIB, "details": None}
            found += [
                msgspec.structs.replace(card, id=f"MIG-{index}-{part}", parent=card.id, **half) for part in range(2)
            ]
    return tuple(found)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate | None:
    """None where a question is open."""
    if draw(st.integers(0, 5)) == 0:
        return None
    high = draw(st.integers(1, 100)) * GIB
    low = int(high * draw(st.sampled_from([1, 0.95, 0.5])))
    flops = draw(st.none() | st.just(10**12))
    return Estimate(status="ok", evidence="trace", peak_bytes=high, low=low, high=high, flops_per_step=flops)


policies = st.builds(
    Policy,
    memory_threshold=st.sampled_from([0.5, 0.9, 1.0]),
    plan_for=st.sampled_from(["low", "high"]),
    prefer=st.sampled_from(["most_free", "least_free", "fastest"]),
    sharing=st.sampled_from(["shared", "shared", "exclusive"]),
    default_share=st.sampled_from(["whole", "estimate"]),
    excluded=st.sets(st.sampled_from(["0", "1", "GPU-2"]), max_size=2).map(tuple),
)
choices = st.builds(
    Choice,
    gpus=st.none() | st.integers(0, 3),
    device_ids=st.just(())
    | st.sets(st.sampled_from(["0", "1", "GPU-1", "GPU-2", "MIG-0-0", "MIG-0-1"]), max_size=2).map(tuple),
)

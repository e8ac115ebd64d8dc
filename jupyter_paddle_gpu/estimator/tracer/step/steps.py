"""When a whole training step has been seen, and which operations it spans.

A step ends where an optimizer has updated. With several optimizers (GAN) the step is one period of their order; with
gradient accumulation the updates are rarer than the backward passes and the step simply spans them. Two equal periods
in a row are asked for: in the second one gradients, optimizer state and Python's leftovers are all there.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..eager import amp
from ..eager.tensors import Tensors
from ..memory.arrays import elements
from ..patience import Patience, Waiting
from . import periods
from .beyond import Beyond
from .changes import Changes, parameters, plain
from .deadline import Deadline, given_up
from .garbage import Garbage
from .gradients import Gradients
from .kept import Kept
from .layers import LayerPaths
from .passages import Leaving, Passage, Passages
from .probes import Probe
from .rest import Rest
from .sizes import Sizes
from .static_graphs import StaticGraphs
from .updates_by_hand import UpdatesByHand, count_as_parameter

PATIENCE = Patience(300_000, 30.0)
"""After which a step is taken as it is, though not every optimizer has updated twice."""
IDLE, IDLE_UPDATES = Patience(30_000, 4.0), 8
"""How long, and for how many updates of others, an optimizer is waited for whose model no step calls."""
ASKED = Patience(150_000, 10.0)
"""How long a step is looked for once something is missing: a question is an answer, running out of time is none."""
EVALUATION = Patience(60_000, 8.0)
"""What an evaluation between epochs may take to be traced."""
MORE = Patience(300_000, 30.0)
"""How long further trainings are looked for behind the first one."""
BY_HAND, MANY_BY_HAND = 5, 200
"""Updates by hand that tell a step: of an optimizer of the program's own or of none; where others were spoken of."""


class StepSeen(BaseException):
    """Ends the user's program: everything needed is recorded."""


class TrainingSeen(StepSeen):
    """Ends the loop that trains: everything needed of it is recorded, and there is more behind it."""


class StepWatch:
    """Collects the updates of one training after the other, and stops the program."""

    def __init__(
        self,
        runtime: Tensors,
        probe: Probe | None = None,
        *,
        rounds: int = 0,
        is_by_hand: Callable[[], bool] = lambda: False,
        checks: tuple[Callable[[], None], ...] = (),
    ) -> None:
        """`checks` are called before each operator."""
        self.runtime = runtime
        self._checks = checks
        self._depth = 0
        self.known: weakref.WeakSet[Any] = weakref.WeakSet()
        # The number of each optimizer, from 1: those that are gone have theirs for good.
        self._made: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._numbers = itertools.count(1)
        self.rounds = rounds  # epochs behind the first one that are looked at: something may be kept there
        self.probe = probe
        """Looks at the program instead of tracing a whole step."""
        self.loops = 0
        """Loops of the notebook that are running, one in another; behind the outermost one no training is expected."""
        self.is_leaving = False
        """Loaders are dropped now that the program would have read to their end."""
        self._is_by_hand = is_by_hand
        """Whether nothing that runs speaks of an optimizer."""
        self.ended: Callable[[Passage | None, Passage | None], Leaving] | None = None
        """Keeps a training that ends, by what stands for it and what holds it, and says how the program goes on."""
        self.is_wanted: Callable[[], bool] = lambda: True
        """Whether the probe is to look at the training that comes now."""
        self.trainings = self._ended_updates = 0  # those that have ended, and their updates
        self.rest, self.beyond, self.garbage = Rest(), Beyond(), Garbage()
        self._passages = Passages()
        self._left: Passage | None = None
        self._more: Waiting | None = None  # what is left for further trainings
        self._gives_up: Waiting | None = None
        self._begin()

    def _begin(self) -> None:
        """What follows is another training."""
        self.rest.trains_anew()
        self.began = self.runtime.ledger.now  # when what is seen now began: behind the last training
        self.optimizers: list[Any] = []
        self.window: tuple[int, int] | None = None
        self._order, self._ends = list[int](), list[int]()
        self.sizes = Sizes(self.runtime)
        self._whole, self._idle = PATIENCE.begins(self.began), IDLE.begins(self.began)
        self.leaves_epoch = False  # the loop that trains is to end, so that what follows the epoch is reached
        self.has_left = False  # the loop that trains was ended: later passes are whole ones
        self._evaluation: Waiting | None = None
        self._enough = self._passed = 0
        self._best: tuple[int, int] | None = None
        self._by_hand, self.gradients = UpdatesByHand(self.runtime), Gradients()
        self.kept = Kept(self.runtime, self.began)

    def has_window(self) -> bool:
        """Whether a whole step was seen."""
        return self.window is not None

    @property
    def updates(self) -> int:
        """Updates that have ended, of all trainings."""
        return self._ended_updates + len(self._ends)

    @property
    def all_updates(self) -> int:
        """The same with those that the program writes out itself."""
        return self.updates + self._by_hand.count

    def elements(self) -> int:
        """Elements of what is updated."""
        return sum(self.parameters().values())

    def parameters(self) -> dict[int, int]:
        """By identity the elements of what is updated."""
        held = {id(p): elements(p) for optimizer in self.optimizers for p in parameters(optimizer)}
        return held or self.runtime.of(StaticGraphs).elements or self._by_hand.elements

    def may_leave(self, updates: int) -> bool:
        """Whether a loop ends behind an item in which the updates beyond so many were made; only the first one does."""
        leaves = self.leaves_epoch and not self.has_left and self.updates > updates and not self.rest.is_open()
        self.has_left = self.has_left or leaves
        return leaves

    def next_epoch(self) -> None:
        """A loop that may train begins: what is behind the step is through."""
        if self.rest.is_on:
            self.rest.next_epoch()
            self.check()

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """The trace leaves a loop that the program would go through to its end."""
        self.is_leaving = True
        try:
            yield
        finally:
            self.is_leaving = False

    def created(self, optimizer: Any) -> None:
        """An optimizer was made: the step is not whole before it has updated. One constructor may call another."""
        if optimizer in self._made:
            return
        self.known.add(optimizer)
        self._made[optimizer] = next(self._numbers)
        for parameter in parameters(optimizer):
            count_as_parameter(parameter)

    def asked(self) -> None:
        """Something that the program needs is missing."""
        self._gives_up = self._gives_up or ASKED.begins(self.runtime.ledger.now)

    def backward_begins(self, losses: list[Any]) -> None:
        """A backward pass is about to run."""
        self.runtime.of(StaticGraphs).check()
        is_next = self.beyond.is_another(max(self._made.values(), default=0))
        if is_next or not self.gradients.passes:
            self.garbage.training_begins(self._made, is_first=not (is_next or self.trainings))
        self.gradients.passed()
        self.kept.passed(losses)
        if self.probe is not None and self.is_wanted() and self.probe.backward():
            raise StepSeen

    def gradients_arrived(self) -> None:
        """A backward pass has run."""
        self._by_hand.has_gradients = True

    def gradient_used(self, tensor: Any) -> None:
        """The program reads or clears a gradient. Without an optimizer that is how it updates by hand: the first one
        after a backward pass tells one step from the next."""
        if not (self.optimizers or self.known):
            self._has_updated(self._by_hand.used(tensor))

    def gradients_given(self, losses: list[Any], tensors: list[Any]) -> None:
        """`paddle.grad` has given the gradients of tensors."""
        if not (self.optimizers or self.known):
            self._has_updated(self._by_hand.given(losses, tensors))

    def update_by_hand(self, call: Callable[[], Any], trained: Callable[[], Iterable[Any]]) -> Any:
        """Run the update of an optimizer that the program has written itself.

        Args:
            trained: gives its parameters.
        """
        if self.optimizers or self.known or self._depth:
            return call()
        self._depth += 1
        try:
            with self.runtime.ledger.during("update"):
                result = call()
        finally:
            self._depth -= 1
        self._has_updated(self._by_hand.stepped(list(trained())))
        return result

    def _has_updated(self, is_new: bool) -> None:
        if not is_new or self._by_hand.count < BY_HAND or self.beyond.is_on:
            return
        if self._by_hand.count < MANY_BY_HAND and not (self._by_hand.has_stepped or self._is_by_hand()):
            return
        if window := self.kept.settle(self._by_hand.window(self.kept.size), self._by_hand.ends, 1):
            self.window = window
            self._seen()

    def wrapped(self, optimizer: Any) -> None:
        """Another optimizer updates in this one's place."""
        self.known.discard(optimizer)

    def update(self, optimizer: Any, call: Callable[[], Any]) -> Any:
        """Run an update, in its phase; nested calls (minimize inside step) count once."""
        if self._depth == 0:
            self.runtime.of(StaticGraphs).check()
            if self.probe is not None and self.is_wanted() and self.probe.updates():
                raise StepSeen
            if self.runtime.of(Changes).skips_update(plain(optimizer)):
                return None
            self.gradients.updating(plain(optimizer), is_behind=self.rest.is_on)
        self._depth += 1
        amp.before_update(self.runtime, plain(optimizer))
        try:
            with self.runtime.ledger.during("update"):
                result = call()
        finally:
            self._depth -= 1
        if self._depth == 0:
            self._ended(optimizer)
        return result

    def _ended(self, optimizer: Any) -> None:
        if optimizer not in self.optimizers:
            self.optimizers.append(optimizer)
        self._order.append(self.optimizers.index(optimizer))
        self.runtime.of(LayerPaths).look(self._ends[-1] if self._ends else 0)
        self.sizes.updated(self._ends[-1] if self._ends else self.began)
        self._ends.append(self.runtime.ledger.now)
        self.has_left = self.has_left and not self.beyond.is_on
        if self.rest.is_on:
            self.rest.updated()
            self.check()
        if self.rest.is_on or self.beyond.is_on:
            return
        period = self._period()
        if period is None or self.updates < self._enough:
            return
        window = self.sizes.settle((self._ends[-period - 1], self._ends[-1]), period)
        self.window = self.kept.settle(window, self._ends, period) or self.window
        if self.window is None:
            return
        if self.leaves_epoch and (window is None or self.rounds > 1):  # it may be left before its sizes come again
            self.window = max(filter(None, (self._best, self.window, self.sizes.largest)), key=self.kept.size)
            self._best = self.window if self.rounds > 1 else None
        if self._passed >= self.rounds:
            self._seen()
        else:
            self._passed, self.leaves_epoch, self.has_left = self._passed + 1, True, False
            self._enough = self.updates + 2 * period
            self._evaluation = self._evaluation or EVALUATION.begins(self.runtime.ledger.now)

    def _seen(self) -> None:
        """End the training, or the program, or follow the rest of the epoch; what was alive as the step ended goes."""
        if self.window is not None and self.beyond.begins(self.window, self.runtime.ledger.now):
            self.leaves_epoch = True
            return
        begin, end = self.window or (0, 0)
        period = max(1, sum(begin < one <= end for one in self._ends))
        if self.rest.waits():  # for the same place in the next step
            self._enough, self.leaves_epoch, self.has_left = self.updates + period, False, False
            return
        self._end_training(self._holding())
        self.runtime.ledger.finish(self.runtime.ledger.begin("end"))
        if self._left is None and self.rest.begins(self.runtime.ledger.now, period):
            self.leaves_epoch, self.has_left = self.rest.is_on, False
            return
        self.is_leaving = self._left is not None
        raise TrainingSeen if self.is_leaving else StepSeen

    def _end_training(self, passage: Passage | None) -> None:
        """What is seen now is a training: have it kept, and begin another where the program goes on."""
        if self.ended is None:
            return
        outermost = None if passage is None else self._passages.outermost()
        leaving = self.ended(None if passage is None else self._passages.told(passage), outermost)
        if leaving is Leaving.PROGRAM or passage is None:
            return
        self._left = passage if leaving is Leaving.TRAINING else outermost
        self.trainings += 1
        self._more = self._more or MORE.begins(self.runtime.ledger.now)
        self._ended_updates += len(self._ends)
        self.known -= weakref.WeakSet(self.optimizers)
        self._begin()

    def numbers(self) -> frozenset[int]:
        """Numbers of the optimizers that have updated, from 1 in the order in which the program made them."""
        return frozenset(self._made.get(plain(optimizer), 0) for optimizer in self.optimizers)

    def _holding(self) -> Passage | None:
        return self._passages.holding(max(self.numbers(), default=0))

    def enter(self, passage: Passage) -> Passage:
        """The program comes to a loop, or a call, that may hold a training."""
        passage.made, passage.updates = max(self._made.values(), default=0), self.updates
        self._passages.enter(passage)
        return passage

    def leave(self, passage: Passage, problem: BaseException | None) -> bool:
        """It is through with one, or leaves it by an exception; whether that one goes no further."""
        has_trained = bool(self._ends) and self.updates > passage.updates
        is_whole = problem is None and has_trained and self._holding() is passage
        if passage is self._left:
            self._left, self.is_leaving = None, False
        elif is_whole and self.ended and not self.rest.is_on:  # few steps, or of changing kinds: it ended by itself
            self._end_training(passage)
            if self._left is None:
                raise StepSeen
            self._left = None
        self._passages.leave(passage)
        return self._left is None and isinstance(problem, TrainingSeen)

    def _period(self) -> int | None:
        now = self.runtime.ledger.now
        for length in periods.ending(self._order):
            expected = self.known | weakref.WeakSet(self.optimizers)
            complete = len(set(self._order[-length:])) >= len(expected)
            if complete or self._whole.is_over(now) or (self._idle.is_over(now) and self._others_idle()):
                return length
        return None

    def _others_idle(self) -> bool:
        """Whether every optimizer that never updated is of layers that nothing has called since the first update, or of
        parameters that others update."""
        if self.updates < IDLE_UPDATES:
            return False
        updated = {id(p) for optimizer in self.optimizers for p in parameters(optimizer)}
        idle = [optimizer for optimizer in self.known if optimizer not in self.optimizers]
        waiting = [p for optimizer in idle for p in parameters(optimizer) if id(p) not in updated]
        return self.runtime.of(LayerPaths).are_idle(waiting, self._ends[0])

    def check(self) -> None:
        """Raise again where the user's program caught the end (a bare `except`), or an evaluation takes too long."""
        if self.probe is not None and self.probe.is_done:
            raise StepSeen
        self.runtime.of(Deadline).check()
        for check in self._checks:
            check()
        if self._left is not None:
            raise TrainingSeen
        now = self.runtime.ledger.now
        if (self.beyond.is_on and not self.beyond.is_over(now)) or (self.rest.is_on and not self.rest.ends(now)):
            return
        if self._more is not None and self._more.is_over(now):
            self.runtime.note("trainings_cut")
            raise StepSeen
        if self._gives_up is not None and self.window is None and not self._ends and self._gives_up.is_over(now):
            given_up(self.runtime)
            raise StepSeen
        is_open = self.window is None or self.rest.is_awaited
        if not is_open and not (self.leaves_epoch and self.updates < self._enough and self._is_in_time()):
            raise StepSeen

    def _is_in_time(self) -> bool:
        if self._evaluation is not None and not self._evaluation.is_over(self.runtime.ledger.now):
            return True
        self.runtime.note("evaluation_cut")
        return False

    def last_window(self) -> tuple[int, int] | None:
        """The best window when the program ended by itself: the last update's step."""
        if (window := self.window or self.sizes.largest) is not None:
            own = periods.first_forward(self.runtime.ledger.operations, self.began) if self.sizes.are_two else window[0]
            self.window = max(window, (own, self._ends[0] if self.sizes.are_two else window[1]), key=self.kept.size)
            return self.window
        if not self._ends:
            self.window = self._by_hand.last(self.kept.size)
            if self.window is not None or not self._by_hand.has_stepped:
                return self.window
        if (ends := periods.first(self._order)) is not None:
            self.window = (self._ends[ends[0]], self._ends[ends[1]])
            return self.window
        if len(self._ends) > 1:
            return self._ends[-2], self._ends[-1]
        return periods.first_forward(self.runtime.ledger.operations, self.began), self.runtime.ledger.now

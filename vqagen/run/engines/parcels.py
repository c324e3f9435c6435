"""Work, items and outcomes on their way between processes: what any worker does with what it is sent, as bytes."""

from __future__ import annotations

import pickle
import traceback
import warnings
from collections.abc import Sequence

from vqagen.errors import InputWarning, VqagenError, is_out_of_memory
from vqagen.run.work import Block, Outcome, WindowFailed, WindowTask, Work, span_of
from vqagen.tasks.contract import Item


def packed_work(work: Work) -> bytes:
    """A work as it goes to workers. VqagenError if it holds what cannot go to another process."""
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise VqagenError(f"cannot be done by other processes than this one: {error}") from error


def load_quietly(packed: bytes) -> WindowTask:
    """Load the task of a packed work. The sending process has loaded the same, and issued the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        work: Work = pickle.loads(packed)
        return work.load()


def do_window(task: WindowTask, packed: bytes) -> Outcome:
    """Do a window, whose items come pickled, in full, whatever happens."""
    blocks: Sequence[Block] = ()
    failure: VqagenError | WindowFailed | None = None
    where = "a window that cannot be read"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        try:
            items: Sequence[Item] = pickle.loads(packed)
            where = span_of(items)
            blocks = list(task(items))
        except Exception as error:
            failure = as_value(error, where)
    problems = tuple(each.message.problem for each in caught if isinstance(each.message, InputWarning))
    return Outcome(blocks, failure, problems)


def as_value(error: Exception, where: str) -> VqagenError | WindowFailed:
    """Return an error that can be sent to another process: the user's as it is, any other with its traceback."""
    if isinstance(error, VqagenError):
        return error
    if is_out_of_memory(error):
        return VqagenError(f"{where}: out of memory in a worker; start fewer workers")
    return WindowFailed(f"{where}:\n{''.join(traceback.format_exception(error))}")


def packed_outcome(outcome: Outcome) -> bytes:
    """An outcome as bytes that make one again, whatever its error holds."""
    try:
        packed = pickle.dumps(outcome)
        if outcome.error is not None:
            pickle.loads(packed)  # an exception may be pickled well, and made again not at all
        return packed
    except Exception as error:
        mistake = VqagenError(str(outcome.error)) if isinstance(outcome.error, VqagenError) else None
        return pickle.dumps(Outcome(error=mistake or as_value(error, "what was made cannot be sent")))


def unpacked_outcome(packed: bytes) -> Outcome:
    """What `packed_outcome` packed, or that it holds what only the worker knows."""
    try:
        outcome: Outcome = pickle.loads(packed)
    except Exception as error:
        return Outcome(error=as_value(error, "what a worker has sent cannot be read"))
    return outcome

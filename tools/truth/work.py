"""Worker processes that draw, solve and judge; results come in the order of the tasks, so a run depends on nothing but its arguments."""

import collections
import ctypes
import multiprocessing
import multiprocessing.connection
import signal
import time

from truth import c_library as calls, kinds
from truth.judge import judge

HANG = 300  # seconds for all configurations of one system


def solve(library, kind, config, systems):
    """Pairs of x and report."""
    options = kinds.options_of(config)
    if kind in kinds.SINGLE:
        return calls.solve_one(library, systems[0], options)
    if config.startswith("batch"):
        return calls.solve_batch(library, systems, options, factor_first=config == "batch.kept")
    return calls.solve_series(library, systems, options)


def row_of(kind, seed, config, member, system, x, report):
    """A row of the record."""
    by = f"{report.get('method')}/{report.get('precond')}"
    named = {
        "kind": kind,
        "seed": seed,
        "config": config,
        "member": member,
        "n": len(x),
        "complex": x.dtype == complex,
        "note": system.note,
        "by": by,
    }
    return named | judge(system, config, x, report)


def run_task(library, kind, seed, configs):
    """Rows of all configurations of one draw."""
    systems, rows = kinds.draw(kind, seed), []
    for config in configs:
        if kind in kinds.SINGLE and not kinds.suits(config, systems[0]):
            continue
        for member, (system, (x, report)) in enumerate(zip(systems, solve(library, kind, config, systems))):
            rows.append(row_of(kind, seed, config, member, system, x, report))
    return rows


def serve(path, pipe):
    """A worker's life: tasks come, rows go, until the sweep ends it, or ends itself."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    library = calls.Library(path)
    while (task := pipe.recv()) is not None:
        try:
            pipe.send(run_task(library, *task))
        except Exception as error:  # a fault of this tool or of the library: told, and the sweep goes on
            pipe.send(f"{type(error).__name__}: {error}")


class Worker:
    def __init__(self, path):
        self.path, self.task = path, None
        self.start()

    def start(self):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=serve, args=(self.path, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, number, task):
        self.task, self.number, self.since = task, number, time.monotonic()
        self.pipe.send(task)

    def take(self):
        """What came of the task: rows, or a sentence."""
        try:
            return self.pipe.recv()
        except EOFError:
            self.process.join()
            ended = f"the process ended with {self.process.exitcode}"
            self.start()
            return ended

    def end(self):
        self.process.kill()
        self.process.join()


def sweep(path, tasks, workers, enough):
    """Pairs (task, rows or sentence) in the order of the tasks, until `enough` (a function of such a pair) says so."""
    crew = [Worker(path) for _ in range(workers)]
    tasks, done, next_out, next_in = iter(tasks), {}, 0, 0
    waiting = collections.deque(crew)
    try:
        while True:
            while waiting and (task := next(tasks, None)) is not None:
                worker = waiting.popleft()
                worker.give(next_in, task)
                next_in += 1
            busy = [w for w in crew if w.task is not None]
            if not busy:
                return
            ready = multiprocessing.connection.wait([w.pipe for w in busy], timeout=5)
            for worker in busy:
                if worker.pipe in ready:
                    done[worker.number] = (worker.task, worker.take())
                elif time.monotonic() - worker.since > HANG:
                    worker.end()
                    done[worker.number] = (worker.task, f"no answer in {HANG} s")
                    worker.start()
                else:
                    continue
                worker.task = None
                waiting.append(worker)
            while next_out in done:
                pair = done.pop(next_out)
                next_out += 1
                yield pair
                if enough(pair):
                    return
    finally:
        for worker in crew:
            worker.end()

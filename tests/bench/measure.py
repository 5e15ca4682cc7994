#!/usr/bin/env python3
"""Times commands against each other in one run, in turns, so that a busy machine slows all of them alike.

usage: measure.py ROUNDS NAME=COMMAND NAME=COMMAND…

Prints per command the median, the fastest and the slowest wall time, the median processor time (which a busy machine disturbs
less) and the largest resident size, and the ratio of the first command's medians to every other's. Each command is split by shell rules, its output goes nowhere, and one round warms up.
"""
import os
import shlex
import statistics
import sys
import time


def run(arguments):
    null = os.open(os.devnull, os.O_RDWR)
    started = time.perf_counter()
    child = os.posix_spawnp(
        arguments[0], arguments, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
    )
    _, status, usage = os.wait4(child, 0)
    took = time.perf_counter() - started
    os.close(null)
    if status:
        raise SystemExit(f"{shlex.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main():
    rounds = int(sys.argv[1])
    commands = {name: shlex.split(command) for name, _, command in (item.partition("=") for item in sys.argv[2:])}
    times = {name: [] for name in commands}
    processor = {name: [] for name in commands}
    memory = dict.fromkeys(commands, 0)
    for round_number in range(rounds + 1):
        for name, arguments in commands.items():
            took, busy, resident = run(arguments)
            memory[name] = max(memory[name], resident)
            if round_number:
                times[name].append(took)
                processor[name].append(busy)
    medians = {name: statistics.median(values) for name, values in times.items()}
    busy = {name: statistics.median(values) for name, values in processor.items()}
    for name, values in times.items():
        print(
            f"  {name:<34} median {medians[name]:8.4f} s   {min(values):8.4f} to {max(values):8.4f} s"
            f"   processor {busy[name]:8.4f} s   peak {memory[name] / 1024:7.1f} MiB"
        )
    first = next(iter(commands))
    for name in list(commands)[1:]:
        print(f"  {first} takes {medians[first] / medians[name]:.3f} of {name}, processor {busy[first] / busy[name]:.3f}")


if __name__ == "__main__":
    main()

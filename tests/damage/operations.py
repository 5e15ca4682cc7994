"""Ways to damage one file that every kind of file can suffer."""

import os


def truncate(path, _sibling):
    """The second half is gone, as after a full disk."""
    os.truncate(path, path.stat().st_size // 2)


def empty(path, _sibling):
    """Nothing is left, as after a power cut."""
    os.truncate(path, 0)


def extend(path, _sibling):
    """Bytes follow that don't belong there."""
    with open(path, "ab") as file:
        file.write(b"\x00trailing")


def flip(path, _sibling):
    """One bit in the middle is another, as on a bad disk."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x01
    path.write_bytes(data)


def swap(path, sibling):
    """Holds what another file of its kind holds, and the other way round."""
    here, there = path.read_bytes(), sibling.read_bytes()
    path.write_bytes(there)
    sibling.write_bytes(here)


def rename(path, _sibling):
    """Goes by another name of the same form: the last letter of what stands before the first dot differs."""
    stem, dot, rest = path.name.partition(".")
    path.rename(path.with_name(stem[:-1] + ("a" if stem[-1] != "a" else "q") + dot + rest))


def remove(path, _sibling):
    """Is gone."""
    path.unlink()


OPERATIONS = {function.__name__: function for function in (truncate, empty, extend, flip, swap, rename, remove)}

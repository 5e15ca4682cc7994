"""Names that torch makes from contents, and edits that leave them right: what an attacker or a broken tool could do."""

import base64
import hashlib
import pickletools


def leaf(data):
    """The name of an entry with these bytes: torch/_inductor/codecache.py: sha256_hash."""
    return base64.b32encode(hashlib.sha256(data).digest()).decode().lower()[:51]


def store(path, data):
    """Writes an entry's new bytes under the name that fits them."""
    path.unlink()
    place = path.with_name(leaf(data)) if path.name != "entry" else path
    place.write_bytes(data)
    return place


def edit(path, before, after):
    """Replaces bytes of an entry by as many others, and renames it."""
    assert len(before) == len(after), "another length would break the pickle"
    data = path.read_bytes()
    assert before in data, f"{before} isn't in {path.name}"
    return store(path, data.replace(before, after))


def without_frames(data):
    """The same pickle without FRAME, so that pieces of any length may be put in."""
    pieces, last = [], 0
    for opcode, _, position in pickletools.genops(data):
        if opcode.name == "FRAME":
            pieces.append(data[last:position])
            last = position + 9
    return b"".join(pieces) + data[last:]


def entries(cache, holding=b""):
    """FX graph entries whose bytes hold something, sorted."""
    return [path for path in sorted(cache.glob("fxgraph/*/*/*")) if holding in path.read_bytes()]


def aot_entries(cache, holding=b""):
    return [path for path in sorted(cache.glob("aotautograd/*/*")) if holding in path.read_bytes()]


def short_text(text):
    """SHORT_BINUNICODE without the memo opcode behind it."""
    return b"\x8c" + bytes([len(text)]) + text.encode()

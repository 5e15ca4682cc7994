"""Copies of real caches for tests that damage them."""

import pathlib
import shutil
import subprocess
import tempfile

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


class Caches:
    """Unpacks archives of tests/data into a scratch folder and hands out fresh copies."""

    def __init__(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cachetool-damage-"))
        self.copies = 0

    def original(self, name):
        """The folder of corpus `name`, to be left as it is."""
        folder = self.scratch / "originals" / name
        if not folder.exists():
            folder.mkdir(parents=True)
            subprocess.run(["tar", "-C", folder, "--strip-components=1", "-xf", DATA / f"{name}.tar.zst"], check=True)
        return folder

    def copy(self, name):
        """A copy that a test may change, modes and times kept."""
        self.copies += 1
        place = self.scratch / "copies" / str(self.copies)
        shutil.copytree(self.original(name), place, symlinks=True, ignore=shutil.ignore_patterns("fields"))
        return place

    def drop(self, place):
        shutil.rmtree(place)

    def close(self):
        shutil.rmtree(self.scratch)

"""Reads gcov's JSON (one document per line) and prints reached and all lines per folder of the sources."""

import collections
import json
import pathlib
import sys


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    reached = collections.defaultdict(dict)  # file -> line -> executed at least once
    for document in sys.stdin:
        report = json.loads(document)
        for file in report["files"]:
            path = pathlib.Path(report["current_working_directory"], file["file"]).resolve()
            if not path.is_relative_to(root):
                continue
            relative = path.relative_to(root)
            if relative.parts[0] not in ("lib", "commands", "app"):
                continue
            lines = reached[relative]
            for line in file["lines"]:
                lines[line["line_number"]] = lines.get(line["line_number"], False) or line["count"] > 0
    folders = collections.defaultdict(lambda: [0, 0])
    for path, lines in reached.items():
        for name in (str(path.parent), "total"):
            folders[name][0] += sum(lines.values())
            folders[name][1] += len(lines)
    for name in sorted(folders, key=lambda folder: (folder == "total", folder)):
        hit, count = folders[name]
        print(f"{name:24} {hit:6} of {count:6} lines {100 * hit / count:5.1f} %")


if __name__ == "__main__":
    main()

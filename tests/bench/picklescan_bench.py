#!/usr/bin/env python3
"""Scans every entry of a cache with picklescan, whose own walk leaves out files without a known extension.

usage: picklescan_bench.py CACHE      in an environment that has picklescan
"""
import logging
import pathlib
import sys

from picklescan.scanner import scan_file_path

logging.disable(logging.CRITICAL)
scanned = 0
for tree in ("fxgraph", "aotautograd"):
    for path in pathlib.Path(sys.argv[1], tree).rglob("*"):
        if path.is_file():
            scanned += scan_file_path(str(path)).scanned_files
print(f"{scanned} files scanned")

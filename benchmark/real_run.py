"""Index a folder and read every section of every file with its pictures; count what came of it.

python -m benchmark.real_run FOLDER
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import mdvision
from mdvision import MarkdownReading, MdVisionError


def main(folder: str) -> int:
    """Run; gives 1 when anything but an issue came of a file."""
    counts: Counter[str] = Counter()
    issues: Counter[str] = Counter()
    began = time.process_time()
    index = mdvision.index_markdown_folder(folder)
    indexed_seconds = time.process_time() - began
    for file in index:
        counts["files"] += 1
        counts["characters"] += file.char_count
        counts["headings"] += len(file.rows)
        counts["pictures named"] += len(file.images)
        issues.update(f"index {issue.code}" for issue in file.issues)
        try:
            readings = list(mdvision.iter_sections(file.path or ""))
            whole_sections = [
                mdvision.read_with_images(file.path or "", section=row) for row in file.rows
            ]
        except MdVisionError as error:
            issues[f"read {error.issue.code}"] += 1
            continue
        counts["sections"] += len(whole_sections)
        counts["pictures shown"] += sum(len(reading.images) for reading in readings)
        issues.update(reason(issue) for reading in readings for issue in reading.issues)
        counts["not verbatim"] += not is_verbatim(file.path or "", readings)
    read_seconds = time.process_time() - began - indexed_seconds
    for name, count in counts.items():
        print(f"{count:12,} {name}")
    for name, count in issues.most_common():
        print(f"{count:12,} {name}")
    print(f"{indexed_seconds:.2f} s CPU to index, {read_seconds:.2f} s to read")
    return int(counts["not verbatim"] > 0)


def reason(issue: mdvision.Issue) -> str:
    """An issue by its code and its reason."""
    return f"{issue.code} {issue.details.get('reason', '')}".strip()


def is_verbatim(path: str, readings: list[MarkdownReading]) -> bool:
    """Whether the sections joined are the file."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        return "".join(reading.text for reading in readings) == file.read()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Index and read a folder; count what came of it.")
    parser.add_argument("folder")
    sys.exit(main(parser.parse_args().folder))

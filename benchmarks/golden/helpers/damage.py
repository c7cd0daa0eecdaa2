"""Damages files: replace FILE OLD NEW | set FILE KEY.KEY VALUE | cut FILE BYTES | append FILE TEXT | drop FILE LINE |
remove PATH | copy PATH PATH | swap FILE LINE LINE | binary FILE. FILE may be a pattern; all that fit are damaged."""

import json
import shutil
import sys
from pathlib import Path


def set_value(file, keys, value):
    content = json.loads(file.read_text(encoding="utf-8"))
    place = content
    *way, last = keys.split(".")
    for key in way:
        place = place[int(key) if isinstance(place, list) else key]
    place[int(last) if isinstance(place, list) else last] = json.loads(value)
    file.write_text(json.dumps(content), encoding="utf-8")


def swap(file, one, other):
    lines = file.read_text(encoding="utf-8").splitlines()
    lines[one], lines[other] = lines[other], lines[one]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def drop(file, number):
    lines = file.read_text(encoding="utf-8").splitlines()
    del lines[number]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def replace(file, old, new):
    text = file.read_text(encoding="utf-8")
    print("replaced" if old in text else "not there")
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def copy(path, target):
    if path.is_dir():
        shutil.copytree(path, target, dirs_exist_ok=True)
    else:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


what, pattern, *rest = sys.argv[1:]
found = sorted(Path().glob(pattern))
for path in found or sys.exit(f"no {pattern}"):
    if what == "replace":
        replace(path, *rest)
    elif what == "set":
        set_value(path, *rest)
    elif what == "cut":
        path.write_bytes(path.read_bytes()[: int(rest[0])])
    elif what == "append":
        path.write_text(path.read_text(encoding="utf-8") + rest[0], encoding="utf-8")
    elif what == "drop":
        drop(path, int(rest[0]))
    elif what == "swap":
        swap(path, int(rest[0]), int(rest[1]))
    elif what == "remove":
        remove(path)
    elif what == "copy":
        copy(path, rest[0])
    elif what == "binary":
        path.write_bytes(bytes(range(256)) * 4)
    else:
        sys.exit(f"unknown: {what}")

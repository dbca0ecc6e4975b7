#!/usr/bin/env python3
"""Follows the README's quick start literally: runs each `$ command` of its console blocks in one shell, and holds what it
prints against what the README says. A line `…` stands for any lines, `…` within a line for any text.

The server runs on ports of its own: the README's are replaced by TOLL_LISTEN's and by ORIGIN_PORT."""

import os
import re
import subprocess
import sys

END = "--end-of-command--"


def steps(text):
    """Each command with the lines that it should print."""
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = part.rstrip("\n").split("\n")
            command = [lines.pop(0)]
            here = re.search(r"<<'(\w+)'", command[0])
            while here and command[-1] != here.group(1):
                command.append(lines.pop(0))
            yield "\n".join(command), lines


def matches(expected, printed):
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in expected
    )
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed))


def main():
    listen, origin = os.environ["TOLL_LISTEN"], os.environ["ORIGIN_PORT"]
    text = open("README.md", encoding="utf-8").read()
    text = text.replace("127.0.0.1:8080", listen).replace("127.0.0.1:9000", f"127.0.0.1:{origin}")
    text = text.replace("http.server 9000", f"http.server {origin}").replace("/tmp/weather", os.environ["SCRATCH"])
    shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    followed, failed = 0, 0
    for command, expected in steps(text):
        shell.stdin.write(f"{command}\necho {END}\n")
        shell.stdin.flush()
        printed = []
        for line in shell.stdout:
            if line == END + "\n":
                break
            printed.append(line.rstrip("\n"))
        followed += 1
        if not matches(expected, printed):
            failed += 1
            print("quick start:", command, "\n  the README says:", *expected, sep="\n    ")
            print("  it prints:", *printed, sep="\n    ")
    shell.stdin.write("kill $(jobs -p)\n")
    shell.stdin.close()
    shell.wait()
    print(f"quick start: {followed - failed} passed, {failed} failed")
    sys.exit(1 if failed or followed < 10 else 0)


main()

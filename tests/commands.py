"""Running the command `ramify`: in this process, which is quick, or for real."""

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ramify import cli


class Answer(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """The summary for machines; there must be nothing else on stdout."""
        (line,) = self.out.splitlines()
        return json.loads(line)


class _Input(io.TextIOWrapper):
    def __init__(self, text: str | bytes) -> None:
        super().__init__(io.BytesIO(text.encode() if isinstance(text, str) else text))


def ramify(*words: object, stdin: str | bytes = "") -> Answer:
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.stdin
    sys.stdin = _Input(stdin)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                cli.main([str(word) for word in words])
            except SystemExit as leave:
                code = leave.code
    finally:
        sys.stdin = before
    assert isinstance(code, int)
    return Answer(code, out.getvalue(), err.getvalue())


def done(*words: object, stdin: str | bytes = "") -> Answer:
    """Run a command that must succeed."""
    answer = ramify(*words, stdin=stdin)
    assert answer.code == 0, answer.err
    return answer


def fails(*words: object, code: int = 1, stdin: str | bytes = "") -> str:
    """Run a command that must fail with one sentence and nothing else; returns the sentence."""
    answer = ramify(*words, stdin=stdin)
    assert answer.code == code, answer
    assert answer.out == ""
    (sentence,) = answer.err.splitlines()
    assert sentence.startswith("ramify")
    return sentence


def start(*words: object, **options: Any) -> subprocess.Popen[bytes]:
    """Start the command for real."""
    program = [sys.executable, "-m", "ramify.cli", *(str(word) for word in words)]
    return subprocess.Popen(program, **options)


def files(folder: Path) -> list[str]:
    """What is in a folder: also what should not be."""
    return sorted(path.name for path in folder.iterdir())

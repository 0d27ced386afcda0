"""The command `ramify`: entry point, help, sentences for mistakes, data sets."""

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
import typer

import ramify
from ramify import cli, datasets, demo
from ramify.cli._catalogue import CATALOGUE
from ramify.cli._options import split
from ramify.cli.app import make_app
from ramify.files import ReadOptions, open_rows, read_names
from tests.commands import done, fails, files, start
from tests.commands import ramify as run

VERBS = {
    "recommend": "--field",
    "fit": "--algorithm",
    "update": "--out",
    "assign": "--path-depth",
    "cut": "--min-size",
    "clusters": "--texts",
    "export": "--to",
    "plot": "--kind",
    "evaluate": "--labels",
    "info": "--json",
    "datasets": "--points",
    "demo": "--limit",
    "paper": "--full",
}


def test_the_package_installs_the_command():
    (script,) = entry_points(group="console_scripts", name="ramify")
    assert script.load() is cli.main


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_an_example(verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    text = done(verb, "--help").out
    assert VERBS[verb] in text
    assert re.search(rf"Examples?:\s+(tail .* \| )?ramify {verb}", text)
    assert done(verb, "-h").out == text


def test_the_command_lists_its_verbs():
    text = done("--help").out
    assert all(re.search(rf"^  {verb} ", text, re.MULTILINE) for verb in VERBS)
    assert "--install-completion" in text
    assert run().out == text


def test_help_was_a_wall_of_types(monkeypatch):
    """``<bool>`` for what takes nothing, and ``<int range>``: an option's word is plain."""
    monkeypatch.setenv("COLUMNS", "120")
    group = typer.main.get_command(make_app("ramify"))
    for verb, command in group.commands.items():
        text = done(verb, "--help").out
        assert not re.search(r"<\w+|Union|Optional|list\[|\[x[<>]", text), verb
        for option in command.params:
            if option.param_type_name == "option" and not option.is_flag:
                assert option.metavar, f"{verb} {option.opts}: give it a metavar"
    assert re.search(r"^  -q, --quiet +Say nothing", done("fit", "--help").out, re.MULTILINE)
    assert "-o, --out TREE" in done("fit", "--help").out


@pytest.mark.parametrize(
    ("words", "completed"),
    [("--help", None), ("fit --help", None), ("", "ramify ev"), ("", "ramify fit --algorithm p")],
)
def test_help_and_completion_loaded_everything(words, completed):
    """They took a second and a half, for scikit-learn, rich and pydantic."""
    script = "import sys; from ramify.cli import main\ntry: main(sys.argv[1:])\n"
    script += "finally: print(*sys.modules, file=sys.stderr)"
    env = {**os.environ}
    if completed is not None:
        env |= {"_RAMIFY_COMPLETE": "complete_bash", "COMP_WORDS": completed}
        env["COMP_CWORD"] = str(len(completed.split()) - 1)
    answer = subprocess.run(
        [sys.executable, "-c", script, *words.split()], capture_output=True, text=True, env=env
    )
    assert answer.stdout
    heavy = {"numpy", "sklearn", "ramify._core", "pyarrow", "rich.console", "pydantic"}
    assert not heavy & set(answer.stderr.split())


def test_the_command_knows_its_version():
    assert done("--version").out == f"ramify {ramify.__version__}\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ramify ev", ["evaluate"]),
        ("ramify fit --algorithm p", ["perch"]),
        ("ramify cut --n", ["--noise", "--node-ids"]),
    ],
)
def test_the_shell_completes_words(words, expected, monkeypatch):
    monkeypatch.setenv("_RAMIFY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert done().out.split() == expected


def test_without_the_extra_one_sentence_names_it(monkeypatch):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "typer" else object())
    with pytest.raises(SystemExit) as caught:
        cli.main(["paper"])
    assert caught.value.code == 'the ramify command needs typer: pip install "ramify[cli]"'


def test_calls_that_are_wrong_get_one_sentence_and_code_2():
    assert fails("fly", code=2).startswith("ramify: No such command 'fly'")
    assert "Missing argument 'DATA'" in fails("fit", code=2)
    assert "Missing option '--out'" in fails("fit", "x.csv", code=2)
    assert "--nonsense" in fails("cut", "x", "--nonsense", code=2)


def test_our_own_mistakes_keep_their_traceback(monkeypatch, tmp_path):
    from ramify.cli import _models

    def broken(path):
        raise TypeError("a bug")

    monkeypatch.setattr(_models, "load", broken)
    with pytest.raises(TypeError, match="a bug"):
        run("cut", tmp_path, "-k", 1)


def test_memory_that_is_not_enough_is_said_so(monkeypatch, tmp_path):
    from ramify.cli import _models

    def greedy(path):
        raise MemoryError("Unable to allocate 1 TiB")

    monkeypatch.setattr(_models, "load", greedy)
    assert fails("cut", tmp_path, "-k", 1).endswith("not enough memory (Unable to allocate 1 TiB)")


# --- the older verbs ----------------------------------------------------------------


def test_a_wrong_name_is_answered_with_the_right_ones(tmp_path):
    sentence = fails("paper", "--only", "nothing", "--out", tmp_path, "-q")
    assert sentence.startswith("ramify paper: --only nothing: expected one of gmm-1, gmm-8, iris")
    assert list(tmp_path.iterdir()) == []


def test_names_may_be_separated_by_commas():
    assert split(["iris, glass", "OTD on w"]) == ["iris", "glass", "OTD on w"]
    assert split(None) == []


def test_paper_is_told_the_command(tmp_path, monkeypatch):
    from ramify import paper

    seen = []

    def stop(options, bar):
        seen.append(options)
        raise KeyboardInterrupt

    monkeypatch.setattr(paper, "reproduce", stop)
    sentence = fails("paper", "--only", "iris,OTD", "--out", tmp_path, "-q", code=130)
    assert sentence == f"ramify paper: interrupted; the same command continues from {tmp_path}"
    (options,) = seen
    assert options.only == ["iris", "OTD"]
    assert options.command == f"ramify paper --only iris,OTD --out {tmp_path} -q"


def test_demo_passes_its_options_on(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(demo, "main", lambda arguments: seen.append(list(arguments)))
    done("demo", "--limit", "9", "--out", tmp_path)
    words = ["--out", str(tmp_path), "--seed", "0", "--clusters", "8", "--limit", "9"]
    assert seen == [words]


# --- data sets ----------------------------------------------------------------------


def test_data_sets_are_listed():
    text = done("datasets").out
    listed = done("datasets", "--json").json()["datasets"]
    assert [entry["name"] for entry in listed] == [entry.name for entry in CATALOGUE]
    for entry in CATALOGUE:
        line = next(line for line in text.splitlines() if line.strip().startswith(entry.name + " "))
        assert f"{entry.points:,}" in line
        assert entry.source in line
        assert entry.licence in line


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_the_list_agrees_with_the_data(entry, tmp_path):
    if entry.name == "mnist":
        if datasets.find_mnist() is None:
            pytest.skip("MNIST is not here")
    elif entry.points > 500_000:  # the first of them, and the size by its default
        import inspect

        assert inspect.signature(entry.make).parameters["n"].default == entry.points
    given = {"n": 1_000} if entry.points > 10_000 and "n" in entry.takes else {}
    dataset = entry.make(**given)
    assert dataset.points.shape[1] == entry.width
    assert given or len(dataset) == entry.points
    if entry.licence != "none needed":
        assert entry.licence in dataset.description


def test_a_data_set_describes_itself():
    assert "licensed under CC BY 4.0" in " ".join(done("datasets", "glass").out.split())
    assert "gmm-8: 800 points" in done("datasets", "gmm-8", "--json").json()["description"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "feather", "npy", "npz"])
def test_a_data_set_is_written(ending, tmp_path):
    out = tmp_path / f"glass.{ending}"
    facts = done("datasets", "glass", "-o", out, "--json").json()
    assert (facts["points"], facts["width"]) == (214, 9)
    glass = datasets.glass()
    columns = [f"x{j}" for j in range(9)] if "np" not in ending else []
    with open_rows(out, ReadOptions(columns)) as source:
        rows = np.concatenate([batch.rows for batch in source])
    np.testing.assert_array_equal(rows, glass.points)
    if ending != "npy":
        names = read_names(out).names
        assert [int(name) for name in names] == glass.labels.tolist()


def test_generated_data_take_a_size_and_a_seed(tmp_path):
    out = tmp_path / "x.npy"
    done("datasets", "uniform-square", "--points", 30, "--seed", 4, "-o", out, "-q")
    np.testing.assert_array_equal(np.load(out), datasets.uniform_square(30, 4).points)
    done("datasets", "cities", "-o", tmp_path / "cities.parquet", "-q")
    with open_rows(tmp_path / "cities.parquet") as source:
        assert source.feature_names == ("x", "y", "z")
        assert source.left_out == ("name", "continent", "label")
        assert source.n_rows == 171_075


def test_data_sets_called_wrongly(tmp_path):
    assert "there are cities, iris" in fails("datasets", "rainbow")
    assert "takes no --seed" in fails("datasets", "iris", "--seed", 1, code=2)
    assert "takes no --points" in fails("datasets", "iris", "--points", 1, code=2)
    assert "give the NAME" in fails("datasets", "-o", tmp_path / "x.csv", code=2)
    assert "ends in one of" in fails("datasets", "iris", "-o", tmp_path / "x.xls")
    assert files(tmp_path) == []


# --- for real ---------------------------------------------------------------------------


@pytest.mark.no_asan
def test_the_installed_command_answers():
    program = Path(sys.executable).with_name("ramify")
    answer = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    for verb in ("paper", "demo"):
        assert verb in answer.stdout


@pytest.mark.no_asan
def test_closed_streams_were_a_traceback(tmp_path):
    (tmp_path / "d.csv").write_text("1,2\n3,4\n5,6\n")
    command = f"{shlex.quote(sys.executable)} -m ramify.cli"
    for words, code in (
        ("fit d.csv -o t >&-", 0),
        ("fit d.csv -o t 2>&-", 0),
        ("info t >&-", 0),
        ("fit - -o t <&-", 1),
    ):
        found = subprocess.run(
            f"{command} {words}", shell=True, cwd=tmp_path, capture_output=True, text=True
        )
        assert found.returncode == code, found.stderr
        assert len(found.stderr.splitlines()) <= 1, found.stderr


@pytest.mark.no_asan
def test_a_pipe_from_end_to_end(tmp_path):
    """Rows come in on a pipe, and the reader of the labels leaves early."""
    done("datasets", "uniform-square", "--points", 20_000, "-o", tmp_path / "x.npy", "-q")
    done("fit", tmp_path / "x.npy", "-o", tmp_path / "tree", "-q")
    pipe = subprocess.PIPE
    cut = start("cut", tmp_path / "tree", "-k", 5_000, stdout=pipe, stderr=pipe)
    assert cut.stdout.readline() == b"row,label\n"
    cut.stdout.close()
    assert cut.stderr.read() == b""
    cut.stderr.close()
    assert cut.wait(timeout=60) == 141


@pytest.mark.no_asan
def test_a_help_text_whose_reader_leaves_early_ends_without_a_traceback():
    """``ramify --help | head`` showed one."""
    gone, mine = os.pipe()
    os.close(gone)
    shown = start("--help", stdout=mine, stderr=subprocess.PIPE)
    os.close(mine)
    assert shown.stderr.read() == b""
    shown.stderr.close()
    assert shown.wait(timeout=60) == 141


HELD = """
    import pathlib, sys
    # What is loaded before counts as ours, not as the file's.
    from ramify.cli import _growing, _keeping, app

    def memory(what):
        status = pathlib.Path("/proc/self/status").read_text()
        return int(status.split(what + ":")[1].split()[0]) * 1024

    app.run(["--version"], "")
    before = memory("VmRSS")
    assert app.run(sys.argv[1:], "") == 0
    print(memory("VmHWM") - before)
"""


@pytest.mark.no_asan
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the peak")
def test_a_file_larger_than_what_it_is_used_for(tmp_path):
    """Two of a hundred columns become points: a tree of 10 MB from a file of 80 MB."""
    file = tmp_path / "wide.npy"
    np.save(file, np.random.default_rng(0).random((100_000, 100)))
    words = ("fit", file, "-o", tmp_path / "t", "--columns", "3,70", "--algorithm", "otd", "-q")
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(HELD), *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
    )
    grown, size = int(answer.stdout.split()[-1]), file.stat().st_size
    assert len(ramify.load(tmp_path / "t")) == 100_000
    assert grown < 0.75 * size, f"{grown:,} bytes for a file of {size:,}"


@pytest.mark.no_asan
def test_ctrl_c_for_real(tmp_path):
    out = tmp_path / "tree.ramify"
    pipe = subprocess.PIPE
    words = ("fit", "-", "-o", out, "--save-on-interrupt")
    fit = start(*words, stdin=pipe, stdout=pipe, stderr=pipe)
    fit.stdin.write(b"who,x,y\nann,1,2\nbob,3,4\ncid,5,6\n")
    fit.stdin.flush()
    assert fit.stderr.readline() == b"standard input: left out, not numbers: who\n"
    time.sleep(1.0)  # the three rows are read by now; it waits for a fourth
    fit.send_signal(signal.SIGINT)
    out_, err = fit.communicate(timeout=60)
    assert fit.returncode == 130
    assert out_ == b""
    assert b"ramify fit: interrupted when 3 points were in" in err
    assert b"Traceback" not in err
    assert len(ramify.load(out)) == 3


@pytest.mark.no_asan
@pytest.mark.parametrize("colour", [True, False])
def test_a_bar_on_a_terminal(colour, tmp_path):
    points = np.random.default_rng(0).random((30_000, 8))
    np.save(tmp_path / "x.npy", points)
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "120"}
    environment |= {} if colour else {"NO_COLOR": "1"}
    fit = start(
        *("fit", tmp_path / "x.npy", "-o", tmp_path / "t", "--batch-size", 1_000, "--json"),
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    text = seen.decode()
    assert fit.wait(timeout=60) == 0
    assert b'"points": 30000' in fit.stdout.read()
    fit.stdout.close()
    assert re.search(r"[\d,]+ points, [\d,]+ points/s, depth [\d,]+", text)
    colours = re.findall(r"\x1b\[[0-9;]*?(?:3[0-7]|38;5;\d+|9[0-7])m", text)
    assert bool(colours) == colour

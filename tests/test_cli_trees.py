"""The verbs that make and use trees, run on files of every kind."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ramify
from ramify import metrics
from ramify.cli import _progress
from ramify.cli._codes import PathCodes
from ramify.estimators._registry import BY_NAME
from ramify.files import open_table
from tests.commands import done, fails, files
from tests.commands import ramify as run
from tests.flowers import FEATURES, IRIS, NAMES, SPECIES, write
from tests.shapes import chain


@pytest.fixture
def plain(tmp_path) -> Path:
    """A tree of iris without names."""
    np.save(tmp_path / "plain.npy", IRIS.points)
    done("fit", tmp_path / "plain.npy", "-o", tmp_path / "plain.ramify", "-q")
    return tmp_path / "plain.ramify"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# --- fit --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["npy", "npz", "csv", "tsv", "jsonl", "parquet", "feather", "-"])
def test_fit_gives_the_tree_that_python_gives(kind, tmp_path):
    file = tmp_path / f"x.{kind}"
    stdin = ""
    if kind == "npy":
        np.save(file, IRIS.points)
    elif kind == "npz":
        np.savez_compressed(file, X=IRIS.points)
    elif kind == "-":
        stdin = "\n".join(",".join(map(repr, row)) for row in IRIS.points.tolist())
    else:
        with open_table(file, FEATURES) as table:
            table.write(*IRIS.points.T)
    out = tmp_path / "tree.ramify"
    answer = done("fit", "-" if kind == "-" else file, "-o", out, "--batch-size", 40, stdin=stdin)
    assert "150 points" in answer.err
    assert answer.out == ""
    assert ramify.load(out).hierarchy() == ramify.OHAC().fit(IRIS.points).hierarchy()


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [
        ("otd", ramify.OTD()),
        ("naive-hac", ramify.NaiveHAC()),
        ("naive-nn", ramify.NaiveNN()),
        ("perch", ramify.PERCH()),
        ("grinch", ramify.GRINCH()),
        ("birch", ramify.BIRCH()),
        ("hac", ramify.HAC()),
    ],
)
def test_fit_offers_every_algorithm(algorithm, model, flowers, tmp_path):
    out = tmp_path / "tree.ramify"
    columns = ",".join(FEATURES)
    facts = done(
        "fit", flowers, "-o", out, "--algorithm", algorithm, "--columns", columns, "--json", "-q"
    ).json()
    loaded = ramify.load(out)
    assert type(loaded) is type(model)
    expected = model.fit(IRIS.points).hierarchy()
    assert loaded.hierarchy() == expected
    assert facts["algorithm"] == algorithm
    assert facts["points"] == facts["inserted"] == 150
    assert facts["depth"] == expected.depths().max()
    assert facts["bytes"] == out.stat().st_size


def test_fit_passes_options_on(plain, tmp_path):
    out = tmp_path / "tree.ramify"
    words = ("--metric", "cosine", "--linkage", "ward", "--n-neighbors", 3)
    done("fit", tmp_path / "plain.npy", "-o", out, *words, "--dtype", "float32", "-q")
    model = ramify.load(out)
    assert model.get_params()["metric"] == "cosine"
    assert model.get_params()["linkage"] == "ward"
    assert model.get_params()["n_neighbors"] == 3
    assert model.points().dtype == np.float32
    done("fit", tmp_path / "plain.npy", "-o", out, "--algorithm", "birch", "--set", "threshold=0.1")
    assert ramify.load(out).threshold == 0.1
    words = ("--set", "update=nni", "--set", "start=hac", "--set", "polishing=auto")
    done("fit", tmp_path / "plain.npy", "-o", out, *words)
    model = ramify.load(out)
    assert (model.update, model.start, model.polishing) == ("nni", "hac", "auto")
    words = ("--algorithm", "otd", "--set", "rule=split", "--set", "rotate=true")
    done("fit", tmp_path / "plain.npy", "-o", out, *words)
    assert (ramify.load(out).rule, ramify.load(out).rotate) == ("split", True)
    words = ("--algorithm", "random-cut", "--set", "random_state=3")
    done("fit", tmp_path / "plain.npy", "-o", out, *words)
    assert ramify.load(out).random_state == 3


def test_fit_polishes_when_all_rows_are_in(tmp_path):
    rows = np.random.default_rng(5).normal(size=(600, 3))
    np.save(tmp_path / "rows.npy", rows)
    done("fit", tmp_path / "rows.npy", "-o", tmp_path / "a.ramify", "--polish")
    expected = ramify.OHAC().fit(rows)
    assert expected.polish()
    assert ramify.load(tmp_path / "a.ramify").hierarchy() == expected.hierarchy()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--algorithm", "otd", "--linkage", "ward"],
            "otd has no linkage; it has certify, duplicates, history, max_age, metric",
        ),
        (["--algorithm", "perch", "--n-neighbors", "2"], "perch has no n_neighbors"),
        (
            ["--set", "threshold=1"],
            "ohac has no threshold; it has duplicates, history, linkage, max_age",
        ),
        (["--set", "n_clusters=1"], "ohac has no n_clusters"),
        (["--set", "linkage"], "--set linkage: expected NAME=VALUE"),
        (["--algorithm", "perch", "--polish"], "--polish: trees of perch take no other shape"),
        (["--metric", "manhattan"], "'manhattan' is not one of"),
        (["--batch-size", "0"], "--batch-size"),
        (["--seed", "-1"], "--seed"),
        (["--nonsense"], "No such option"),
    ],
)
def test_fit_called_wrongly_is_usage(words, sentence, flowers, tmp_path):
    out = tmp_path / "tree.ramify"
    assert sentence in fails("fit", flowers, "-o", out, *words, code=2)
    assert not out.exists()


def test_fit_names_ids_and_leaves_text_out(flowers, tmp_path):
    out = tmp_path / "tree.ramify"
    answer = done("fit", flowers, "-o", out, "--id-column", "name")
    assert f"{flowers}: left out, not numbers: species" in answer.err
    model = ramify.load(out)
    assert model.ids_.tolist() == NAMES
    assert model.feature_names_in_.tolist() == FEATURES
    assert not (tmp_path / "tree.ramify.labels.csv").exists()


def test_fit_keeps_labels_beside_until_the_tree_is_another(tree, flowers, tmp_path):
    beside = tmp_path / "tree.ramify.labels.csv"
    rows = rows_of(beside.read_text())
    assert [row["id"] for row in rows] == NAMES
    assert [row["label"] for row in rows] == SPECIES.tolist()
    done("fit", flowers, "-o", tree, "--columns", "a,b", "-q")
    assert not beside.exists()


@pytest.mark.parametrize("kind", ["npy", "csv"])
def test_fit_shuffled_names_points_by_their_rows(kind, flowers, tmp_path):
    out = tmp_path / "tree.ramify"
    file = flowers
    if kind == "npy":
        file = tmp_path / "x.npy"
        np.save(file, IRIS.points)
    columns = () if kind == "npy" else ("--columns", "1:5")
    done("fit", file, "-o", out, "--shuffle", "--seed", 5, "--batch-size", 40, "-q", *columns)
    order = np.random.default_rng(5).permutation(150)
    model = ramify.load(out)
    assert model.ids_.tolist() == order.tolist()
    assert model.hierarchy() == ramify.OHAC().fit(IRIS.points[order]).hierarchy()


def test_fit_refuses_to_shuffle_a_stream(tmp_path):
    sentence = fails("fit", "-", "-o", tmp_path / "t", "--shuffle", stdin="1,2\n3,4\n")
    assert sentence == (
        "ramify fit: standard input cannot be shuffled: its last row may never come"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x,y\n1,2\n3,four\n", "data.csv, line 3, column 'y': 'four' found; expected a number"),
        ("x,y\n1,2\n3,\n", "data.csv, line 3, column 'y': the cell is empty; expected a number"),
        ("x,y\n1,2\n3,4,5\n", "data.csv, line 3: expected 2 cells, got 3"),
        ("x,y\n", "data.csv holds no rows"),
        ("", "data.csv holds no rows"),
        ("x,y\na,b\n", "data.csv: no column of numbers to make points of; line 2 has 'a'"),
    ],
)
def test_fit_says_what_is_wrong_with_a_file_and_keeps_what_was_read(text, sentence, tmp_path):
    (tmp_path / "data.csv").write_text(text)
    said = fails("fit", tmp_path / "data.csv", "-o", tmp_path / "t", "--batch-size", 1)
    assert sentence in said
    if "rows are in" in said:
        assert f"1 rows are in {tmp_path / 't'}; go on from line 3: " in said
        assert len(ramify.load(tmp_path / "t")) == 1
    else:
        assert files(tmp_path) == ["data.csv"]


def test_fit_refuses_the_same_id_twice(tmp_path):
    (tmp_path / "data.csv").write_text("who,x\nann,1\nbob,2\nann,3\n")
    sentence = fails("fit", tmp_path / "data.csv", "-o", tmp_path / "t", "--id-column", "who")
    assert "data.csv: ids: 'ann' (line 4) is already the id of point 0" in sentence
    assert "2 rows are in" in sentence
    assert "go on from line 4" in sentence
    assert ramify.load(tmp_path / "t").ids_.tolist() == ["ann", "bob"]


@pytest.mark.parametrize("algorithm", ["ohac", "hac"])
@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            '{"id":1,"x":1}\n{"id":"b","x":3}\n',
            "'b' (line 2) is of type str, and the ids of this stream have been of type int",
        ),
        ('{"id":1.5,"x":1}\n{"id":2.5,"x":3}\n', "expected strings or integers, got 1.5 (float"),
        ('{"id":true,"x":1}\n{"id":1.0,"x":3}\n', "ids: 1 (line 2) is already the id of point 0"),
        (f'{{"id":{2**63 + 5},"x":1}}\n', f"{2**63 + 5} (line 1) does not fit 64 bits"),
        ('{"id":"\\ud800","x":1}\n', "line 1, column 'id': '\\ud800' found; expected whole"),
        ('{"id":{"a":1},"x":1}\n', "line 1, column 'id': {'a': 1} found; expected text or a"),
    ],
)
def test_ids_of_the_wrong_type_were_a_traceback(algorithm, rows, sentence, tmp_path):
    (tmp_path / "d.jsonl").write_text(rows)
    words = ("-o", tmp_path / "t", "--id-column", "id", "--algorithm", algorithm)
    said = fails("fit", tmp_path / "d.jsonl", *words)
    assert sentence in said
    kept = ["t"] if "line 2" in sentence else []
    assert files(tmp_path) == ["d.jsonl", *kept], "what came before is kept"


def test_ids_of_another_type_than_the_tree_has_were_a_traceback(tree, tmp_path):
    (tmp_path / "more.jsonl").write_text('{"name":7,"a":1,"b":2,"c":3,"d":4,"species":"x"}\n')
    words = ("--id-column", "name", "--label-column", "species")
    sentence = fails("update", tree, tmp_path / "more.jsonl", *words)
    assert "7 (line 1) is of type int, and the ids of this stream have been of type str" in sentence


def test_an_option_of_the_wrong_type_was_a_traceback(flowers, tmp_path):
    words = ("--columns", "a", "--set", 'n_neighbors="x"')
    sentence = fails("fit", flowers, "-o", tmp_path / "t", *words)
    assert "n_neighbors='x': expected an int, got str" in sentence


def test_fit_says_at_once_where_it_cannot_write(flowers, tmp_path):
    assert "there is no folder" in fails("fit", flowers, "-o", tmp_path / "no" / "tree")
    assert "it is a folder" in fails("fit", flowers, "-o", tmp_path)
    assert "expected a regular file" in fails("fit", flowers, "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()
    assert "no file" in fails("fit", tmp_path / "nothing.csv", "-o", tmp_path / "tree")


def test_fit_cosine_refuses_a_row_of_zeros(tmp_path):
    (tmp_path / "data.csv").write_text("1,2\n0,0\n")
    sentence = fails("fit", tmp_path / "data.csv", "-o", tmp_path / "t", "--metric", "cosine")
    assert "data.csv: Input X has only zeros in line 2" in sentence
    more = ("--metric", "cosine", "--batch-size", 1)
    sentence = fails("fit", tmp_path / "data.csv", "-o", tmp_path / "u", *more)
    assert "data.csv: Input X has only zeros in line 2" in sentence, "whatever the batches are"
    np.save(tmp_path / "data.npy", [[1.0, 2.0], [0.0, 0.0]])
    sentence = fails("fit", tmp_path / "data.npy", "-o", tmp_path / "v", "--metric", "cosine")
    assert "data.npy: Input X has only zeros in row 1" in sentence


def test_fit_an_array_field(tmp_path):
    with (tmp_path / "x.jsonl").open("w") as file:
        for name, row in zip(NAMES, IRIS.points.tolist(), strict=True):
            file.write(json.dumps({"id": name, "score": 1, "vector": row}) + "\n")
    out = tmp_path / "tree.ramify"
    done("fit", tmp_path / "x.jsonl", "-o", out, "--field", "vector", "--id-column", "id", "-q")
    model = ramify.load(out)
    assert model.hierarchy() == ramify.OHAC().fit(IRIS.points).hierarchy()
    assert model.ids_.tolist() == NAMES


def test_quiet_is_quiet(flowers, tmp_path):
    answer = done("fit", flowers, "-o", tmp_path / "t", "-q")
    assert (answer.out, answer.err) == ("", "")


def test_lines_at_intervals_when_nobody_watches(tmp_path, monkeypatch):
    monkeypatch.setattr(_progress, "INTERVAL", 0.0)
    monkeypatch.setattr(_progress, "_SHARE_FOR_DEPTH", 0)
    np.save(tmp_path / "x.npy", IRIS.points)
    answer = done("fit", tmp_path / "x.npy", "-o", tmp_path / "t", "--batch-size", 50)
    lines = [line for line in answer.err.splitlines() if "left" in line or "%:" in line]
    depth = ramify.OHAC().fit(IRIS.points[:100]).hierarchy().depths().max()
    assert lines[-1].startswith("100%: 150 points, ")
    assert f"points/s, depth {depth}" in lines[-1]


def interrupted_after(monkeypatch, n: int) -> None:
    """Ctrl-C comes with the n-th batch."""
    from ramify.cli._models import open_data

    def interrupting(*arguments):
        source = open_data(*arguments)
        read = source._read

        def some():
            for i, batch in enumerate(read()):
                if i == n:
                    raise KeyboardInterrupt
                yield batch

        source._read = some
        return source

    monkeypatch.setattr("ramify.cli._options.open_data", interrupting)
    monkeypatch.setattr("ramify.cli._models.open_data", interrupting)


def test_ctrl_c_says_how_many_points_were_in_and_writes_nothing(flowers, tmp_path, monkeypatch):
    interrupted_after(monkeypatch, 2)
    words = ("fit", flowers, "-o", tmp_path / "tree.ramify", "--batch-size", 20, "-q")
    sentence = fails(*words, code=130)
    assert sentence == "ramify fit: interrupted when 40 points were in; nothing was written"
    assert files(tmp_path) == ["flowers.csv"]


def test_ctrl_c_saves_on_demand(flowers, tmp_path, monkeypatch):
    interrupted_after(monkeypatch, 2)
    out = tmp_path / "tree.ramify"
    words = ("--batch-size", 20, "-q", "--save-on-interrupt", "--label-column", "species")
    answer = run("fit", flowers, "-o", out, *words)
    assert answer.code == 130
    assert f"interrupted when 40 points were in; 40 rows are in {out}; go on from" in answer.err
    assert len(ramify.load(out)) == 40
    assert len(rows_of((tmp_path / "tree.ramify.labels.csv").read_text())) == 40


# --- update -----------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["ohac", "otd", "perch", "naive-hac"])
def test_update_continues_as_if_it_had_never_stopped(algorithm, tmp_path):
    first, second = (
        write(tmp_path / "1.csv", slice(100)),
        write(tmp_path / "2.csv", slice(100, None)),
    )
    out, new = tmp_path / "tree.ramify", tmp_path / "new.ramify"
    words = ("--id-column", "name", "--label-column", "species", "-q")
    done("fit", first, "-o", out, "--algorithm", algorithm, *words)
    facts = done("update", out, second, "-o", new, *words, "--json").json()
    assert (facts["points"], facts["inserted"]) == (150, 50)
    assert len(ramify.load(out)) == 100
    kind = {"ohac": ramify.OHAC, "otd": ramify.OTD, "perch": ramify.PERCH}.get(
        algorithm, ramify.NaiveHAC
    )
    model = ramify.load(new)
    assert model.hierarchy() == kind().fit(IRIS.points).hierarchy()
    assert model.ids_.tolist() == NAMES
    assert model.feature_names_in_.tolist() == FEATURES
    labels = rows_of((tmp_path / "new.ramify.labels.csv").read_text())
    assert [row["label"] for row in labels] == SPECIES.tolist()
    done("update", out, second, "--id-column", "name", "-q")
    assert len(ramify.load(out)) == 150


def test_update_finds_the_columns_by_their_names(tmp_path):
    (tmp_path / "1.csv").write_text("x,y,z\n1,2,3\n4,5,6\n")
    (tmp_path / "2.csv").write_text("z,extra,x\n9,0,7\n")
    (tmp_path / "3.csv").write_text("z,extra\n9,0\n")
    (tmp_path / "4.csv").write_text("7,9\n")
    out = tmp_path / "tree.ramify"
    done("fit", tmp_path / "1.csv", "-o", out, "--columns", "x,z", "-q")
    done("update", out, tmp_path / "2.csv", "-q")
    done("update", out, tmp_path / "4.csv", "-q")
    assert ramify.load(out).points().tolist() == [[1, 3], [4, 6], [7, 9], [7, 9]]
    sentence = fails("update", out, tmp_path / "3.csv")
    assert "no column 'x', which the tree was made of; it has z, extra" in sentence
    assert len(ramify.load(out)) == 4


def test_update_of_numbered_points_goes_on_counting(tmp_path):
    np.save(tmp_path / "x.npy", IRIS.points)
    out = tmp_path / "tree.ramify"
    done("fit", tmp_path / "x.npy", "-o", out, "--shuffle", "-q")
    done("update", out, tmp_path / "x.npy", "-q")
    assert ramify.load(out).ids_[150:].tolist() == list(range(150, 300))


def test_update_says_what_does_not_fit(tree, plain, flowers, tmp_path):
    assert "name the column of ids with --id-column" in fails("update", tree, flowers)
    sentence = fails("update", plain, flowers, "--id-column", "name", "-q")
    assert "the first 150 points of this stream have none" in sentence
    (tmp_path / "narrow.csv").write_text("1,2\n")
    assert "expected rows of 4 numbers, got 2" in fails("update", plain, tmp_path / "narrow.csv")
    sentence = fails("update", plain, tmp_path / "narrow.csv", "--label-column", "0")
    assert "no labels are kept beside" in sentence
    done("fit", flowers, "-o", tmp_path / "hac.ramify", "--algorithm", "hac", "-q")
    sentence = fails("update", tmp_path / "hac.ramify", flowers)
    assert "holds a tree of offline hac, which takes no more points" in sentence


# --- assign -----------------------------------------------------------------------


@pytest.mark.parametrize("to", ["csv", "jsonl", "parquet"])
def test_assign_says_where_rows_belong(to, tree, flowers, tmp_path):
    rng = np.random.default_rng(0)
    new = IRIS.points[::3] + rng.normal(scale=0.05, size=(50, 4))
    with open_table(tmp_path / "new.csv", [*FEATURES, "who"]) as table:
        table.write(*new.T, [f"new-{i}" for i in range(50)])
    out = tmp_path / f"places.{to}"
    before = tree.read_bytes()
    words = ("-k", 3, "--id-column", "who", "--batch-size", 20, "-o", out)
    facts = done("assign", tree, tmp_path / "new.csv", *words, "--json", "-q").json()
    assert facts == {"table": str(out), "rows": 50, "bad_rows": 0, "clusters": 3}
    assert tree.read_bytes() == before
    if to == "parquet":
        rows = pq.read_table(out).to_pylist()
    elif to == "jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    else:
        rows = rows_of(out.read_text())
    model = ramify.load(tree)
    nearest, distance = ramify.OHAC().fit(IRIS.points).nearest(new)
    hierarchy = model.hierarchy()
    labels = hierarchy.cut(n_clusters=3)
    assert list(rows[0]) == ["id", "nearest", "nearest_id", "distance", "cluster", "depth", "path"]
    assert [row["id"] for row in rows] == [f"new-{i}" for i in range(50)]
    assert [int(row["nearest"]) for row in rows] == nearest.tolist()
    assert [row["nearest_id"] for row in rows] == [NAMES[i] for i in nearest]
    assert [float(row["distance"]) for row in rows] == distance.tolist()
    assert [int(row["cluster"]) for row in rows] == labels[nearest].tolist()
    assert [int(row["depth"]) for row in rows] == hierarchy.depths()[nearest].tolist()
    assert [row["path"] for row in rows] == [hierarchy.path_code(i)[:32] for i in nearest]


def test_assign_streams_from_input_to_output(plain):
    text = "\n".join(",".join(map(repr, row)) for row in IRIS.points[:5].tolist())
    answer = done("assign", plain, "-", "--path-depth", 3, stdin=text)
    rows = rows_of(answer.out)
    assert list(rows[0]) == ["row", "nearest", "distance", "depth", "path"]
    assert [row["row"] for row in rows] == ["0", "1", "2", "3", "4"]
    assert [float(row["distance"]) for row in rows] == [0] * 5
    assert all(len(row["path"]) == 3 for row in rows)
    answer = done("assign", plain, "-", "--path-depth", 0, "--height", 1.5, stdin=text)
    assert list(rows_of(answer.out)[0]) == ["row", "nearest", "distance", "cluster", "depth"]


def test_paths_longer_than_any_tree_took_all_memory(plain):
    row = "5.1,3.5,1.4,0.2\n"
    longest = done("assign", plain, "-", "--path-depth", 10**15, stdin=row).out
    assert longest == done("assign", plain, "-", "--path-depth", 500, stdin=row).out


def test_assign_called_wrongly(plain, tmp_path):
    assert "give -k or --height" in fails("assign", plain, "-", "-k", 2, "--height", 1, code=2)
    assert "--json needs -o" in fails("assign", plain, "-", "--json", code=2)
    sentence = fails("assign", plain, "-", stdin="1,2\n")
    assert "expected rows of 4 numbers, got 2" in sentence
    sentence = fails("assign", plain, "-", "-o", tmp_path / "x.csv", "-k", 151, stdin="1,2,3,4\n")
    assert "expected 1 to 150, the number of points" in sentence
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize("most", [1, 2, 5, 32, 200])
@pytest.mark.parametrize("kind", [ramify.OHAC, ramify.OTD, ramify.HAC])
def test_path_codes_are_the_first_turns(kind, most):
    tree = kind().fit(IRIS.points).hierarchy()
    expected = [tree.path_code(i)[:most] for i in range(150)]
    assert PathCodes(tree, most).of(np.arange(150)) == expected
    assert PathCodes(tree, most).of([7, 7, 3]) == [expected[7], expected[7], expected[3]]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_path_codes_of_the_smallest_trees(n):
    tree = ramify.HAC().fit(np.arange(n, dtype=float)[:, np.newaxis] ** 2).hierarchy()
    for most in (1, 2, 3):
        expected = [tree.path_code(i)[:most] for i in range(n)]
        assert PathCodes(tree, most).of(range(n)) == expected


def test_path_codes_of_a_chain_do_not_walk_it():
    tree = ramify.Hierarchy(chain(200_000), np.arange(199_999.0))
    codes = PathCodes(tree, 32).of(np.arange(200_000))
    for leaf in (0, 1, 1_000, 199_990, 199_999):
        assert codes[leaf] == tree.path_code(leaf)[:32]


# --- cut --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["-k", "3"], {"n_clusters": 3}),
        (["--clusters", "150"], {"n_clusters": 150}),
        (["--height", "2.5"], {"height": 2.5}),
        (["--max-size", "20"], {"max_size": 20}),
        (["--min-size", "20"], {"min_size": 20}),
        (["--min-size", "20", "--noise"], {"min_size": 20, "small": "noise"}),
        (["-k", "3", "--min-size", "20"], {"n_clusters": 3, "min_size": 20}),
        (["--height", "3", "--min-size", "9"], {"height": 3.0, "min_size": 9}),
    ],
)
def test_cut_writes_the_labels_of_a_cut(words, options, tree):
    labels = ramify.load(tree).hierarchy().cut(**options)
    rows = rows_of(done("cut", tree, *words).out)
    assert [row["id"] for row in rows] == NAMES
    assert [int(row["label"]) for row in rows] == labels.tolist()


def test_cut_by_modularity_is_that_of_the_model(tree):
    model = ramify.load(tree)
    for words, resolution in ((), None), (("--resolution", "3"), 3.0):
        found = rows_of(done("cut", tree, "--by", "modularity", *words).out)
        wanted = model.cut(by="modularity", resolution=resolution)
        assert [int(row["label"]) for row in found] == wanted.tolist()
    assert "says itself" in fails("cut", tree, "--by", "modularity", "-k", 3, code=2)
    assert "--by modularity" in fails("cut", tree, "-k", 3, "--resolution", 2, code=2)


def test_cut_numbers_points_without_names(plain, tmp_path):
    out = tmp_path / "labels.parquet"
    facts = done("cut", plain, "-k", 4, "-o", out, "--json").json()
    table = pq.read_table(out)
    labels = ramify.load(plain).hierarchy().cut(n_clusters=4)
    assert table.column("row").to_pylist() == list(range(150))
    assert table.column("label").to_pylist() == labels.tolist()
    assert table.schema.field("label").type == pa.int64()
    assert facts["clusters"] == 4
    assert facts["sizes"] == np.bincount(labels).tolist()
    assert facts["noise"] == 0


def test_cut_quotes_formulas_when_asked(tmp_path):
    (tmp_path / "d.csv").write_text("id,x\n=1+1,1\n-5,2\n")
    done("fit", tmp_path / "d.csv", "-o", tmp_path / "t", "--id-column", "id", "-q")
    assert done("cut", tmp_path / "t", "-k", 2).out == "id,label\n=1+1,0\n-5,1\n"
    quoted = done("cut", tmp_path / "t", "-k", 2, "--quote-formulas").out
    assert quoted == "id,label\n'=1+1,0\n-5,1\n"
    words = ("assign", tmp_path / "t", tmp_path / "d.csv", "--id-column", "id")
    lines = done(*words, "--quote-formulas").out.splitlines()
    assert lines[1].startswith("'=1+1,0,'=1+1,")
    assert "--quote-formulas goes with csv and tsv" in fails(
        *words, "--quote-formulas", "--to", "jsonl", code=2
    )


def test_ids_and_labels_with_a_carriage_return_could_not_be_read_back(tmp_path):
    rows = [{"id": i, "x": x, "l": "u\rv"} for i, x in (("a\rb", 1), ("c", 2), ("d", 9))]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    words = ("--id-column", "id", "--label-column", "l", "-q")
    done("fit", tmp_path / "d.jsonl", "-o", tmp_path / "t", *words)
    assert done("evaluate", tmp_path / "t", "--json").json()["classes"] == 1
    written = done("cut", tmp_path / "t", "-k", 2).out
    assert [row["id"] for row in rows_of(written)] == ["a\rb", "c", "d"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "give one of -k, --height, --max-size and --min-size"),
        (["-k", "2", "--height", "1"], "give one of"),
        (["--max-size", "2", "--min-size", "1"], "give one of"),
        (["-k", "2", "--noise"], "--noise goes with --min-size"),
        (["-k", "0"], "-k"),
        (["-k", "2", "--json"], "--json needs -o"),
        (["-k", "two"], "-k"),
        (["-k", "2,3", "--like", "x.csv"], "--like goes with one -k"),
        (["-k", "2", "--min-size", "3", "--like", "x.csv"], "--like goes with one -k"),
        (["-k", "2", "--stickiness", "1"], "--stickiness goes with --like"),
        (["--height", "1", "--stable", "--stickiness", "1"], "--stickiness goes with --like"),
        (["-k", "2", "--layers"], "--layers says itself"),
        (["--layers", "--by", "modularity"], "--layers says itself"),
        (["--layers", "--stable"], "--layers says itself"),
    ],
)
def test_cut_called_wrongly(words, sentence, plain):
    assert sentence in fails("cut", plain, *words, code=2)


@pytest.mark.parametrize(
    ("words", "cut"),
    [
        (("--by", "modularity"), {"by": "modularity"}),
        (("--by", "modularity", "--resolution", 3), {"by": "modularity", "resolution": 3.0}),
        (("--by", "variance", "-k", 4), {"by": "variance", "n_clusters": 4}),
    ],
)
def test_every_verb_of_a_cut_takes_cuts_by_rows(words, cut, plain, tmp_path):
    model = ramify.load(plain)
    labels = model.cut(**cut).tolist()
    told = rows_of(done("cut", plain, *words).out)
    assert [int(row["label"]) for row in told] == labels
    told = rows_of(done("clusters", plain, *words).out)
    assert [int(row["size"]) for row in told] == model.clusters(**cut).sizes.tolist()
    np.save(tmp_path / "x.npy", model.points()[:7])
    table = done("assign", plain, tmp_path / "x.npy", *words, "--confidence", "--stable").out
    assert [int(row["cluster"]) for row in rows_of(table)] == labels[:7]
    assert "--by" in fails("clusters", plain, "--by", "nothing", code=2)
    assert "modularity" in fails("assign", plain, tmp_path / "x.npy", "-k", 2, "--resolution", 2)


def test_cut_gives_a_column_for_each_layer(plain):
    layers = ramify.load(plain).layers()
    told = rows_of(done("cut", plain, "--layers").out)
    assert list(told[0]) == ["row", *(f"label_{len(one)}" for one in layers)]
    for one in layers:
        assert [int(row[f"label_{len(one)}"]) for row in told] == one.labels.tolist()


@pytest.mark.parametrize("named", [False, True])
def test_cut_holds_on_to_the_table_of_an_earlier_cut(named, tree, plain, tmp_path):
    saved = tree if named else plain
    hierarchy = ramify.load(saved).hierarchy()
    before, now = tmp_path / "before.csv", tmp_path / "now.csv"
    done("cut", saved, "-k", 9, "-o", before)
    words = ("-k", 5, "--like", before, "--stickiness", 2, "-o", now)
    facts = done("cut", saved, *words, "--json").json()
    wanted = hierarchy.cut(n_clusters=5, like=hierarchy.cut(n_clusters=9), stickiness=2)
    assert [int(row["label"]) for row in rows_of(now.read_text())] == wanted.tolist()
    assert (facts["price"], facts["moved"]) == (wanted.price, wanted.moved)
    assert "worse than the best" in done("cut", saved, *words).err
    model = ramify.load(saved)
    model.edit.cannot_link(*(NAMES[:2] if named else (0, 1)))
    model.save(saved)
    assert "hold on to no other cut" in fails("cut", saved, *words)


def test_assign_knows_clusters_that_small_ones_have_joined(plain, tmp_path):
    rows = tmp_path / "rows.npy"
    np.save(rows, IRIS.points[:7])
    out = done("assign", plain, rows, "-k", 3, "--min-size", 30).out
    labels = ramify.load(plain).hierarchy().cut(n_clusters=3, min_size=30)
    assert [int(row["cluster"]) for row in rows_of(out)] == labels[:7].tolist()


def test_cut_says_what_cannot_be(plain, tmp_path):
    assert "expected 1 to 150, the number of points" in fails("cut", plain, "-k", 151)
    assert "ends in one of .csv" in fails("cut", plain, "-k", 2, "-o", tmp_path / "x.xls")
    assert "not text" in fails("cut", plain, "-k", 2, "--to", "parquet")
    assert "no file" in fails("cut", tmp_path / "none.ramify", "-k", 2)
    (tmp_path / "foreign").write_text("hello")
    assert "foreign" in fails("cut", tmp_path / "foreign", "-k", 2)
    assert "is a folder" in fails("cut", tmp_path, "-k", 2)


def test_clusters_with_ids_names_and_words(tree, tmp_path):
    model = ramify.load(tree)
    model.stable_labels(n_clusters=3)
    model.stable_labels(n_clusters=4)
    model.edit.rename(model.clusters(n_clusters=4)[1], "daisies")
    model.save(tree)
    texts, out = tmp_path / "texts.csv", tmp_path / "clusters.csv"
    with open_table(texts, ["name", "text"]) as table:
        table.write(NAMES[::-1], [f"the flower is a {one}" for one in SPECIES[::-1]])
    words = ("-k", 4, "--texts", texts, "--id-column", "name", "--english", "-o", out)
    assert done("clusters", tree, *words, "--json").json()["clusters"] == 4
    spoken = dict(zip(NAMES, [f"the flower is a {one}" for one in SPECIES], strict=True))
    found = model.clusters(n_clusters=4, texts=spoken)
    for row, one, about in zip(
        rows_of(out.read_text()), found, found.keywords(stop_words="english"), strict=True
    ):
        assert row == {
            "label": str(one.label),
            "node_id": str(one.node_id),
            "stable_id": str(3 + one.label),
            "name": "daisies" if one.label == 1 else "",
            "size": str(one.size),
            "height": str(one.height),
            "keywords": " ".join(about),
        }
    plain = rows_of(done("clusters", tree, "--height", 1, "--min-size", 20).out)
    assert [row["stable_id"] for row in plain] == [""] * len(plain)
    assert min(int(row["size"]) for row in plain) >= 20


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "give -k, --height, --min-size or --by modularity"),
        (["-k", "2", "--english"], "go with --texts"),
        (["-k", "2", "--json"], "--json needs -o"),
    ],
)
def test_clusters_called_wrongly(words, sentence, plain):
    assert sentence in fails("clusters", plain, *words, code=2)


# --- export -----------------------------------------------------------------------


def test_export_newick(tree, tmp_path):
    hierarchy = ramify.load(tree).hierarchy()
    out = tmp_path / "tree.nwk"
    done("export", tree, "-o", out)
    assert out.read_text() == hierarchy.to_newick() + "\n"
    assert done("export", tree, "--to", "newick").out == out.read_text()
    import dendropy

    taxa = dendropy.Tree.get(path=str(out), schema="newick", preserve_underscores=True)
    assert {leaf.taxon.label for leaf in taxa.leaf_nodes()} == set(NAMES)


def test_export_linkage(tree, tmp_path):
    from scipy.cluster import hierarchy as scipy_hierarchy

    done("export", tree, "--to", "linkage", "-o", tmp_path / "Z.npy")
    Z = np.load(tmp_path / "Z.npy")
    assert scipy_hierarchy.is_valid_linkage(Z)
    flat = scipy_hierarchy.fcluster(Z, 3, "maxclust")
    ours = ramify.load(tree).hierarchy().cut(n_clusters=3)
    assert len(set(zip(flat.tolist(), ours.tolist(), strict=True))) == 3
    done("export", tree, "--to", "linkage", "-o", tmp_path / "Z.data")
    np.testing.assert_array_equal(np.load(tmp_path / "Z.data"), Z)


def test_export_graphml(tree, tmp_path):
    import networkx as nx

    done("export", tree, "-o", tmp_path / "tree.graphml")
    graph = nx.read_graphml(tmp_path / "tree.graphml")
    assert graph.number_of_nodes() == 299
    assert nx.is_arborescence(graph)


def test_export_dot_and_json(tree, tmp_path):
    hierarchy = ramify.load(tree).hierarchy()
    assert done("export", tree, "--to", "dot", "--depth", 3).out == hierarchy.to_dot(max_depth=3)
    done("export", tree, "-o", tmp_path / "tree.json")
    assert json.loads((tmp_path / "tree.json").read_text()) == hierarchy.to_dict()
    nested = json.loads(done("export", tree, "--to", "json", "--depth", 1).out)
    assert nested == hierarchy.to_dict(max_depth=1)


def test_json_of_a_deep_tree_was_a_traceback(tmp_path):
    tree = ramify.Hierarchy(chain(3_000), np.arange(1.0, 3_000))
    tree.save(tmp_path / "chain.ramify")
    words = ("--to", "json", "--depth", 2_900)
    sentence = fails("export", tmp_path / "chain.ramify", *words)
    assert "json cannot be nested 2,900 levels deep; give a smaller --depth" in sentence


def test_export_parquet(tree, tmp_path):
    facts = done("export", tree, "-o", tmp_path / "tree.parquet", "--json").json()
    table = pq.read_table(tmp_path / "tree.parquet")
    assert table.equals(ramify.load(tree).hierarchy().to_arrow())
    assert facts["format"] == "parquet"
    assert facts["bytes"] == (tmp_path / "tree.parquet").stat().st_size


def test_export_called_wrongly(tree, tmp_path):
    assert "give --to, one of newick" in fails("export", tree, code=2)
    assert "give --to" in fails("export", tree, "-o", tmp_path / "tree.xyz", code=2)
    assert "linkage is not text" in fails("export", tree, "--to", "linkage", code=2)
    sentence = fails("export", tree, "--to", "newick", "--depth", 3, code=2)
    assert "--depth goes with dot and json" in sentence
    assert "--json needs -o" in fails("export", tree, "--to", "dot", "--json", code=2)


# --- plot -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dendrogram", "icicle", "scatter"])
def test_plot_draws_pictures(kind, tree, tmp_path):
    out = tmp_path / "picture.png"
    facts = done(
        "plot", tree, "-o", out, "--kind", kind, "-k", 4, "--title", "Iris", "--json"
    ).json()
    assert out.read_bytes().startswith(b"\x89PNG")
    assert facts["kind"] == kind
    assert facts["bytes"] > 5_000


def test_plot_tells_the_kind_from_the_file(tree, tmp_path):
    done("plot", tree, "-o", tmp_path / "tree.svg", "-q")
    assert "<svg" in (tmp_path / "tree.svg").read_text()
    done("plot", tree, "-o", tmp_path / "tree.html", "-q")
    page = (tmp_path / "tree.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "flower-17" in page


def test_plot_called_wrongly(tree, tmp_path, monkeypatch):
    words = ("plot", tree, "-o")
    assert "explore is .html" in fails(*words, tmp_path / "a.png", "--kind", "explore", code=2)
    assert "explore is .html" in fails(*words, tmp_path / "a.html", "--kind", "icicle", code=2)
    assert "expected one of .png" in fails(*words, tmp_path / "a.xyz", code=2)
    sentence = fails(*words, tmp_path / "a.png", "-k", 1_000)
    assert "1000" in sentence.replace(",", "")
    from ramify.cli import plot

    monkeypatch.setattr(plot, "find_spec", lambda name: None)
    assert 'pip install "ramify[plot]"' in fails(*words, tmp_path / "a.png")
    assert not list(tmp_path.glob("a.*"))


# --- evaluate ---------------------------------------------------------------------


def test_evaluate_measures_the_tree(tree):
    facts = done("evaluate", tree, "--gamma", 1, "--json").json()
    hierarchy = ramify.load(tree).hierarchy()
    expected = metrics.revenue_fraction(hierarchy, IRIS.points, gamma=1.0)
    assert facts["revenue_fraction"] == {"value": expected, "stderr": 0, "exact": True}
    cost = metrics.dasgupta_cost(hierarchy, IRIS.points, gamma=1.0)
    assert facts["dasgupta_cost"]["value"] == cost
    purity = metrics.dendrogram_purity(hierarchy, IRIS.labels)
    assert facts["dendrogram_purity"]["value"] == purity
    scores = metrics.cut_scores(hierarchy, IRIS.labels, n_clusters=3)
    assert facts["classes"] == facts["clusters"] == 3
    assert facts["adjusted_rand"] == scores.adjusted_rand
    assert facts["homogeneity"] == scores.homogeneity


def test_evaluate_without_labels(plain):
    answer = done("evaluate", plain)
    assert "no labels" in answer.err
    assert "revenue fraction" in answer.out
    assert "purity" not in answer.out
    assert "-k goes with labels" in fails("evaluate", plain, "-k", 3, code=2)
    assert "go with --labels" in fails("evaluate", plain, "--column", "x", code=2)
    assert "one of the two" in fails("evaluate", plain, "--exact", "--sample", 9, code=2)


def test_evaluate_a_sample(plain):
    facts = done("evaluate", plain, "--sample", 1_000, "--seed", 3, "--json", "-q").json()
    again = done("evaluate", plain, "--sample", 1_000, "--seed", 3, "--json", "-q").json()
    assert facts == again
    assert facts["sampled_pairs"] == 1_000
    exact = done("evaluate", plain, "--exact", "--json", "-q").json()["revenue_fraction"]
    found = facts["revenue_fraction"]
    assert found["exact"] is False
    assert abs(found["value"] - exact["value"]) < 5 * found["stderr"]
    assert "±" in done("evaluate", plain, "--sample", 1_000).out


def test_evaluate_does_not_depend_on_the_scale(tmp_path):
    fractions = []
    for scale in (1, 1e6):
        np.save(tmp_path / "x.npy", IRIS.points * scale)
        done("fit", tmp_path / "x.npy", "-o", tmp_path / "t", "-q")
        facts = done("evaluate", tmp_path / "t", "--json", "-q").json()
        fractions.append(facts["revenue_fraction"]["value"])
    assert fractions[0] == pytest.approx(fractions[1])
    assert 0.5 < fractions[0] < 1


def test_evaluate_and_growth_measured_with_scales_that_differed_by_2(plain):
    from ramify.plot import measure_growth

    found = done("evaluate", plain, "--json").json()
    growth = measure_growth(ramify.load(plain), points=2)
    assert found["gamma"] == growth.gamma
    assert found["revenue_fraction"]["value"] == pytest.approx(growth.revenue[-1], rel=1e-12)


def test_iris_had_two_revenues_of_one_name(plain):
    """0.529 in the command line and 0.748 in Python, each with a gamma of its own."""
    facts = done("evaluate", plain, "--json").json()
    model = ramify.load(plain)
    found = metrics.revenue_fraction(model.hierarchy(), IRIS.points)
    assert facts["revenue_fraction"]["value"] == found
    assert facts["gamma"] == found.gamma == metrics.fitting_gamma(IRIS.points)
    again = metrics.RevenueScorer()(model, IRIS.points)
    assert again == pytest.approx(found, rel=1e-12)


def test_evaluate_says_when_gamma_does_not_fit(plain):
    for gamma, words in ((1e9, "all nearly 0"), (1e-9, "all nearly 1")):
        answer = done("evaluate", plain, "--gamma", gamma, "-q")
        assert words in answer.err
        assert answer.err.count("\n") == 1  # once, though it measures twice
    assert done("evaluate", plain, "-q").err == ""


def test_evaluate_labels_of_a_file(plain, flowers, tmp_path):
    np.save(tmp_path / "labels.npy", SPECIES)
    np.savez(tmp_path / "labels.npz", X=IRIS.points, y=SPECIES)
    (tmp_path / "one.csv").write_text("label\n" + "\n".join(SPECIES))
    (tmp_path / "bare.txt").write_text("\n".join(SPECIES))
    expected = done("evaluate", plain, "--labels", tmp_path / "labels.npy", "--json").json()
    assert expected["classes"] == 3
    for words in (
        (flowers, "--column", "species"),
        (flowers, "--column", "-1"),
        (tmp_path / "labels.npz",),
        (tmp_path / "labels.npz", "--column", "y"),
        (tmp_path / "one.csv",),
        (tmp_path / "bare.txt", "--no-header"),
    ):
        assert done("evaluate", plain, "--labels", *words, "--json").json() == expected


def test_evaluate_finds_labels_by_id(tree, flowers, tmp_path):
    order = np.random.default_rng(0).permutation(150)
    with open_table(tmp_path / "other.parquet", ["who", "class"]) as table:
        table.write([NAMES[i] for i in order], SPECIES[order])
    words = ("--labels", tmp_path / "other.parquet", "--column", "class", "--id-column", "who")
    expected = done("evaluate", tree, "--json").json()
    assert done("evaluate", tree, *words, "--json").json() == expected
    with open_table(tmp_path / "some.csv", ["who", "label"]) as table:
        table.write(NAMES[:149], SPECIES[:149])
    sentence = fails("evaluate", tree, "--labels", tmp_path / "some.csv", "--id-column", "who")
    assert "has no label for point 'flower-149'" in sentence


def test_evaluate_a_shuffled_tree_by_row_numbers(flowers, tmp_path):
    out = tmp_path / "t.ramify"
    words = ("--columns", ",".join(FEATURES), "--shuffle", "-q")
    done("fit", flowers, "-o", out, *words)
    by_row = done("evaluate", out, "--labels", flowers, "--column", "species", "--json").json()
    done("fit", flowers, "-o", out, *words, "--label-column", "species")
    assert done("evaluate", out, "--json").json() == by_row
    assert by_row["dendrogram_purity"]["value"] > 0.7


def test_evaluate_says_what_is_wrong_with_labels(plain, flowers, tmp_path):
    sentence = fails("evaluate", plain, "--labels", flowers)
    assert "choose one column by name (--column); it has name, a, b, c, d, species" in sentence
    (tmp_path / "few.csv").write_text("label\na\nb\n")
    sentence = fails("evaluate", plain, "--labels", tmp_path / "few.csv")
    assert "holds 2 labels, and the tree 150 points" in sentence
    assert "no file" in fails("evaluate", plain, "--labels", tmp_path / "none.csv")
    assert "no column 'q'" in fails("evaluate", plain, "--labels", flowers, "--column", "q")
    assert "no file" in fails("evaluate", plain, "--labels", tmp_path / "none.npy")


# --- info -------------------------------------------------------------------------


def test_info_says_what_a_file_holds(tree):
    facts = done("info", tree, "--depth", "--json").json()
    hierarchy = ramify.load(tree).hierarchy()
    assert facts["algorithm"] == "ohac"
    assert facts["options"] == {
        "metric": "sqeuclidean",
        "linkage": "average",
        "n_neighbors": 1,
        "neighbors": "exact",
        "recall": 0.97,
        "n_jobs": None,
        "track_members": True,
        "update": "hac",
        "start": "online",
        "polishing": None,
        "history": 0,
    }
    assert facts["points"] == 150
    assert facts["width"] == 4
    assert facts["columns"] == FEATURES
    assert facts["dtype"] == "float64"
    assert facts["ids"] == "str"
    assert facts["depth"] == hierarchy.depths().max()
    assert facts["root_height"] == hierarchy.heights[-1]
    assert facts["bytes"] == tree.stat().st_size
    assert facts["version"] == ramify.__version__
    text = done("info", tree, "--depth").out
    assert "algorithm    ohac" in text
    assert "linkage=average, metric=sqeuclidean, n_jobs=None" in text


def test_info_read_the_whole_file(tree, tmp_path, monkeypatch):
    """A header of a few kilobytes says it; the rest may be large, or damaged."""
    monkeypatch.setattr("ramify.archive.read", lambda path: pytest.fail("it was read"))
    facts = done("info", tree, "--json").json()
    assert facts["points"] == 150
    assert "depth" not in facts


@pytest.mark.parametrize("algorithm", [*BY_NAME])
def test_info_knows_every_algorithm_by_the_name_that_one_types(algorithm, flowers, tmp_path):
    words = ("--columns", "a,b", "--algorithm", algorithm, "-q")
    done("fit", flowers, "-o", tmp_path / "t", *words)
    assert done("info", tmp_path / "t", "--json").json()["algorithm"] == algorithm


def test_info_of_one_point(tmp_path):
    done("fit", "-", "-o", tmp_path / "t", "-q", stdin="1,2\n")
    facts = done("info", tmp_path / "t", "--depth", "--json").json()
    assert (facts["points"], facts["depth"], facts["root_height"]) == (1, 0, 0.0)
    assert done("cut", tmp_path / "t", "-k", 1).out == "row,label\n0,0\n"


def test_a_hierarchy_without_points_is_a_tree_too(tree, flowers, tmp_path):
    bare = tmp_path / "bare.ramify"
    hierarchy = ramify.load(tree).hierarchy()
    hierarchy.save(bare)
    facts = done("info", bare, "--json").json()
    assert (facts["algorithm"], facts["points"], facts["width"]) == (None, 150, None)
    assert "algorithm    none" in done("info", bare, "--depth").out
    assert done("cut", bare, "-k", 3).out == done("cut", tree, "-k", 3).out
    assert done("export", bare, "--to", "newick").out == hierarchy.to_newick() + "\n"
    done("plot", bare, "-o", tmp_path / "bare.html", "-q")
    facts = done("evaluate", bare, "--labels", flowers, "--column", "species", "--json").json()
    assert "revenue_fraction" not in facts
    assert facts["classes"] == 3
    for words in (("update", bare, flowers), ("assign", bare, flowers)):
        assert "holds a hierarchy without its points" in fails(*words)
    assert "nothing to scatter" in fails(
        "plot", bare, "-o", tmp_path / "s.png", "--kind", "scatter"
    )
    assert "without its points: give --labels" in fails("evaluate", bare)


def test_a_damaged_tree_is_refused_in_one_sentence(tree, tmp_path):
    whole = tree.read_bytes()
    (tmp_path / "half").write_bytes(whole[: len(whole) // 2])
    middle = len(whole) // 2
    (tmp_path / "flipped").write_bytes(
        whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    )
    for name in ("half", "flipped"):
        for verb in (["info", "--depth"], ["cut", "-k", "2"], ["evaluate"]):
            assert name in fails(verb[0], tmp_path / name, *verb[1:])


# --- several cuts, and names for pictures -------------------------------------------------


@pytest.mark.parametrize("words", [("-k", 2, "-k", 5), ("-k", "2,5"), ("-k", "2, 5")])
def test_several_numbers_of_clusters_took_as_many_commands(words, tree, tmp_path):
    out = tmp_path / "levels.csv"
    facts = done("cut", tree, *words, "-o", out, "--json").json()
    hierarchy = ramify.load(tree).hierarchy()
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert list(rows[0]) == ["id", "label_2", "label_5"]
    for k, cut in zip((2, 5), facts["cuts"], strict=True):
        labels = hierarchy.cut(n_clusters=k)
        assert [int(row[f"label_{k}"]) for row in rows] == labels.tolist()
        assert cut == {"clusters": k, "noise": 0, "sizes": np.bincount(labels).tolist()}


@pytest.mark.parametrize("wrong", ["0", "x", "2,2", "-3", "1.5"])
def test_a_wrong_number_of_clusters_is_refused(wrong, tree):
    fails("cut", tree, "-k", wrong, code=2)


def test_pictures_take_names_and_the_page_columns_to_colour_by(flowers, tmp_path):
    tree = tmp_path / "bare.ramify"
    done("fit", flowers, "-o", tree, "-q")
    for ending in ("png", "html"):
        words = ("--names", flowers, "--column", "species", "-q")
        done("plot", tree, "-o", tmp_path / f"tree.{ending}", *words)
    assert '"names":["setosa",' in (tmp_path / "tree.html").read_text()
    words = ("--names", flowers, "--color-by", "species,a", "-q")
    done("plot", tree, "-o", tmp_path / "by.html", *words)
    text = (tmp_path / "by.html").read_text()
    assert f'"names":["{NAMES[0]}",' in text, "the column called name"
    assert '"name":"species","kind":"text","words":["setosa","versicolor","virginica"]' in text
    assert '"name":"a","kind":"number"' in text
    png = tmp_path / "t.png"
    assert "go with --names" in fails("plot", tree, "-o", png, "--column", "a", code=2)
    words = ("--names", flowers, "--color-by", "a")
    assert "goes with the page" in fails("plot", tree, "-o", png, *words, code=2)
    write(tmp_path / "few.csv", slice(0, 3))
    sentence = fails("plot", tree, "-o", png, "--names", tmp_path / "few.csv")
    assert "holds 3 names, and the tree 150 points" in sentence

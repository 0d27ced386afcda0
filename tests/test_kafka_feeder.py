# SPDX-License-Identifier: BSD-3-Clause
"""The Kafka feeder of examples/, with a consumer in place of a broker's: nothing is lost."""

import importlib.util
import json
import shutil
from collections import namedtuple
from pathlib import Path

import ramify

SCRIPT = Path(__file__).parent.parent / "examples" / "kafka_feeder.py"
Partition = namedtuple("Partition", "topic partition")
Message = namedtuple("Message", "offset value")


class Consumer:
    """As kafka-python's, over messages in memory."""

    def __init__(self, messages):
        self._messages = messages  # by partition
        self._at = {}

    def assign(self, partitions):
        self._at = dict.fromkeys(partitions, 0)

    def seek(self, partition, offset):
        assert partition in self._at
        self._at[partition] = offset

    def poll(self, timeout_ms, max_records):
        found = {}
        for one, at in self._at.items():
            values = self._messages[one][at : at + max_records]
            if values:
                found[one] = [Message(at + i, value) for i, value in enumerate(values)]
                self._at[one] = at + len(values)
        return found


def test_a_feeder_that_crashed_goes_on_where_it_was(tmp_path):
    spec = importlib.util.spec_from_file_location("kafka_feeder", SCRIPT)
    feeder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(feeder)
    partitions = [Partition("t", 0), Partition("t", 1)]
    messages = {
        one: [
            json.dumps({"vector": [i % 7, i % 3, one.partition], "text": f"ticket {i}"}).encode()
            for i in range(count)
        ]
        for one, count in zip(partitions, (150, 90), strict=True)
    }
    with ramify.open(tmp_path / "tree", ramify.OHAC()) as tree:
        consumer = Consumer(messages)
        feeder.begin(consumer, "t", partitions, tree)
        feeder.feed(consumer, "t", tree, batch=20, until=100)
        crash = shutil.copytree(tmp_path / "tree", tmp_path / "crash")  # as kill -9 leaves it
    with ramify.open(crash) as tree:
        consumer = Consumer(messages)
        feeder.begin(consumer, "t", partitions, tree)
        feeder.feed(consumer, "t", tree, batch=20, until=240)
        wanted = {f"t/{one.partition}/{i}" for one in partitions for i in range(len(messages[one]))}
        assert set(tree.ids_.tolist()) == wanted
        assert len(tree) == 240
        assert tree.marks == {"t/0": "150", "t/1": "90"}
        assert tree.payload("t/1/89") == "ticket 89"

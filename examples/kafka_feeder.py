# SPDX-License-Identifier: BSD-3-Clause
"""kafka_feeder.py: a Kafka topic into a tree, so that a restart loses nothing and doubles nothing.

As redis_feeder.py: offsets are written into the journal together with the rows, in one commit,
and whoever starts again asks the tree, not Kafka, where to go on. No consumer group is needed,
and Kafka's own committed offsets are not used.

    pip install kafka-python
    python examples/kafka_feeder.py localhost:9092 tickets ./tree

Messages are JSON: {"vector": [...], "text": "..."}. Our tests run `feed` with a consumer of their
own that forgets nothing; they have no broker.
"""

import json
import sys

import numpy as np

import ramify


def begin(consumer, topic, partitions, tree):
    """Stand where the tree stands, in each partition."""
    consumer.assign(partitions)
    for one in partitions:
        consumer.seek(one, int(tree.marks.get(f"{topic}/{one.partition}", 0)))


def feed(consumer, topic, tree, batch=100, until=None):
    """Insert what comes: rows and the offsets behind them in the same commit."""
    while until is None or len(tree) < until:
        for partition, messages in consumer.poll(timeout_ms=1000, max_records=batch).items():
            found = [json.loads(message.value) for message in messages]
            name = f"{topic}/{partition.partition}"
            tree.partial_fit(
                np.array([one["vector"] for one in found], dtype=np.float32),
                ids=[f"{name}/{message.offset}" for message in messages],
                payloads=[one["text"] for one in found],
                marks={name: messages[-1].offset + 1},
            )


def main():
    if len(sys.argv) < 4:
        print("give a broker, a topic and a folder, such as localhost:9092 tickets ./tree")
        return
    from kafka import KafkaConsumer, TopicPartition

    broker, topic, folder = sys.argv[1:4]
    consumer = KafkaConsumer(
        bootstrap_servers=broker, enable_auto_commit=False, auto_offset_reset="earliest"
    )
    partitions = [TopicPartition(topic, one) for one in consumer.partitions_for_topic(topic) or ()]
    with ramify.open(folder, ramify.OHAC()) as tree:
        begin(consumer, topic, partitions, tree)
        feed(consumer, topic, tree)


if __name__ == "__main__":
    main()

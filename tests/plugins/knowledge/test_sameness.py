"""What is one lesson and what is two: by what the sentences say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragloom_knowledge.sameness import opposed, same_advice
from ragloom_knowledge.signature import codes, folded
from ragloom_knowledge.vocabulary import AXES, DETERMINERS, NEGATIONS, ORDERED, PLACES

WORDS = [
    *(*PLACES, *sorted(DETERMINERS), *sorted(ORDERED), *sorted(NEGATIONS), *sorted(AXES)),
    *("worker", "thread", "5", "30 s", "and", "don't", "skipping", ",", "."),
]
CASES = Path(__file__).parents[2] / "data" / "cases" / "lessons.jsonl"


@pytest.mark.parametrize(
    "case", [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
)
def test_reported_cases(case, knowledge):
    for failure, solution in zip(case["failures"], case["solutions"], strict=True):
        knowledge.capture_failure_solution("one", "backend", failure, solution_steps=solution)
    expected = [2] if case["same"] else [1, 1]
    assert expected == [lesson.uses for lesson in knowledge.lessons()]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Restart the worker", "Restart the worker."),
        ("Increase the timeout to 30 s", "Increase the timeout to 30 seconds"),
        ("Wait 5,000 ms between tries", "Wait 5000 ms between the tries"),
        ("Do not retry the request", "Don't retry the request"),
        ("Raise the memory limit", "Increase the memory limit"),
        ("Run the migration before the deploy", "Run the migration before deploying"),
        ("Retry three times", "Retry 3 times"),
        ("Restart the worker and clear its cache", "Clear the cache of the worker and restart it"),
        ("Set the timeout to 5 s", "Set the timeout to 5000ms"),
        ("Set the timeout to 1.5s", "Set the timeout to 1500 ms"),
        ("Keep the logs for 1 day", "Keep the logs for 24h"),
        ("Cache the answer for 5m", "Cache the answer for 5 minutes"),
        ("Give the JVM 1GB of heap", "Give the JVM 1024m of heap"),
        ("Raise the image cache to 200MB", "Raise the image cache to 0.2GB"),
        ("Raise the limit of open files to 10k", "Raise the limit of open files to 10,000"),
        ("Set the SPI clock to 1 MHz", "Set the SPI clock to 1000kHz"),
        ("Pin the runner to v1.20", "Pin the runner to 1.20"),
        (
            "Set the timeout to 5 and the interval to 30",
            "Set the interval to 30 and the timeout to 5",
        ),
        ("Never call the HAL from an interrupt", "From an interrupt, never call the HAL"),
        ("Avoiding the daemon on build agents", "Avoid the daemon on build agents"),
        ("Go to Settings > Build > Signing", "Go to Settings, Build, Signing"),
        # Prepositions that put a thing on the same side.
        ("Move the parsing to a worker thread", "Move the parsing into a worker thread"),
        ("Move the parsing off the main thread", "Move parsing out of the main thread"),
        ("Keep secrets out of the repository", "Keep the secrets outside the repository"),
        ("Read the secret from the vault", "Read the secret out of the vault"),
        ("Read the secret from the vault", "Read the secret in the vault"),
        ("Switch from Jenkins to GitHub Actions", "Switch to GitHub Actions from Jenkins"),
        ("Add an index on orders for the lookup", "Add an index to orders for the lookup"),
        (
            "Use a pool in the service to reduce the load of the database",
            "Use a pool in the service to lower the load of the database",
        ),
        ("Close the body of the response in a defer", "Close the response body in the defer"),
    ],
)
def test_paraphrases_are_the_same_advice(one, other):
    assert same_advice(one, other)
    assert same_advice(other, one)
    assert not opposed(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Raise max.poll.records to 500", "Lower max.poll.records to 50"),
        ("Increase the timeout", "Decrease the timeout"),
        ("Increasing the timeout helped", "Decreasing the timeout helped"),
        ("Turn caching on", "Turn caching off"),
        ("Add an index on orders", "Remove the index on orders"),
        ("Always lock the row", "Never lock the row"),
        ("Set verify to true", "Set verify to false"),
        ("Mount the volume", "Unmount the volume"),
        ("Upgrade the driver", "Downgrade the driver"),
        ("Load the modules eagerly", "Load the modules lazily"),
        ("Wait 30 s", "Wait 30 ms"),
        ("Retry once", "Retry twice"),
        ("Upgrade the driver to 8.1", "Upgrade the driver to 8.2"),
        ("Cache without a TTL", "Cache with a TTL"),
        ("Retry, do not restart", "Restart, do not retry"),
        ("Avoid the cache for prices", "Use the cache for prices"),
        ("Use Redis instead of Memcached", "Use Memcached instead of Redis"),
        ("Prefer Kafka over RabbitMQ", "Prefer RabbitMQ over Kafka"),
        ("Run the deploy after the migration", "Run the migration after the deploy"),
        ("Migrate first, then deploy", "Deploy first, then migrate"),
        ("Copy the rows from A1 to the replica", "Copy the rows from the replica to A1"),
        ("Replace requests by httpx", "Replace httpx by requests"),
        # Versions, regions and types: numbers in words.
        ("Pin the runner of the old jobs to v1.2", "Pin the runner of the old jobs to v1.20"),
        ("Build the worker's image on python3.11", "Build the worker's image on python3.12"),
        ("Keep the replica of the shop in us-east-1", "Keep the replica of the shop in us-east-2"),
        ("Store positions of particles as float32", "Store positions of particles as float16"),
        # Signs.
        ("Alert when the lag > 500", "Alert when the lag < 500"),
        ("Retry while attempts <= 3", "Retry while attempts >= 3"),
        ("Guard the read with ptr != NULL", "Guard the read with ptr == NULL"),
        ("Set log.retention.ms to -1", "Set log.retention.ms to 1"),
        # Units that look alike, and numbers that change places.
        (
            "Set the sample rate of the sensor to 100Hz",
            "Set the sample rate of the sensor to 100kHz",
        ),
        ("Raise the limit from 10 to 20", "Raise the limit from 20 to 10"),
        ("Forward port 80 to 8080", "Forward port 8080 to 80"),
        ("Set replicas 3 and retries 5", "Set replicas 5 and retries 3"),
        # Order and negation.
        (
            "Flush the cache and afterwards restart the worker",
            "Restart the worker and afterwards flush the cache",
        ),
        (
            "Partition events by UTC instead of local time",
            "Partition events by local time instead of UTC",
        ),
        ("Skip the slow tests on the branch", "Run the slow tests on the branch"),
        ("Skipping the warm-up of shaders helped", "The warm-up of shaders helped"),
        ("Drive the boot pin high", "Drive the boot pin low"),
        ("Dropping the index on orders helped", "Adding the index on orders helped"),
        # Prepositions that put a thing on opposite sides.
        (
            "Move the parsing of large files to the main thread",
            "Move the parsing of large files off the main thread",
        ),
        ("Move the decoding onto the UI thread", "Move the decoding away from the UI thread"),
        ("Move the session state to Redis", "Move the session state out of Redis"),
        ("Copy the settings into the image", "Copy the settings out of the image"),
        ("Keep secrets in the repository", "Keep secrets out of the repository"),
        ("Run the nightly job in the cluster", "Run the nightly job outside the cluster"),
        ("Migrate the service to Kubernetes", "Migrate the service from Kubernetes"),
        ("Opt in to the new parser", "Opt out of the new parser"),
        ("Scale in the workers of the shop", "Scale out the workers of the shop"),
        ("Log in as the deploy user", "Log out as the deploy user"),
        ("Place the rule above the default rule", "Place the rule below the default rule"),
        ("Take the lock before the read", "Take the lock after the read"),
        ("Den Cache beim Start nicht leeren", "Den Cache beim Start leeren"),
        ("Nunca llame a la API desde el hilo", "Llame a la API desde el hilo"),
        ("N'appelez jamais le pilote ici", "Appelez le pilote ici"),
    ],
)
def test_opposite_advice_is_never_the_same(one, other):
    assert not same_advice(one, other)
    assert not same_advice(other, one)
    assert opposed(one, other)
    assert opposed(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hand the records of a poll to a pool", "Hand records of one poll to a pool"),
        ("Use assertions that retry, no sleeps", "Use assertions that retry"),
        ("Lower the batch size to 50", "Lower the batch size"),
        ("Clear the cache", "Restart the worker"),
        ("Move calls from the old client to the new client", "Move calls to the new client"),
        ("Add an index on orders, remove the lock", "Add an index on orders"),
    ],
)
def test_what_says_more_is_not_the_opposite(one, other):
    assert not opposed(one, other)
    assert not opposed(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Move the parsing of the large import files to the worker thread",
            "Move the parsing of the large import files to the main thread",
        ),
        (
            "Pass the access token of the calling user of the API in the header",
            "Pass the access token of the calling user of the API in the query",
        ),
        (
            "Read the settings of the payment service of the shop from the vault",
            "Read the settings of the payment service of the shop from a file",
        ),
        (
            "Read the events of the order from the queue",
            "Write the events of the order to the queue",
        ),
    ],
)
def test_what_is_put_elsewhere_is_neither_the_same_nor_the_opposite(one, other):
    for left, right in ((one, other), (other, one)):
        assert not same_advice(left, right)
        assert not opposed(left, right)


@given(st.text() | st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))
@example("Narrow after that before")
def test_every_text_says_the_same_as_itself(text):
    assert same_advice(text, text)
    assert not opposed(text, text)
    assert folded(text) == folded(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The gateway answers HTTP 404", "The gateway answers HTTP 503"),
        ("the service returned 401", "the service returned 403"),
        ("502 Bad Gateway", "504 Gateway Timeout"),
        ("status=500", "status=502"),
        ("exit code 137", "exit code 1"),
        ("killed by signal 9", "killed by signal 11"),
        ("stops with ORA-12154", "stops with ORA-00942"),
        ("E11000 duplicate key", "E11001 duplicate key"),
        ("TS2304: cannot find name", "TS2322: cannot find name"),
        ("SQLSTATE 23505", "SQLSTATE 40001"),
        ("[Errno 13] denied", "[Errno 28] denied"),
        ("error 1205", "error 1213"),
        ("HRESULT 0x80070005", "HRESULT 0x80070002"),
        ("port 5432 is taken", "port 8080 is taken"),
        ("10.0.0.1:5432 refused", "10.0.0.1:6379 refused"),
        ("http://localhost:8080/x fails", "http://localhost:9090/x fails"),
        ("fails on Python 3.11", "fails on Python 3.12"),
        ("Java 17 only", "Java 21 only"),
        ("breaks with v2.1", "breaks with v3.0"),
        ("requires 1.2.3", "requires 1.2.4"),
        ("CVE-2021-44228", "CVE-2022-22965"),
        ("response 401 of the gateway", "response 403 of the gateway"),
        ("the upload failed with 429", "the upload failed with 503"),
        ("429 from the API", "503 from the API"),
        ("flash_write: rc=3", "flash_write: rc=4"),
        ("ret = -110 of the SPI", "ret = -5 of the SPI"),
        ("[WinError 5] denied", "[WinError 32] denied"),
        ("FirebaseError 17", "FirebaseError 42"),
        ("needs Xcode 15", "needs Xcode 16"),
        ("Unity 2022.3 stutters", "Unity 2023.1 stutters"),
        ("minSdk 21", "minSdk 23"),
        ("Android API 33", "Android API 34"),
        ("CUDA 11.8", "CUDA 12.1"),
        ("numpy==1.26 breaks", "numpy==2.0 breaks"),
        ("gcc 12 fails", "gcc 13 fails"),
        ("IPv4 alone works", "IPv6 alone works"),
        ("reads utf8", "reads utf16"),
        ("a 32-bit build", "a 64-bit build"),
    ],
)
def test_codes_ports_and_versions_name_a_problem(one, other):
    assert folded(one) != folded(other)
    assert codes(one)
    assert codes(one) != codes(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Worker 17 timed out after 30012 ms", "Worker 4 timed out after 29950 ms"),
        ("Took 2.5 seconds", "Took 3.75 seconds"),
        ("order #4711 is stuck", "order #4712 is stuck"),
        ("mail to anna@example.com bounced", "mail to b.b+x@corp.co.uk bounced"),
        ("host fe80::1 is down", "host 2001:db8::ab:2 is down"),
        ("req_8f7d6a5b failed", "req_1a2b3c4d failed"),
        ("main.c:120:5: warning", "main.c:7:15: warning"),
        ("failed with 429 warnings", "failed with 120 warnings"),
        ("Backup of 3 March 2024 failed", "Backup of 14 April 2025 failed"),
        ("Failed on Jan 5, 2024 at 10:23:45", "Failed on Dec 31, 2023 at 01:00:00"),
        ("Mon, 03 Feb 2025 failed", "Tue, 04 Mar 2025 failed"),
        ("2024-01-05T10:00:00Z failed", "2025-11-30T23:59:59Z failed"),
        ("Pod api-7d4b9c6f5d-x8k2p was evicted", "Pod api-5c8d7f9b6-q2w3e was evicted"),
        ("db-0 lost quorum", "db-2 lost quorum"),
        ("Cannot read /var/lib/a/1.txt", "Cannot read /var/lib/b/22.txt"),
        ("C:\\a\\b.txt is missing", "C:\\x\\y.txt is missing"),
        ("connection to 10.0.0.1 refused", "connection to 10.0.7.12 refused"),
        ("segfault at 0x7ffd12ab", "segfault at 0x7ffd99ff"),
        ("commit deadbeef1 broke it", "commit 1234567f broke it"),
        ("https://a.example/x?id=3 is slow", "https://a.example/y?id=4 is slow"),
        ("main.py:123: it fails", "main.py:124: it fails"),
    ],
)
def test_what_differs_from_run_to_run_is_folded(one, other):
    assert folded(one) == folded(other)


def test_long_texts_are_folded_in_time():
    for text in ("a1-", "/a", "1:", "jan ", "a-", "a.", "0x", "error ", "http://"):
        assert folded(text * 20_000)


def test_a_terminals_colours_are_no_part_of_a_lesson(knowledge):
    plain = "Error: Gradle daemon disappeared unexpectedly"
    coloured = (
        "\x1b[31mError:\x1b[m Gradle daemon \x1b]8;;x:y\x07disappeared\x1b]8;;\x07 unexpectedly"
    )
    ids = {
        knowledge.capture_failure_solution(
            "one", "mobile", "The build ends", error_message=error, solution_steps="Use less heap"
        ).id
        for error in (plain, coloured, plain.replace("daemon", "\x9b32mdaemon\x9bm"))
    }
    (lesson,) = knowledge.lessons()
    assert ({lesson.id}, 3, plain) == (ids, lesson.uses, lesson.error_message)
    knowledge.process_checkpoint("one")
    assert [lesson.id] == [one.id for one in knowledge.query_for_failure("", coloured)]


def test_a_secret_between_colours_is_found_and_named(knowledge):
    token = "ghp" + "_" + "aBcDeFgHiJkL" + "\x1b[32m" + "MnOpQrStUvWxYzaBcDeFgHiJ"
    captured = knowledge.capture_failure_solution(
        "one", "mobile", "The push fails", solution_steps=f"Renew {token}"
    )
    assert ("solution_steps",) == captured.redacted
    assert "Renew ***" == knowledge.lesson(captured.id).solution

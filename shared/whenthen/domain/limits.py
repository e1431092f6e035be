"""Every limit of the engine, with its unit in its name and its reason beside it.

Source: docs/architecture.md, "Limits". Settings may override only those that settings.py names.
"""

from typing import Final

# -- definitions
TRIGGERS_MAX: Final = 3
ACTIONS_MAX: Final = 50
NAME_MAX_CHARS: Final = 100
DESCRIPTION_MAX_CHARS: Final = 500
TRIGGER_PROPERTIES_MAX: Final = 50
CONDITION_MAX_DEPTH: Final = 8
CONDITION_MAX_LEAVES: Final = 100
PATTERN_MAX_CHARS: Final = 512
EMAIL_RECIPIENTS_MAX: Final = 50
NOTIFICATION_USERS_MAX: Final = 100
WEBHOOK_HEADERS_MAX: Final = 50
# With its values filled in; 2,048 as it is saved. Many servers refuse longer ones.
WEBHOOK_URL_MAX_CHARS: Final = 8_192
# Properties of one database, and options of one of its select properties.
PROPERTIES_MAX: Final = 200
PROPERTY_OPTIONS_MAX: Final = 500
AI_TOKENS_DEFAULT: Final = 1_024
AI_TOKENS_MAX: Final = 100_000

# The shape of stored definitions; a higher one than this belongs to newer code.
DEFINITION_SCHEMA: Final = 1
# The version of run messages; a higher one than this belongs to newer code.
MESSAGE_VERSION: Final = 1

# -- sizes, in bytes of UTF-8 JSON
PAYLOAD_MAX_BYTES: Final = 64 * 1024
OUTPUT_MAX_BYTES: Final = 128 * 1024
STEP_OUTPUT_MAX_BYTES: Final = 64 * 1024
INTERPOLATED_MAX_BYTES: Final = 64 * 1024
REQUEST_MAX_BYTES: Final = 1024 * 1024
JSON_MAX_DEPTH: Final = 64
# A webhook's body, such as [[…]], comes as {"payload": {"body": {"body": [[…]]}}}.
EVENT_MAX_DEPTH: Final = JSON_MAX_DEPTH + 3
# Postgres writes numerics out in full: 1e131071 is 8 bytes in and 131,072 digits out (measured).
NUMBER_MAX_DIGITS: Final = 400
# Of a webhook's answer: what is kept of its body after decompression, and what is read for that,
# headers (at most 100 KB), the sizes of chunks and packing included.
WEBHOOK_BODY_MAX_BYTES: Final = 16 * 1024
WEBHOOK_WIRE_MAX_BYTES: Final = 16 * WEBHOOK_BODY_MAX_BYTES
WEBHOOK_HEADER_SHOWN_MAX_CHARS: Final = 1_024

# -- pages
PAGE_DEFAULT: Final = 50
PAGE_MAX: Final = 200
# The newest log lines that a run's detail shows.
RUN_LOGS_SHOWN_MAX: Final = 1000
# The window of a workspace's statistics: a month is looked at whole, more is another tool's work.
STATS_DEFAULT_HOURS: Final = 24
STATS_MAX_DAYS: Final = 31

# -- attempts
MAX_RETRIES_DEFAULT: Final = 8
ACTION_RETRIES_MAX: Final = 20
BACKOFF_CAP_S: Final = 600
RETRY_AFTER_CAP_S: Final = 900
CRASHES_MAX: Final = 8

# -- time
ACTION_TIMEOUT_DEFAULT_MS: Final = 30_000
ACTION_TIMEOUT_MIN_MS: Final = 1_000
ACTION_TIMEOUT_MAX_MS: Final = 120_000
DELAY_MAX_S: Final = 30 * 24 * 3600
RUN_EVERY_MIN_S: Final = 60
# A leap year: longer intervals overflow dates, and cron says them better.
RUN_EVERY_MAX_S: Final = 366 * 24 * 3600
# Each field with every one of its values written out comes to 360.
CRON_MAX_CHARS: Final = 500
# A cron expression that does not fire for so long, 12 years, counts as one that never does: leap
# days may be 8 years apart.
CRON_HORIZON_DAYS: Final = 12 * 365 + 3
PREVIEW_FIRES_DEFAULT: Final = 5
PREVIEW_FIRES_MAX: Final = 50
# What a preview may begin with: zones have had their rules since then, and nobody plans further.
PREVIEW_FIRST_YEAR: Final = 1970
PREVIEW_LAST_YEAR: Final = 2200
# A tick takes instants up to so far ahead, since the next one comes a minute later.
FIRE_AHEAD_S: Final = 60
# An instant that no tick has come for by then was missed: two ticks in a row may be lost.
MISSED_AFTER_S: Final = 150
# Of one gap of one schedule the newest instants become rows, the older ones one row together.
GAP_ROWS_MAX: Final = 1_000
# A tick moves so many schedules in one transaction, fewer if they have more instants than these.
FIRE_BATCH_MAX: Final = 1_000
FIRE_BATCH_MAX_INSTANTS: Final = 5_000
CATCH_UP_WINDOW_MIN_S: Final = 60
CATCH_UP_WINDOW_DEFAULT_S: Final = 3_600
CATCH_UP_WINDOW_MAX_S: Final = 604_800
# A lease outlives its invocation, so that only a worker that is surely gone loses its run.
LEASE_MARGIN_S: Final = 20
# Every step transaction pushes the lease at least this far.
LEASE_RENEWAL_S: Final = 30
# A message may arrive this much before its run is due and still start it.
DUE_TOLERANCE_S: Final = 2
# An event this much older than the activation still matches (clocks differ between machines).
ACTIVATION_TOLERANCE_S: Final = 5
# SQS: DelaySeconds is 0..900 (AWS, SendMessage).
QUEUE_DELAY_MAX_S: Final = 900
# SQS and Kinesis: entries per batch call (AWS, SendMessageBatch 10; PutRecords 500 and 10 MB).
QUEUE_BATCH_MAX: Final = 10
STREAM_BATCH_MAX: Final = 500
STREAM_BATCH_MAX_BYTES: Final = 5 * 1024 * 1024
# The sweep sends a row's message again this long after it should have been taken up.
WAKE_MARGIN_S: Final = 60
# A run due later than the queue can delay is woken this long before, and then delayed exactly.
WAKE_AHEAD_S: Final = 90
# A claim's wake-up comes this long after its lease ends.
LEASE_WAKE_MARGIN_S: Final = 30
# A row that the sweep has served looks again after this long.
WAKE_AGAIN_S: Final = 900
# The sweep serves so many rows in one transaction.
SWEEP_BATCH_MAX: Final = 1_000
# The outbox is relayed after 60 s, then after 15 min * 2^n, at most every 6 h.
RELAY_AGAIN_S: Final = 900
RELAY_CAP_S: Final = 21_600
RELAY_BATCH_MAX: Final = 500
# A death's notice is sent again by the sweep if it is not out by then.
NOTICE_WAKE_S: Final = 120

# -- chains
# A webhook to this deployment is answered within minutes; a queue on the way may hold it longer.
LOOP_HEADER_LIVES_S: Final = 3_600
MAX_DEPTH_DEFAULT: Final = 5
RUNS_PER_MINUTE_DEFAULT: Final = 600
CHAINED_RUNS_PER_DAY_DEFAULT: Final = 10_000

# -- the worker
WORKER_CONCURRENCY_DEFAULT: Final = 5
MATCH_CHUNK_MAX_RUNS: Final = 1_000
MATCH_CHUNK_MAX_BYTES: Final = 4 * 1024 * 1024
# Data steps that share a transaction give up a lock at once, and the whole after so many seconds;
# then each goes alone. Whoever waits for their rows waits LOCK_TIMEOUT_MS: longer than that.
GROUP_LOCK_TIMEOUT_MS: Final = 50
GROUP_TIMEOUT_S: Final = 4
# A transaction goes on to so many steps of each run while it is this young, and no more than half
# of its time has passed.
GROUP_STEPS_MAX: Final = 10
GROUP_GOES_ON_S: Final = 2
LOCK_TIMEOUT_MS: Final = 5_000

# -- keeping
RETENTION_DAYS_DEFAULT: Final = 30
WEBHOOK_TIMESTAMP_TOLERANCE_S: Final = 300
SECRET_MIN_CHARS: Final = 8
SECRET_MAX_CHARS: Final = 4096

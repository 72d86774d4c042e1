"""MiniStack with as many consumers of a FIFO queue as AWS invokes: one per message group.

MiniStack 1.5.33 invokes one consumer per FIFO queue, because its batches span groups. A batch of one message does not: its
groups are blocked while a message is in flight, as on AWS.
"""

from ministack.app import app as app
from ministack.services import lambda_svc

concurrency = lambda_svc._sqs_esm_concurrency


def concurrency_by_group(esm, function, config, queue=None):
    spans_groups = esm.get("BatchSize") != 1
    return concurrency(esm, function, config, queue if spans_groups else None)


lambda_svc._sqs_esm_concurrency = concurrency_by_group

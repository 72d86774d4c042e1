"""MiniStack with three things of AWS that it lacks: as many consumers of a FIFO queue as message groups, state machines that wait for their executions
when they are deleted, and a record of the requests of functions.

MiniStack 1.5.33 invokes one consumer per FIFO queue, because its batches span groups. A batch of one message does not: its
groups are blocked while a message is in flight, as on AWS.
"""

import json
import os
import re

from ministack.app import app as ministack
from ministack.services import lambda_svc, stepfunctions
from ministack.services.cloudformation import provisioners

concurrency = lambda_svc._sqs_esm_concurrency


def concurrency_by_group(esm, function, config, queue=None):
    spans_groups = esm.get("BatchSize") != 1
    return concurrency(esm, function, config, queue if spans_groups else None)


lambda_svc._sqs_esm_concurrency = concurrency_by_group

state_machine = provisioners._RESOURCE_HANDLERS["AWS::StepFunctions::StateMachine"]
create_state_machine = state_machine["create"]


def create_unless_deleting(logical_id, props, stack_name):
    """Refuses the name of a Standard machine that still has executions, as AWS does. An Express machine is deleted within a minute, whatever it runs (API_DeleteStateMachine)."""
    name = props.get("StateMachineName")
    is_standard = props.get("StateMachineType", "STANDARD") == "STANDARD"
    # A machine without a name gets a new one.
    for execution in stepfunctions._executions.values() if name and is_standard else ():
        if execution["status"] == "RUNNING" and execution["stateMachineArn"].endswith(f":{name}"):
            raise ValueError(f"StateMachineDeleting: {name}")
    return create_state_machine(logical_id, props, stack_name)


state_machine["create"] = create_unless_deleting

record = open(os.environ["REQUESTS_FILE"], "a", buffering=1)


async def app(scope, receive, send):
    """Records the requests of functions: each has its function in the user agent (AWS_SDK_UA_APP_ID)."""
    headers = {name.decode(): value.decode("latin-1") for name, value in scope.get("headers", [])}
    function = re.search(r"app/(\w+)", headers.get("user-agent", ""))
    body = []

    async def recorded():
        message = await receive()
        body.append(message.get("body", b""))
        return message

    await ministack(scope, recorded if function else receive, send)
    if function:
        # Pictures are not part of what a policy decides.
        text = "" if scope["method"] == "PUT" else b"".join(body).decode("utf-8", "replace")
        scopes = headers.get("authorization", "").split("/")
        request = {
            "function": function[1],
            "service": scopes[3] if len(scopes) > 3 else "",
            "method": scope["method"],
            "path": scope["path"],
            "query": scope["query_string"].decode(),
            "target": headers.get("x-amz-target", ""),
            "body": text,
        }
        record.write(json.dumps(request) + "\n")

import { setTimeout as sleep } from 'node:timers/promises';
import {
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStackEventsCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { request } from 'undici';
import { z } from 'zod';
import { rules } from '../../../core/rules.ts';
import { createHelperTemplate, streamPath } from './helper-template.ts';
import type { Helper, ReceivedHook } from './run-smoke.ts';

export type SmokeClients = { cloudFormation: CloudFormationClient; sqs: SQSClient; states: SFNClient };

/** Creates the clients with the credentials and the region of the operator. */
export function createSmokeClients(): SmokeClients {
  return { cloudFormation: new CloudFormationClient({}), sqs: new SQSClient({}), states: new SFNClient({}) };
}

type Deps = SmokeClients & {
  /** Pause between two reads of a state, in milliseconds. */
  pollMs: number;
};

/** Tag of the helper stacks; its value is the stack that they test. */
const tagKey = 'watchpost:smoke-test';
/** Age from which a helper stack belongs to no running test, in milliseconds. */
const abandonedMs = 3_600_000;

/** Returns the outputs of a stack. Throws if there is no such stack, or if its last deployment failed. */
export async function readOutputs(
  stackName: string,
  { cloudFormation }: Pick<Deps, 'cloudFormation'>,
): Promise<Record<string, string>> {
  const { Stacks: [stack] = [] } = await cloudFormation.send(
    new DescribeStacksCommand({ StackName: stackName }),
  );
  const status = stack?.StackStatus ?? 'unknown';
  if (!/^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE/.test(status))
    throw new Error(`The stack ${stackName} has the status ${status}`);
  return Object.fromEntries(
    (stack?.Outputs ?? []).map((each) => [each.OutputKey ?? '', each.OutputValue ?? '']),
  );
}

/**
 * Creates the helper stack. Returns it once its resources exist. Throws with the reason of the first resource that
 * failed.
 */
export async function createHelperStack(
  {
    name,
    tested,
    urlTemplate,
    roleArn,
  }: {
    name: string;
    tested: string;
    /** URL of the HTTP API with `{id}` for its id, for an emulator. Default: the endpoint of API Gateway. */
    urlTemplate?: string | undefined;
    /** Role that CloudFormation uses, such as that of the CDK. Default: the credentials of the operator. */
    roleArn?: string | undefined;
  },
  deps: Deps,
  signal: AbortSignal,
): Promise<Helper> {
  await deps.cloudFormation.send(
    new CreateStackCommand({
      StackName: name,
      TemplateBody: JSON.stringify(createHelperTemplate()),
      Capabilities: ['CAPABILITY_IAM'],
      OnFailure: 'DO_NOTHING',
      Tags: [{ Key: tagKey, Value: tested }],
      ...(roleArn !== undefined && { RoleARN: roleArn }),
    }),
    { abortSignal: signal },
  );
  const status = await settled(name, deps, signal);
  if (status !== 'CREATE_COMPLETE') throw new Error(`${name}: ${await firstFailure(name, deps)}`);
  const outputs = await readOutputs(name, deps);
  const url = urlTemplate?.replace('{id}', outputs['ApiId'] ?? '') ?? outputs['Url'] ?? '';
  await reachable(url, deps, signal);
  return {
    url,
    receive: (until) => receive(outputs['QueueUrl'] ?? '', deps, until),
    hold: (seconds, until) => hold(outputs['HoldMachine'] ?? '', seconds, deps, until),
  };
}

/** Deletes a helper stack and waits for its end. Does nothing if it does not exist. */
export async function removeHelperStack(name: string, deps: Deps): Promise<void> {
  await deps.cloudFormation.send(new DeleteStackCommand({ StackName: name }));
  const status = await settled(name, deps, AbortSignal.timeout(600_000));
  if (status !== 'DELETE_COMPLETE') throw new Error(`${name}: ${await firstFailure(name, deps)}`);
}

/** Returns the names of helper stacks that a killed test left behind. */
export async function findAbandoned(
  tested: string,
  { cloudFormation }: Pick<Deps, 'cloudFormation'>,
  now: Date,
): Promise<string[]> {
  const names: string[] = [];
  let token: string | undefined;
  do {
    const page = await cloudFormation.send(new DescribeStacksCommand({ NextToken: token }));
    for (const { StackName: name = '', Tags: tags = [], CreationTime: created } of page.Stacks ?? []) {
      const isOurs = tags.some(({ Key: key, Value: value }) => key === tagKey && value === tested);
      if (isOurs && created && now.getTime() - created.getTime() > abandonedMs) names.push(name);
    }
    token = page.NextToken;
  } while (token !== undefined);
  return names;
}

/** Waits until the status of a stack is final. Returns `DELETE_COMPLETE` for a stack that no longer exists. */
async function settled(name: string, { cloudFormation, pollMs }: Deps, signal: AbortSignal): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const status = await cloudFormation.send(new DescribeStacksCommand({ StackName: name })).then(
      ({ Stacks: [stack] = [] }) => stack?.StackStatus ?? 'DELETE_COMPLETE',
      (error: unknown) => {
        if (error instanceof Error && /does not exist/.test(error.message)) return 'DELETE_COMPLETE';
        throw error;
      },
    );
    if (!status.endsWith('_IN_PROGRESS')) return status;
    await sleep(pollMs, undefined, { signal });
  }
}

async function firstFailure(name: string, { cloudFormation }: Deps): Promise<string> {
  const { StackEvents: events = [] } = await cloudFormation.send(
    new DescribeStackEventsCommand({ StackName: name }),
  );
  const failed = events.toReversed().find(({ ResourceStatus: status = '' }) => status.endsWith('_FAILED'));
  return `${failed?.LogicalResourceId ?? 'stack'}: ${failed?.ResourceStatusReason ?? 'not created'}`;
}

/** Waits until the API serves the playlist: a new stage and a new role take some seconds. */
async function reachable(url: string, { pollMs }: Deps, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(90_000)]);
  let last = 'no answer';
  while (!limit.aborted) {
    try {
      const { statusCode, body } = await request(`${url}${streamPath}`, { signal: limit });
      await body.dump();
      if (statusCode === 200) return;
      last = `status ${statusCode}`;
    } catch (error) {
      last = String(error);
    }
    await sleep(pollMs, undefined, { signal: limit }).catch(() => undefined);
  }
  signal.throwIfAborted();
  throw new Error(`${url} does not serve the stream: ${last}`);
}

const headerNames = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

async function receive(queueUrl: string, { sqs }: Deps, signal: AbortSignal): Promise<ReceivedHook[]> {
  const { Messages: messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      WaitTimeSeconds: 5,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
    }),
    { abortSignal: signal },
  );
  for (const { ReceiptHandle: handle } of messages)
    await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: handle }), {
      abortSignal: signal,
    });
  return messages.map(({ Body: body = '', MessageAttributes: attributes = {} }) => ({
    headers: Object.fromEntries(headerNames.map((name) => [name, attributes[name]?.StringValue ?? ''])),
    body,
  }));
}

/** Time that a burst leaves for its last tick. */
const lastTickSeconds = rules.burstTimeoutSeconds - rules.maxBurstSeconds;

const heldSchema = z.object({ Status: z.string() });

/** Runs the execution that holds another one. Throws if either ended before the time. */
async function hold(
  stateMachineArn: string,
  seconds: number,
  { states, pollMs }: Deps,
  signal: AbortSignal,
): Promise<number> {
  const input = JSON.stringify({ seconds });
  const { executionArn } = await states.send(new StartExecutionCommand({ stateMachineArn, input }), {
    abortSignal: signal,
  });
  for (;;) {
    const execution = await states.send(new DescribeExecutionCommand({ executionArn }), {
      abortSignal: signal,
    });
    const { status, startDate, stopDate, output, error, cause } = execution;
    if (status !== 'RUNNING') {
      const held = ((stopDate?.getTime() ?? 0) - (startDate?.getTime() ?? 0)) / 1000;
      const child = output === undefined ? undefined : heldSchema.parse(JSON.parse(output)).Status;
      if (status === 'SUCCEEDED' && child === 'SUCCEEDED') return Math.round(held * 10) / 10;
      const why = error ?? child ?? status ?? 'unknown';
      throw new Error(
        `A call of ${seconds} s ended after ${held} s (${why}${cause ? `: ${cause}` : ''}). Bursts become as short by themselves after three cuts; burstSeconds ${Math.max(0, Math.floor(held - lastTickSeconds))} avoids them.`,
      );
    }
    await sleep(pollMs, undefined, { signal });
  }
}

import { createHash, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { dynamoStores } from '../adapters/aws/dynamodb/stores.ts';
import { createExecutions } from '../adapters/aws/executions.ts';
import { createMediaStore } from '../adapters/aws/media-store.ts';
import { createClient } from '../client/client.ts';
import { addCaller, eraseCaller } from '../core/access/callers.ts';
import { operator, createKey, type KeyDeps } from '../core/access/keys.ts';
import {
  createHelperStack,
  createSmokeClients,
  findAbandoned,
  readOutputs,
  removeHelperStack,
} from '../lib/operations/smoke/helper-stack.ts';
import { runSmoke, toExitCode, type SmokeStep } from '../lib/operations/smoke/run-smoke.ts';

/**
 * `npm run smoke -- --stack NAME` tests a deployment from the key to the alert, with the credentials of the operator,
 * and removes what it made. Exit code 0 if all steps passed, 1 if one failed, 2 for invalid options, 3 if something
 * could not be removed.
 */

const now = () => new Date();
const seconds = (max: number) => z.coerce.number().int().min(0).max(max);
const optionsSchema = z.object({
  stack: z.string().min(1, 'Name the stack: npm run smoke -- --stack Watchpost-prod'),
  url: z.string().optional(),
  condition: z.string(),
  hold: seconds(290),
  timeout: seconds(3600),
  'base-url': z.string().optional(),
  'helper-url': z.string().optional(),
  'role-arn': z.string().optional(),
  json: z.boolean(),
});

const parsed = readOptions();
if (parsed.success) process.exitCode = await smoke(parsed.data);
else {
  process.stderr.write(`${parsed.error}\n`);
  process.exitCode = 2;
}

function readOptions() {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      options: {
        stack: { ...text, default: '' },
        url: text,
        condition: { ...text, default: 'The picture is not black' },
        hold: { ...text, default: '290' },
        timeout: { ...text, default: '300' },
        'base-url': text,
        'helper-url': text,
        'role-arn': text,
        json: { type: 'boolean', default: false },
      },
    });
    const result = optionsSchema.safeParse(values);
    return result.success ? result : { success: false as const, error: z.prettifyError(result.error) };
  } catch (error) {
    return { success: false as const, error: error instanceof Error ? error.message : String(error) };
  }
}

async function smoke(options: z.infer<typeof optionsSchema>): Promise<number> {
  const { stack, json } = options;
  const deps = { ...createSmokeClients(), pollMs: 1_000 };
  const helperName = `${stack}-smoke-${randomBytes(4).toString('hex')}`;
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => interrupted.abort(new Error(`Interrupted by ${name}`)));
  const report = await runSmoke(
    {
      url: options.url,
      condition: options.condition,
      holdSeconds: options.hold,
      timeoutSeconds: options.timeout,
    },
    {
      readBaseUrl: async () => {
        const outputs = await readOutputs(stack, deps);
        return (
          options['base-url'] ??
          z.string({ error: 'The stack has no output BaseUrl' }).parse(outputs['BaseUrl'])
        );
      },
      createHelper: async (signal) => {
        for (const name of await findAbandoned(stack, deps, new Date())) await removeHelperStack(name, deps);
        return createHelperStack(
          {
            name: helperName,
            tested: stack,
            urlTemplate: options['helper-url'],
            roleArn: options['role-arn'],
          },
          deps,
          signal,
        );
      },
      removeHelper: () => removeHelperStack(helperName, deps),
      createKey: async () => {
        const keys = await openKeys(stack, deps);
        const caller = `smoke-${randomBytes(4).toString('hex')}`;
        await addCaller({ caller, label: 'smoke test' }, keys);
        const made = await createKey(
          operator,
          { caller, scopes: ['jobs', 'keys'], label: 'smoke test' },
          keys,
        );
        return { text: made.text, caller, id: made.key.hash };
      },
      removeCaller: (_, { caller }) => removeCaller(caller, stack, deps),
      connect: (baseUrl, apiKey) => createClient({ baseUrl, apiKey }),
      elapsedMs: () => performance.now(),
      report: json ? () => undefined : print,
    },
    interrupted.signal,
  );
  if (json) process.stdout.write(`${JSON.stringify({ stack, ...report })}\n`);
  else process.stdout.write(`${report.ok ? 'Passed' : 'Failed'}: ${stack}\n`);
  return toExitCode(report);
}

/** Opens the keys in the table of the stack. The first key of a deployment is created this way too. */
async function openKeys(stack: string, deps: Parameters<typeof readOutputs>[1]): Promise<KeyDeps> {
  const { TableName: tableName = '' } = await readOutputs(stack, deps);
  const { keys, callers } = dynamoStores({ client: new DynamoDBClient({}), tableName, now });
  return {
    keys,
    callers,
    now,
    sha256: (value) => createHash('sha256').update(value).digest('hex'),
    randomBytes,
  };
}

/** Erases the caller of the test with its job, media and deliveries. */
async function removeCaller(
  caller: string,
  stack: string,
  deps: ReturnType<typeof createSmokeClients>,
): Promise<void> {
  const outputs = await readOutputs(stack, deps);
  const { TableName: tableName = '', MediaBucketName: bucket = '', StateMachineArn = '' } = outputs;
  const { callers, eraser } = dynamoStores({ client: new DynamoDBClient({}), tableName, now });
  const { complete } = await eraseCaller(operator, caller, {
    callers,
    eraser,
    executions: createExecutions({ client: deps.states, stateMachineArn: StateMachineArn }),
    media: createMediaStore({ bucket }),
    recentLog: { entries: async () => [] },
    log: { debug: ignore, info: ignore, warning: ignore, error: ignore },
    now,
  });
  if (!complete) throw new Error('The erasure was not complete');
}

function ignore(): void {
  // The steps report what matters.
}

function print({ step, ok, seconds: taken, found }: SmokeStep): void {
  process.stdout.write(
    `${ok ? 'ok    ' : 'FAILED'} ${step.padEnd(13)} ${taken.toFixed(1).padStart(6)} s  ${found}\n`,
  );
}

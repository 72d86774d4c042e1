import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { applyWatches } from '../../../cli/commands/watch-apply.ts';
import { exportReviews } from '../../../cli/commands/watch-export.ts';
import { createWatch, listWatches, pauseWatch, removeWatch, showWatch } from '../../../cli/commands/watch.ts';
import type { Terminal } from '../../../cli/terminal.ts';
import { createClient, type Watchpost } from '../../../client/index.ts';
import { mintKey } from '../../../core/access/api-key.ts';
import { NotLiveError } from '../../../core/errors.ts';
import { parseLabelledSet } from '../../../core/evaluation/labelled-set.ts';
import type { Scope } from '../../../core/records/key.ts';
import { openAlert } from '../../support/watches/watch-alerts.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let folder: string;
let client: Watchpost;
let requests: string[];
let printed: string[];
let answer: boolean;

beforeEach(async () => {
  world = createWorld();
  folder = mkdtempSync(join(tmpdir(), 'watchpost-apply-'));
  requests = [];
  printed = [];
  answer = false;
  client = await open(['jobs', 'keys']);
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function open(scopes: Scope[]): Promise<Watchpost> {
  const minted = mintKey({ caller: 'harbour', scopes, label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  return createClient({
    baseUrl: 'http://service.example/api',
    apiKey: minted.text,
    fetch: async (url, init) => {
      const address = new Request(url).url;
      const path = new URL(address).pathname.replace('/api', '');
      if (init?.method !== 'GET') requests.push(`${init?.method} ${path.replace(/[0-9a-f-]{36}/, 'ID')}`);
      return createApp(world.c).request(address, init);
    },
  });
}

const terminal: Terminal = {
  print: (line) => void printed.push(line),
  note: (line) => void printed.push(line),
  waiting: () => ({ update: () => undefined, done: () => undefined }),
  confirm: async () => answer,
  color: undefined!,
  isTerminal: false,
};

const gate = {
  name: 'Gate',
  stream_url: 'rtsp://user:${PASSWORD}@camera.example/1',
  conditions: [{ condition: 'A person is there' }],
  destinations: [{ type: 'slack', url: 'https://hooks.slack.example/${TOKEN}' }],
};
const yard = {
  name: 'Yard',
  stream_url: 'rtsp://camera.example/2',
  conditions: [{ condition: 'A car is there' }],
};

async function apply(watches: object[], { yes = true, prune = false, env = {}, as = client } = {}) {
  const file = join(folder, 'watches.json');
  writeFileSync(file, JSON.stringify({ watches }));
  printed.length = 0;
  requests.length = 0;
  await applyWatches(as, { file, yes, prune }, { PASSWORD: 'p1', TOKEN: 't1', ...env }, terminal);
}
const names = async () => (await client.listWatches()).watches.map(({ name }) => name).toSorted();

describe('watchpost watch apply', () => {
  test('watches of the file are created, and the same file makes no further request', async () => {
    await apply([gate, yard]);
    expect(requests).toEqual(['POST /watches', 'POST /watches']);
    expect(printed).toContain('+ create "Gate"');
    await apply([gate, yard], { yes: false });
    expect(requests).toEqual([]);
    expect(printed).toEqual(['0 to change, 2 unchanged']);
  });

  test('a rotation of the webhook secret is no change of any address', async () => {
    await apply([gate, yard]);
    await client.rotateWebhookSecret();
    await apply([gate, yard], { yes: false });
    expect(printed).toEqual(['0 to change, 2 unchanged']);
  });

  test('only the changed fields of a changed watch are sent, and its state is kept', async () => {
    await apply([gate, yard]);
    const before = (await client.listWatches()).watches.find(({ name }) => name === 'Gate');
    await openAlert(world, before!.watch_id);
    await apply([{ ...gate, interval_seconds: 20, labels: ['a'] }, yard]);
    expect(requests).toEqual(['PATCH /watches/ID']);
    expect(printed[0]).toBe('~ change "Gate": interval_seconds 10 → 20; labels');
    const after = await client.getWatch(before!.watch_id);
    expect(after).toMatchObject({ interval_seconds: 20, labels: ['a'], config_version: 2 });
    expect(after.state.conditions[0]?.state).toBe(
      (await client.getWatch(before!.watch_id)).state.conditions[0]?.state,
    );
  });

  test.each([
    ['stream_url', { PASSWORD: 'p2' }],
    ['destinations ~slack', { TOKEN: 't2' }],
  ])('a new secret is a change, named %s and not shown', async (change, env) => {
    await apply([gate]);
    await apply([gate], { env });
    expect(printed[0]).toBe(`~ change "Gate": ${change}`);
    await apply([gate], { env });
    expect(requests).toEqual([]);
  });

  test('a token that the file drops is dropped', async () => {
    const ntfy = { type: 'ntfy', url: 'https://ntfy.example/gate', token: 'tk_1' };
    const { token: _, ...without } = ntfy;
    await apply([{ ...gate, destinations: [ntfy] }]);
    await apply([{ ...gate, destinations: [without] }]);
    expect(requests).toEqual(['PATCH /watches/ID']);
    await apply([{ ...gate, destinations: [without] }]);
    expect(requests).toEqual([]);
  });

  test('a removed field returns to its default', async () => {
    const schedule = { time_zone: 'Europe/Berlin', active: [{ days: ['mon'], from: '08:00', to: '18:00' }] };
    await apply([{ ...yard, schedule, budget: { model_calls_per_day: 9 }, interval_seconds: 60 }]);
    await apply([yard]);
    expect((await client.listWatches()).watches[0]).toMatchObject({
      schedule: null,
      budget: null,
      interval_seconds: 10,
    });
  });

  test('watches that the file lacks are kept and named, and removed with prune', async () => {
    await apply([gate, yard]);
    await apply([yard]);
    expect(printed).toEqual(['0 to change, 1 unchanged, 1 not in the file (--prune removes them)']);
    expect(await names()).toEqual(['Gate', 'Yard']);
    await apply([yard], { prune: true });
    expect(printed).toContain('- remove "Gate"');
    expect(await names()).toEqual(['Yard']);
  });

  test('a plan without consent changes nothing', async () => {
    await expect(apply([gate], { yes: false })).rejects.toThrow('Nothing was changed');
    expect(requests).toEqual([]);
    answer = true;
    await apply([gate], { yes: false });
    expect(await names()).toEqual(['Gate']);
  });

  test('a failed step is reported, and the others are carried out', async () => {
    await apply([yard]);
    world.script.probe = new NotLiveError('Give a live one.');
    await expect(apply([gate, { ...yard, interval_seconds: 30 }])).rejects.toThrow(
      /1 of 2 steps failed:\n {2}"Gate": /,
    );
    expect((await client.listWatches()).watches).toMatchObject([{ name: 'Yard', interval_seconds: 30 }]);
  });

  test('two watches of one name are not told apart', async () => {
    await apply([yard]);
    await client.createWatch({ ...yard, conditions: [{ condition: 'x' }] });
    await expect(apply([yard])).rejects.toThrow('The service has several watches named "Yard"');
  });

  test('a key that may not compare addresses is rejected with the missing scope', async () => {
    await expect(apply([gate], { as: await open(['jobs']) })).rejects.toMatchObject({
      remediation: 'Use a key with the scopes jobs and keys.',
    });
  });
});

describe('watchpost watch', () => {
  const wanted = {
    stream_url: 'rtsp://camera.example/3',
    conditions: [{ condition: 'A cat is there' }],
    name: 'Door',
    interval_seconds: 30,
    destinations: [{ type: 'email' as const, to: 'a@example.com' }],
  };

  test('add creates a watch, of whose name there is one', async () => {
    await createWatch(client, wanted, terminal, false);
    await listWatches(client, terminal, false);
    expect(printed.at(-1)).toMatch(/^active {12}- {7}[0-9a-f-]{36} {2}Door$/);
    await expect(createWatch(client, wanted, terminal, false)).rejects.toThrow('There is a watch "Door"');
  });

  test('a watch is found by its name or id, and a near name is suggested', async () => {
    await apply([gate]);
    const id = (await client.listWatches()).watches[0]!.watch_id;
    await showWatch(client, id, terminal, true);
    expect(JSON.parse(printed.at(-1)!)).toMatchObject({ name: 'Gate' });
    await pauseWatch(client, 'Gate', terminal, false);
    expect(printed.join('\n')).toContain('status      paused (paused since');
    await expect(showWatch(client, 'Gtae', terminal, false)).rejects.toThrow('Did you mean "Gate"?');
  });

  test('remove deletes a watch with consent only', async () => {
    await apply([gate]);
    await expect(removeWatch(client, 'Gate', false, terminal)).rejects.toThrow('Nothing was removed');
    await removeWatch(client, 'Gate', true, terminal);
    expect(await names()).toEqual([]);
  });
});

describe('watchpost watch export', () => {
  const target = (): string => join(folder, 'set');
  const read = () => parseLabelledSet(readFileSync(join(target(), 'set.jsonl'), 'utf8'));
  const all = { watch: undefined, from: undefined, to: undefined };

  test('reviewed alerts become examples that an evaluation reads, with their frames', async () => {
    await apply([gate, yard]);
    const byName = async (name: string) =>
      (await client.listWatches()).watches.find((watch) => watch.name === name)!.watch_id;
    const right = await openAlert(world, await byName('Gate'));
    const wrong = await openAlert(world, await byName('Yard'));
    await client.reviewAlert(right, { correct: true });
    await exportReviews(client, { folder: target(), ...all }, terminal);
    await client.reviewAlert(wrong, { correct: false, note: 'a "cat"\nthere' });
    await exportReviews(client, { folder: target(), ...all, watch: 'Yard' }, terminal);
    await exportReviews(client, { folder: target(), ...all, watch: 'Yard' }, terminal);

    const { examples, problems } = read();
    expect(problems).toEqual([]);
    expect(examples).toMatchObject([
      { id: right, expected: 'yes', condition: 'A person is at the gate', picture: `frames/${right}.jpg` },
      { id: wrong, expected: 'no', note: 'a "cat"\nthere' },
    ]);
    expect(readFileSync(join(target(), `frames/${wrong}.jpg`)).subarray(0, 2)).toEqual(
      Buffer.from([255, 216]),
    );
  });

  test('a moment that was reviewed as missed is exported with its picture and the condition', async () => {
    await apply([{ ...gate, memory_days: 3 }]);
    const { watch_id: id } = (await client.listWatches()).watches[0]!;
    let step = await world.begin({ run_id: id, generation: 0 });
    for (const verdict of [false, false]) {
      world.script.verdicts.push(verdict);
      step = await world.tick(step);
    }
    const { moments } = await client.listMoments();
    const { moment_id: missed, verdicts } = moments[0]!;
    await client.reviewMoment(missed, { condition_id: verdicts[0]!.condition_id, holds: true });
    await exportReviews(client, { folder: target(), ...all }, terminal);
    const { examples, problems } = read();
    expect(problems).toEqual([]);
    expect(examples).toMatchObject([
      {
        id: `${missed}-${verdicts[0]!.condition_id}`,
        expected: 'yes',
        condition: 'A person is there',
        tags: [verdicts[0]!.condition_id, 'missed'],
        verdict: { triggered: false },
      },
    ]);
    expect(readFileSync(join(target(), `frames/${examples[0]!.id}.jpg`)).subarray(0, 2)).toEqual(
      Buffer.from([255, 216]),
    );
  });

  test('an alert without evidence is left out and counted', async () => {
    await apply([gate]);
    const id = await openAlert(world, (await client.listWatches()).watches[0]!.watch_id);
    await client.reviewAlert(id, { correct: true });
    world.pictures.clear();
    await exportReviews(client, { folder: target(), ...all }, terminal);
    expect(read().examples).toEqual([]);
    expect(printed).toContain('1 reviews have no picture any more; they were left out.');
  });
});

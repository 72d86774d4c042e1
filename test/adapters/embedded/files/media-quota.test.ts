import { embeddedRuns } from '../../../support/select-runs.ts';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMediaStore } from '../../../../adapters/embedded/files/media-store.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { mediaFinding } from '../../../../cli/checks/checks.ts';
import { createMediaTrim } from '../../../../cli/service/maintenance.ts';
import { readMetrics } from '../../../../core/observability/metrics.ts';
import { formatPrometheus } from '../../../../core/observability/prometheus.ts';
import type { MediaUse } from '../../../../core/ports/observability.ts';
import { addSeconds } from '../../../../core/time.ts';
import { createWorld } from '../../../support/world.ts';
import { gate, newMoment, remember } from '../../../contract/moment-store.contract.ts';
import { newAlert, newChange, newCreation } from '../../../contract/watch-records.ts';
import { createCollectedLog } from '../log/collected-log.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const minutes = 60_000;
const unusedMedia = (): MediaUse => ({
  bytes: null,
  max_bytes: null,
  evidence_removed: 0,
  evidence_removed_at: null,
});
const megabyte = Buffer.alloc(1_000_000);
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchpost-media-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Stores a file of one megabyte that was written some minutes ago. */
async function store(key: string, ageMinutes: number) {
  const media = createMediaStore(directory);
  await media.put(key, megabyte, 'image/jpeg');
  const at = new Date(now.getTime() - ageMinutes * minutes);
  await utimes(join(directory, key), at, at);
  return media;
}

const left = async (keys: string[]) => {
  const media = createMediaStore(directory);
  const found = await Promise.all(keys.map(async (key) => ((await media.get(key)) ? key : [])));
  return found.flat();
};

test('the oldest media are removed until the rest fits', async () => {
  const keys = ['captures/a/1.jpg', 'evidence/7/a/1.jpg', 'evidence/90/b/2.jpg', 'captures/b/3.jpg'];
  for (const [index, key] of keys.entries()) await store(key, 90 - index * 10);
  const media = createMediaStore(directory);
  const findCaller = async () => 'harbour';
  const quota = { needed: new Set<string>(), findCaller, now };
  expect(await media.trim({ ...quota, maxBytes: 4_000_000 })).toMatchObject({ removed: 0 });
  expect(await media.trim({ ...quota, maxBytes: 2_500_000 })).toMatchObject({
    removed: 2,
    bytes: 2_000_000,
  });
  expect(await left(keys)).toEqual(keys.slice(2));
});

test('media of the caller that holds most are removed, and no evidence of a caller within its share', async () => {
  const greedy = ['captures/g1/1.jpg', 'evidence/7/g2/2.jpg', 'evidence/7/g2/3.jpg', 'captures/g1/4.jpg'];
  const modest = ['evidence/7/m/1.jpg', 'evidence/90/m/2.jpg'];
  for (const [index, key] of greedy.entries()) await store(key, 90 - index * 10);
  for (const key of modest) await store(key, 9000);
  const media = createMediaStore(directory);
  const findCaller = async (source: string) => (source === 'm' ? undefined : 'greedy');
  const trim = (maxBytes: number, needed: string[] = []) =>
    media.trim({ maxBytes, needed: new Set(needed), findCaller, now });
  expect(await trim(4_500_000)).toMatchObject({ removed: 2, bytes: 4_000_000 });
  expect(await left([...greedy, ...modest])).toEqual([...greedy.slice(2), ...modest]);
  const full = await trim(3_900_000, greedy);
  expect(full, 'what a caller needs costs nobody else').toMatchObject({ removed: 1, bytes: 3_000_000 });
});

test('media that are needed, and those of a tick under way, stay even if they do not fit', async () => {
  await store('evidence/7/a/1.jpg', 9000);
  await store('evidence/7/a/2.jpg', 8000);
  const media = await store('captures/a/3.jpg', 4);
  const needed = new Set(['evidence/7/a/1.jpg']);
  expect(await media.trim({ maxBytes: 0, needed, now })).toMatchObject({ removed: 1, bytes: 2_000_000 });
  expect(await left(['evidence/7/a/1.jpg', 'captures/a/3.jpg'])).toHaveLength(2);
});

test('clips make room before the pictures of alerts, and count as evidence', async () => {
  const keys = ['clips/7/a/1.mp4', 'clips/7/a/2.mp4', 'evidence/7/a/1.jpg', 'captures/a/1.jpg'];
  const ages = [20, 10, 90, 80];
  for (const [index, key] of keys.entries()) await store(key, ages[index]!);
  const media = createMediaStore(directory);
  const trim = async (maxBytes: number) => media.trim({ maxBytes, needed: new Set(), now });
  expect(await trim(3_000_000)).toMatchObject({ removed: 1, evidence: 1 });
  expect(await left(keys)).toEqual(keys.slice(1));
  expect(await trim(2_000_000)).toMatchObject({ removed: 1, evidence: 1 });
  expect(await left(keys)).toEqual(keys.slice(2));
});

test('pictures of moments make room before evidence, those of no verdict that held first', async () => {
  const { runs, watches, moments } = embeddedRuns(openDatabase(':memory:'));
  const held = [{ condition_id: 'person', triggered: true, explanation: '' }];
  const remembered = [newMoment(10, { verdicts: held }), ...[20, 30].map((second) => newMoment(second))];
  await remember(
    { runs, watches },
    remembered.map((moment) => [moment]),
  );
  const evidence = `evidence/7/${gate}/1.jpg`;
  const keys = [evidence, ...remembered.map(({ frame_key: key }) => key!)];
  for (const key of keys) await store(key, 9000);
  const media = createMediaStore(directory);
  const findCaller = async () => 'alice';
  const trim = (maxBytes: number, limit: number) =>
    media.trim({
      maxBytes,
      needed: new Set(),
      findCaller,
      releasePictures: (caller) => moments.releasePictures(caller, limit),
      now,
    });
  expect(await trim(2_500_000, 2)).toMatchObject({ removed: 2, bytes: 2_000_000 });
  expect(await left(keys)).toEqual(keys.slice(0, 2));
  expect(await moments.picturesKeptFrom(gate)).toEqual(new Date(remembered[2]!.at));
  expect(await trim(1_500_000, 2)).toEqual({ removed: 1, evidence: 0, bytes: 1_000_000 });
  expect(await left(keys)).toEqual([evidence]);
  expect(await trim(500_000, 2)).toEqual({ removed: 1, evidence: 1, bytes: 0 });
});

test('pictures of moments make room on a full disk, and nothing else does', async () => {
  const { runs, watches, moments } = embeddedRuns(openDatabase(':memory:'));
  const remembered = [10, 20, 30].map((second) => newMoment(second));
  await remember(
    { runs, watches },
    remembered.map((moment) => [moment]),
  );
  const evidence = `evidence/7/${gate}/1.jpg`;
  const keys = [evidence, ...remembered.map(({ frame_key: key }) => key!)];
  for (const key of keys) await store(key, 9000);
  const log = createCollectedLog();
  let free = 199_000_000;
  const trim = createMediaTrim({
    use: unusedMedia(),
    maxMb: 0,
    readFree: async () => free,
    media: createMediaStore(directory),
    watches: { neededMedia: () => new Set() },
    moments: { releasePictures: (caller) => moments.releasePictures(caller, 1) },
    runs: { source: async () => ({ caller: 'alice' }) as never },
    log,
    now: () => now,
  });
  await trim();
  expect(await left(keys)).toEqual([evidence, keys[2], keys[3]]);
  expect(log.entries).toMatchObject([
    { level: 'warning', message: expect.stringContaining('the disk is nearly full'), fields: { count: 1 } },
  ]);
  free = 0;
  await trim();
  expect(await left(keys)).toEqual([evidence]);
  free = 200_000_000;
  await trim();
  expect(await left(keys)).toEqual([evidence]);
});

test('a frame that jobs share takes its space once, until the last of them removes it', async () => {
  const media = createMediaStore(directory);
  const keys = ['captures/b/1.jpg', 'captures/b/2.jpg'];
  await store('captures/b/0.jpg', 1);
  for (const key of keys) await media.put(key, megabyte, 'image/jpeg');
  for (const [index, key] of keys.entries()) {
    const at = new Date(now.getTime() - (60 - index) * minutes);
    await utimes(join(directory, key), at, at);
  }
  expect(await media.trim({ maxBytes: 5_000_000, needed: new Set(), now })).toMatchObject({
    removed: 0,
    bytes: 2_000_000,
  });
  expect(await media.trim({ maxBytes: 1_500_000, needed: new Set([keys[1]!]), now })).toMatchObject({
    removed: 1,
    bytes: 2_000_000,
  });
  expect(await media.trim({ maxBytes: 1_500_000, needed: new Set(), now })).toMatchObject({
    removed: 1,
    bytes: 1_000_000,
  });
});

test('a watch needs the evidence of its open alerts and its newest frame, until they close', async () => {
  const watches = embeddedRuns(openDatabase(':memory:')).watches;
  const watch = newCreation();
  await watches.create(watch, now);
  const [open, closed] = [newAlert(watch, { frame_key: 'evidence/7/a/1.jpg' }), newAlert(watch)];
  const [condition] = watch.state.conditions;
  const at = now.toISOString();
  const holding = {
    ...condition!,
    phase: 'open' as const,
    alert: {
      alert_id: open.alert_id,
      opened_at: at,
      seen_from: at,
      held_at: at,
      clear_from: null,
      reminded_at: null,
      acknowledged_at: null,
      unconfirmed: false,
      severity: 'warning' as const,
      retention_days: 7,
      explanation: '',
    },
  };
  const last_frame = { key: 'captures/a/9.jpg', captured_at: now.toISOString(), evidence: false };
  const shut = {
    at: now.toISOString(),
    reason: 'cleared',
    explanation: '',
    open_seconds: 1,
    seen_seconds: 1,
    frame_key: null,
  } as const;
  await watches.commit(
    newChange(watch, {
      set: { sight: { ...watch.sight, last_frame }, state: { ...watch.state, conditions: [holding] } },
      alerts: [
        { kind: 'open', alert: open },
        { kind: 'open', alert: closed },
        { kind: 'close', alertId: closed.alert_id, closed: shut, expiresAt: now.toISOString() },
      ],
    }),
  );
  expect(watches.neededMedia()).toEqual(new Set(['evidence/7/a/1.jpg', 'captures/a/9.jpg']));
});

test('media that do not fit are reported once, until they fit again', async () => {
  const log = createCollectedLog();
  const sizes = [3_000_000, 3_000_000, 1_000_000, 3_000_000];
  const media = { trim: async () => ({ removed: 0, evidence: 0, bytes: sizes.shift() ?? 0 }) };
  const trim = createMediaTrim({
    maxMb: 2,
    readFree: async () => Infinity,
    media,
    watches: { neededMedia: () => new Set() },
    moments: { releasePictures: () => [] },
    runs: { source: async () => undefined },
    use: unusedMedia(),
    log,
    now: () => now,
  });
  for (let time = 0; time < 4; time += 1) await trim();
  expect(log.entries.filter(({ level }) => level === 'warning')).toHaveLength(2);
});

test('evidence that the quota removes is in the log, the check for a day, and the metrics', async () => {
  const log = createCollectedLog();
  const use = unusedMedia();
  const trim = createMediaTrim({
    maxMb: 2,
    readFree: async () => 1e12,
    media: { trim: async () => ({ removed: 5, evidence: 3, bytes: 1_000_000 }) },
    watches: { neededMedia: () => new Set() },
    moments: { releasePictures: () => [] },
    runs: { source: async () => undefined },
    use,
    log,
    now: () => now,
  });
  expect(mediaFinding(use, now).status).toBe('ok');
  await trim();
  await trim();
  expect(log.entries.filter(({ level }) => level === 'warning')[0]).toMatchObject({
    message: expect.stringMatching(/Evidence of alerts removed.*WATCHPOST_MEDIA_MB/),
    fields: { count: 3, max_mb: 2 },
  });
  expect(mediaFinding(use, now)).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/^6 pictures of alerts were removed before their time/),
  });
  expect(mediaFinding(use, addSeconds(now, 90_000))).toMatchObject({ status: 'ok', message: '1 of 2 MB' });
  const world = createWorld();
  const metrics = await readMetrics({ ...world.c, mediaUse: use });
  expect(metrics.media).toEqual({ bytes: 1_000_000, max_bytes: 2_000_000, evidence_removed: 6 });
  expect(formatPrometheus(metrics, [], [], [])).toContain('watchpost_evidence_removed_total 6');
});

import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { addReplay } from '../../../cli/commands/replay.ts';
import { exampleSchema } from '../../../core/evaluation/labelled-set.ts';
import { ffmpegPath } from '../../support/hls/recording.ts';
import { runCommand } from '../../support/run-command.ts';

const run = promisify(execFile);
let folder: string;
let file: string;

/** Recording of three minutes: a red square is in the picture from 60 to 110 s. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'replay-'));
  vi.stubEnv('WATCHPOST_VISION', 'pixel');
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
  file = join(folder, 'yard.mp4');
  const scene = 'color=c=0x404040:size=320x180:rate=2:duration=180';
  const square = "drawbox=enable='between(t,60,110)':x=100:y=40:w=120:h=100:c=0xD01010:t=fill";
  const encoding = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 4'.split(' ');
  const noise = 'noise=alls=4:allf=t';
  const input = ['-f', 'lavfi', '-i', `${scene},${square},${noise}`];
  await run(ffmpegPath, ['-loglevel', 'error', ...input, ...encoding, file]);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const replay = async (...args: string[]) => runCommand(addReplay, 'replay', ...args);

const condition = ['--condition', 'Something red is in the picture.'];

test('a replay opens and closes an alert at the times of the recording, and a second run makes no model call', async () => {
  const first = JSON.parse((await replay(file, ...condition, '--json')).stdout);
  expect(first).toMatchObject({
    recording_seconds: 180,
    interrupted: false,
    coverage: 1,
    remembered_verdicts: 0,
    tokens: { input_tokens: 0, output_tokens: 0 },
    cost: { recording_usd: 0 },
    alerts: [
      { condition_id: 'condition-1', opened_seconds: expect.any(Number), closed_seconds: expect.any(Number) },
    ],
  });
  const [alert] = first.alerts;
  expect(alert.opened_seconds).toBeGreaterThanOrEqual(60);
  expect(alert.opened_seconds).toBeLessThanOrEqual(75);
  expect(alert.closed_seconds).toBeGreaterThanOrEqual(110);
  expect(alert.closed_seconds).toBeLessThanOrEqual(140);
  expect(first.checks.find((check: { skipped: boolean }) => check.skipped)).toMatchObject({
    triggered: null,
  });

  const second = JSON.parse((await replay(file, ...condition, '--json')).stdout);
  expect(second.remembered_verdicts).toBe(first.model_calls);
  expect(second.alerts).toEqual(first.alerts);
});

test('a film gives an alert for each visit with any distance of its key frames', async () => {
  const scene = 'color=c=0x404040:size=320x180:rate=2:duration=150';
  const square =
    "drawbox=enable='between(t,30,46)+between(t,83,99)':x=100:y=40:w=120:h=100:c=0xD01010:t=fill";
  const input = ['-f', 'lavfi', '-i', `${scene},${square}`];
  const opened = await Promise.all(
    [4, 50].map(async (frames) => {
      const film = join(folder, `film-${frames}.mp4`);
      const coding = `-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g ${frames} -sc_threshold 0`.split(
        ' ',
      );
      await run(ffmpegPath, ['-loglevel', 'error', ...input, ...coding, film]);
      const { alerts } = JSON.parse((await replay(film, ...condition, '--json')).stdout);
      return alerts.map(({ opened_seconds }: { opened_seconds: number }) => opened_seconds);
    }),
  );
  for (const [first, second, ...others] of opened) {
    expect(others).toEqual([]);
    expect(first).toBeGreaterThanOrEqual(30);
    expect(first).toBeLessThanOrEqual(42);
    expect(second).toBeGreaterThanOrEqual(83);
    expect(second).toBeLessThanOrEqual(95);
  }
});

test('a sweep prints a row per combination of settings', async () => {
  const { stdout } = await replay(
    file,
    ...condition,
    '--sweep',
    'interval=60',
    'mode=frames,hybrid',
    '--json',
    '--report',
    join(folder, 'sweep.html'),
  );
  const { sweep } = JSON.parse(stdout);
  expect(
    sweep.map(({ interval_seconds, input_mode }: { interval_seconds: number; input_mode: string }) => [
      interval_seconds,
      input_mode,
    ]),
  ).toEqual([
    [60, 'frames'],
    [60, 'hybrid'],
  ]);
  const page = (await readFile(join(folder, 'sweep.html'), 'utf8')).replaceAll(/\s+/g, ' ');
  expect(page).toMatch(/<h2>Comparison<\/h2>.*60 s<\/td> ?<td class="number">hybrid<\/td>/);
});

test('a report contains the alert with its picture, and a saved set has a line per verdict', async () => {
  const report = join(folder, 'report.html');
  const set = join(folder, 'set');
  const { stdout } = await replay(file, ...condition, '--report', report, '--save-set', set);
  expect(stdout).toMatch(/^01:\d\d - 0[12]:\d\d {2}condition-1 {2}Red covers/);
  expect(stdout).toMatch(/^1 alert in /m);
  const page = await readFile(report, 'utf8');
  expect(page).toContain('data:image/jpeg;base64,');
  expect(page).not.toMatch(/(src|href)="https?:/);
  const lines = (await readFile(join(set, 'set.jsonl'), 'utf8')).trim().split('\n');
  const examples = lines.map((line) => exampleSchema.parse(JSON.parse(line)));
  expect(examples.every(({ expected }) => expected === null)).toBe(true);
  expect(await readdir(join(set, 'frames'))).toHaveLength(examples.length);
});

test('a recording without video among others is left out with a note', async () => {
  const others = join(folder, 'unfinished');
  await mkdir(others);
  await copyFile(file, join(others, '1.mp4'));
  await writeFile(join(others, '2.mp4'), '');
  const { stdout, stderr } = await replay(others, ...condition, '--json');
  expect(JSON.parse(stdout).recording_seconds).toBe(180);
  expect(stderr).toMatch(/Left out: .*2\.mp4 contains no video/);
});

test('the rules of a watch in YAML apply, and an invalid one names its field', async () => {
  const watch = join(folder, 'watch.yaml');
  const lines = [
    'interval_seconds: 30',
    'conditions:',
    '  - condition_id: red',
    '    condition: Something red is in the picture.',
  ];
  await writeFile(watch, [...lines, '    checks_to_open: 1', '    checks_considered: 1'].join('\n'));
  const { alerts } = JSON.parse((await replay(file, '--watch', watch, '--json')).stdout);
  expect(alerts).toMatchObject([{ condition_id: 'red', opened_seconds: 60 }]);
  await writeFile(watch, 'interval_seconds: 1\nconditions: []\n');
  await expect(replay(file, '--watch', watch)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('interval_seconds'),
  });
});

test.each([
  { args: ['missing.mp4', ...condition], stderr: /missing\.mp4 does not exist/, code: 1 },
  { args: ['package.json', ...condition], stderr: /package\.json contains no video/, code: 1 },
  { args: ['package.json'], stderr: /needs a condition/, code: 1 },
  { args: ['package.json', ...condition, '--sweep', 'speed=2'], stderr: /interval=5,10,30/, code: 2 },
])('the arguments $args fail with a sentence that says what to do', async ({ args, stderr, code }) => {
  await expect(replay(...args)).rejects.toMatchObject({ code, stderr: expect.stringMatching(stderr) });
});

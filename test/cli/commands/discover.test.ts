import { execFile } from 'node:child_process';
import pc from 'picocolors';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { discover } from '../../../cli/commands/discover.ts';
import { login, startSimulator, type SimulatorOptions } from '../../support/onvif/simulator.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0)) await close();
});

async function simulate(options?: SimulatorOptions) {
  const simulator = await startSimulator(options);
  closers.push(simulator.close);
  return simulator;
}

function openFakeTerminal() {
  const printed: string[] = [];
  const noted: string[] = [];
  return {
    printed,
    noted,
    print: (line: string) => void printed.push(line),
    note: (line: string) => void noted.push(line),
    waiting: () => ({ update: () => undefined, done: () => undefined }),
    confirm: async () => false,
    color: pc.createColors(false),
    isTerminal: false,
  };
}

const allowRanges = ['127.0.0.0/8'];
const none = { address: undefined, user: undefined };

describe('watchpost discover', () => {
  test('cameras are listed with address, name and hardware', async () => {
    const { address, udpPort, setTimer } = await simulate();
    const terminal = openFakeTerminal();
    await discover(none, { allowRanges }, terminal, false, { port: udpPort, setTimer });
    expect(terminal.printed).toEqual([`${address}  Yard camera, SIM-1`]);
    expect(terminal.noted).toEqual([expect.stringContaining('discover ADDRESS --user NAME')]);
  });

  test('the list is printed as JSON too', async () => {
    const { address, udpPort, setTimer } = await simulate();
    const terminal = openFakeTerminal();
    await discover(none, { allowRanges }, terminal, true, { port: udpPort, setTimer });
    expect(JSON.parse(terminal.printed.join(''))).toEqual({
      cameras: [{ address, name: 'Yard camera', hardware: 'SIM-1' }],
      outside: [],
    });
  });

  test('the command asks nothing without allowed ranges, and its error names a range', async () => {
    const { udpPort, setTimer, probes } = await simulate();
    await expect(
      discover(none, { allowRanges: [] }, openFakeTerminal(), false, { port: udpPort, setTimer }),
    ).rejects.toMatchObject({
      message: 'No ranges are allowed',
      remediation: expect.stringMatching(/--allow-ranges [\d.]+\/\d+$/),
    });
    expect(probes).toEqual([]);
  });

  test('a network without cameras is an error with the next steps', async () => {
    const { udpPort, setTimer } = await simulate({ datagrams: () => [] });
    await expect(
      discover(none, { allowRanges }, openFakeTerminal(), false, { port: udpPort, setTimer }),
    ).rejects.toMatchObject({
      message: 'No camera answered',
      remediation: expect.stringContaining('Enable ONVIF'),
    });
  });

  test('an address outside of the allowed ranges is refused with the option that allows it', async () => {
    const reading = discover(
      { address: '192.168.1.20:8000', user: 'watcher' },
      { allowRanges },
      openFakeTerminal(),
      false,
    );
    await expect(reading).rejects.toMatchObject({
      remediation: 'Allow it with --allow-ranges 127.0.0.0/8,192.168.1.20/32',
    });
  });

  test('the streams of a camera are printed without the password, with the way to use them', async () => {
    vi.stubEnv('WATCHPOST_CAMERA_PASSWORD', login.password);
    const { address } = await simulate({ clockOffsetSeconds: -7200 });
    const terminal = openFakeTerminal();
    await discover({ address, user: login.username }, { allowRanges }, terminal, false);
    expect(terminal.printed).toEqual([
      'main H265 2560×1440',
      '  stream    rtsp://127.0.0.1:8554/live?channel=1&stream=2',
      '  snapshot  http://127.0.0.1/snapshot.jpg',
      'sub H264 640×360',
      '  stream    rtsp://127.0.0.1:8554/live?channel=1&stream=2',
      '  snapshot  http://127.0.0.1/snapshot.jpg',
    ]);
    expect(terminal.noted[0]).toContain('rtsp://watcher:PASSWORD@127.0.0.1:8554/live');
    expect(terminal.noted[1]).toMatch(/clock of the camera differs by -(7200|7201) s/);
    expect([...terminal.printed, ...terminal.noted].join()).not.toContain(login.password);
  });
});

test('the process of the command reads the password from standard input and has no option for it', async () => {
  const { address } = await simulate();
  const run = async (options: string[], input: string) =>
    new Promise<{ output: string; code: number | null }>((resolve) => {
      const child = execFile(
        process.execPath,
        ['cli/watchpost.ts', 'discover', address, '--allow-ranges', '127.0.0.1', ...options],
        (_error, stdout, stderr) => resolve({ output: stdout + stderr, code: child.exitCode }),
      );
      child.stdin?.end(input);
    });
  const read = await run(['--user', login.username], `${login.password}\n`);
  expect(read).toMatchObject({ code: 0, output: expect.stringContaining('rtsp://127.0.0.1:8554/live') });
  expect(read.output).not.toContain(login.password);
  expect(await run(['--user', login.username], '')).toMatchObject({
    code: 1,
    output: expect.stringContaining('The password is missing'),
  });
  expect(await run(['--password', 'secret'], '')).toMatchObject({ code: 2 });
});

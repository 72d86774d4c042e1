import { expect, test } from 'vitest';
import { RtspLimitError, rtspStreamError } from '../../../../../adapters/media/rtsp/protocol/errors.ts';
import { createWorkLimit } from '../../../../../adapters/media/rtsp/connection/rtsp-client.ts';

function manualClocks() {
  const clock = { elapsedMs: 0, workMs: 0 };
  const admits = createWorkLimit({ elapsedMs: () => clock.elapsedMs, workMs: () => clock.workMs });
  return {
    /** Lets time pass, and then works. */
    spend: (waitMs: number, workMs: number, interruptedMs = 0) => {
      clock.elapsedMs += waitMs;
      return admits(() => void ((clock.workMs += workMs), (clock.elapsedMs += workMs + interruptedMs)));
    },
  };
}

test('a connection that costs a hundredth of a core is never ended', () => {
  const { spend } = manualClocks();
  for (let round = 0; round < 10_000; round += 1) expect(spend(99, 1)).toBe(true);
});

test('a connection may cost a second of work without a pause, and ends above a twentieth of a core', () => {
  const { spend } = manualClocks();
  expect(spend(0, 900)).toBe(true);
  expect(spend(0, 200)).toBe(false);
  const steady = manualClocks();
  let rounds = 0;
  while (steady.spend(90, 10)) rounds += 1;
  expect(rounds).toBeGreaterThan(150);
  expect(rounds).toBeLessThan(250);
});

test('a connection is not ended for the time for which its work waited for the processor', () => {
  const { spend } = manualClocks();
  for (let round = 0; round < 1000; round += 1) expect(spend(50, 1, 49)).toBe(true);
  expect(spend(0, 400, 10_000)).toBe(true);
  expect(spend(0, 1000)).toBe(false);
});

test('a machine that pauses for seconds during the first work ends no connection', () => {
  const { spend } = manualClocks();
  expect(spend(0, 1, 10_000)).toBe(true);
  for (let round = 0; round < 10; round += 1) expect(spend(3_000, 1, 3_000)).toBe(true);
  expect(spend(0, 1_100)).toBe(false);
});

test('the error of a connection that costs too much names the cause and what to do', () => {
  const target = {
    url: 'rtsp://camera.example/',
    shownUrl: 'rtsp://camera.example/',
    host: 'camera.example',
    port: 554,
    isSecure: false,
    isTunnelled: false,
    credentials: null,
  };
  expect(rtspStreamError(new RtspLimitError('too much'), target)).toMatchObject({
    code: 'STREAM_FETCH_FAILED',
    remediation: expect.stringContaining('Use a stream of lower bit rate'),
  });
});

import { expect, test } from 'vitest';
import { DemoWait } from '../../../cli/commands/demo.ts';

function demoWait(load: number) {
  let nowMs = 0;
  const wait = new DemoWait({ nowMs: () => nowMs, load: () => load });
  return (seconds: number, news = 0) => {
    nowMs = seconds * 1000;
    return wait.next(news);
  };
}

test('the demo waits for minutes as long as checks arrive, and ends a minute after the last one or after 15 minutes', () => {
  const at = demoWait(50);
  for (let seconds = 50; seconds <= 600; seconds += 50) expect(at(seconds, 1).ends).toBe(false);
  expect(at(659).ends).toBe(false);
  expect(at(660).ends).toBe(true);
  expect(at(899, 1).ends).toBe(false);
  expect(at(900, 1).ends).toBe(true);
});

test('the demo says after 45 s, and then from time to time, that the machine is busy', () => {
  const at = demoWait(50);
  expect(at(44, 1)).toEqual({ ends: false });
  expect(at(45).reason).toMatch(
    /^The machine is busy \(load 50\.0 on \d+ cores\)\. Waiting since 45 s, last check 1 s ago\.$/,
  );
  expect(at(60, 1)).toEqual({ ends: false });
  expect(at(90).reason).toContain('last check 30 s ago');
  const idle = demoWait(0);
  expect(idle(45, 1).reason).toMatch(/^Checks take long \(load 0\.0/);
});

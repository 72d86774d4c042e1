import { expect, test } from 'vitest';
import { addAdvise } from '../../../cli/commands/advise.ts';
import { runCommand } from '../../support/run-command.ts';

async function advise(...args: string[]) {
  return runCommand(addAdvise, 'advise', ...args, '--vision', 'pixel');
}

test('the command advise prints doubts, a clearer wording and settings', async () => {
  const { stdout } = await advise('Alert me when something red is in the picture for 5 minutes');
  expect(stdout).toContain('not a request');
  expect(stdout).toContain('Suggested: "Something red is in the picture."');
  expect(stdout).toContain(
    'Check every 10 s, mode frames; 2 of 3 checks open an alert after 300 s (open_after_seconds).',
  );
  expect(stdout).toContain(
    'About 8640 model calls a day with objects: $0.00; with confirming checks and motion at most 86400.',
  );
  expect(stdout).toContain(
    'With look_back, the default of watches: about 34560 calls with 34560 frames: $0.00; at most 345600.',
  );
});

test('the command advise names what the model in use cannot judge', async () => {
  const { findings } = JSON.parse((await advise('A parcel is at the door.', '--json')).stdout);
  expect(findings).toEqual([
    { code: 'model_cannot_judge', message: expect.stringMatching(/cannot judge this.*'parcel'/) },
    { code: 'place_not_judged', message: expect.stringContaining('"at the door"') },
  ]);
});

test('the command advise refuses a blank condition', async () => {
  await expect(advise(' ')).rejects.toMatchObject({ code: 2 });
});

import { expect, test } from 'vitest';
import { VisionError } from '../../../core/vision-errors.ts';
import { createMonitor } from '../../support/create-jobs.ts';
import { createWorld, monitorRequest } from '../../support/world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

const tokens = { input_tokens: 7, output_tokens: 2 };

test.each([
  ['judges', async () => ({ triggered: false, explanation: 'No.', tokens }), { checks_performed: 1 }],
  [
    'cannot judge its condition',
    async () => ({ triggered: false, judged: false, explanation: 'Unclear.', tokens }),
    { checks_performed: 0, checks_missed: 0 },
  ],
  [
    'gives an answer that is not usable',
    async () => {
      throw new VisionError('Try again.', { calls: [{ ...tokens, failed: true }] });
    },
    { checks_performed: 0, checks_missed: 1 },
  ],
] as const)(
  'a check whose model %s counts as performed only with a verdict, and its tokens in any case',
  async (_, judge, counts) => {
    const world = createWorld();
    world.c.vision = { ...world.c.vision, judge: judgingEach(judge) };
    const job = await createMonitor(monitorRequest(), 'harbour', world.c);
    await world.tick(await world.begin({ run_id: job.run_id, generation: 0 }));
    const { counters } = (await world.jobs.get(job.run_id, world.clock.now))!;
    expect(counters).toMatchObject({ ...counts, ...tokens, frames_captured: 1 });
  },
);

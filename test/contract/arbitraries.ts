import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import type { NewEvent } from '../../core/records/event.ts';
import type { Job } from '../../core/records/job.ts';
import { anyText } from '../support/any-text.ts';
import { newJob, progress } from './records.ts';

/** Arbitrary texts, and numbers at the ends of their ranges. */
const text = anyText({ maxLength: 200 });
const count = fc.maxSafeNat();
const timestamp = fc
  .date({ min: new Date('1971-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());

export const jobs: fc.Arbitrary<Job> = fc
  .record({
    condition: text,
    streamUrl: text,
    webhookUrl: fc.option(text),
    maxTriggers: fc.option(fc.integer({ min: 1 })),
    tokens: count,
    gapSeconds: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    gap: fc.record({ from: timestamp, to: timestamp, reason: fc.constantFrom('stream', 'stale', 'model') }),
    failure: fc.option(fc.record({ code: text, message: text, remediation: text })),
    createdAt: timestamp,
  })
  .map((any) => {
    const job = newJob();
    return {
      ...job,
      run_id: randomUUID(),
      created_at: any.createdAt,
      stream_url: any.streamUrl,
      webhook_url: any.webhookUrl,
      config: { ...job.config, condition: any.condition, max_triggers: any.maxTriggers },
      counters: { ...job.counters, input_tokens: any.tokens },
      sight: { ...job.sight, gap_seconds: any.gapSeconds, gaps: [any.gap] },
      failure: any.failure,
    };
  });

export const progressEvents: fc.Arbitrary<NewEvent> = fc
  .record({ explanation: text, motion: fc.option(fc.double({ min: 0, max: 1, noNaN: true })) })
  .map(({ explanation, motion }) => {
    if (progress.type !== 'progress') throw new Error('Not progress');
    // JSON has no negative zero.
    return {
      ...progress,
      data: { ...progress.data, explanation, motion: motion === null ? null : motion + 0 },
    };
  });

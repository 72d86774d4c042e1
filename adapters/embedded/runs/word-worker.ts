import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import type { MomentSpan } from '../../../core/ports/moment-store.ts';
import { openForReading } from '../sqlite/database.ts';
import { countMoments, findWords } from './moment-words.ts';

// Thread that searches moments: a search in a million takes too long for the event loop. It only reads.

const watch = z.object({ watchId: z.string(), from: z.date() });
const span: z.ZodType<MomentSpan> = z.object({ caller: z.string(), watches: z.array(watch), to: z.date() });
const stems = z.object({ own: z.array(z.string()).readonly(), added: z.array(z.string()).readonly() });
const requestSchema = z.object({
  id: z.number(),
  span,
  /** Absent: the moments are counted. */
  words: z.object({ stems, limit: z.number() }).optional(),
  now: z.date(),
});
export type WordRequest = z.infer<typeof requestSchema>;

const database = openForReading(z.string().parse(workerData), { verify: false });

parentPort?.on('message', (message: unknown) => {
  const { id, span: searched, words, now } = requestSchema.parse(message);
  try {
    const value = words
      ? findWords(database, searched, words.stems, words.limit, now)
      : countMoments(database, searched, now);
    parentPort?.postMessage({ id, value });
  } catch (error) {
    parentPort?.postMessage({ id, error: String(error) });
  }
});

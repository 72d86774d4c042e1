import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { TransientError } from '../../../core/errors.ts';
import type { MomentStore, WordMatches } from '../../../core/ports/moment-store.ts';
import { setSystemTimer, type SetTimer, waitAtMost } from '../../../core/time-limit.ts';
import { databaseFile } from '../sqlite/database.ts';
import { withStorageErrors } from '../sqlite/transaction.ts';
import { countMoments, findWords } from './moment-words.ts';
import type { WordRequest } from './word-worker.ts';

type WordReader = Pick<MomentStore, 'words' | 'count'>;

const matchesSchema: z.ZodType<WordMatches> = z.object({
  matches: z.array(
    z.object({
      moment_id: z.string(),
      watch_id: z.string(),
      at: z.string(),
      score: z.number(),
      denies: z.boolean(),
      denied_at: z.string().nullable(),
    }),
  ),
  read: z.number(),
  readFrom: z.string().nullable(),
});
const answerSchema = z.object({
  id: z.number(),
  value: z.union([matchesSchema, z.number()]).optional(),
  error: z.string().optional(),
});
type Pending = { resolve: (value: unknown) => void; reject: (error: Error) => void };

/** Time after which a search in words is given up, in milliseconds: a response has 25 s. */
const maxSearchMs = 12_000;

/**
 * Creates the search in moments. A database in a file is read in a thread, which starts with the first search; one in
 * memory has no other connection.
 */
export function createWordReader(database: DatabaseSync, setTimer = setSystemTimer): WordReader {
  const path = databaseFile(database);
  if (path === null)
    return {
      words: async (...search) => withStorageErrors(() => findWords(database, ...search)),
      count: async (span, now) => withStorageErrors(() => countMoments(database, span, now)),
    };
  const ask = createThread(path, setTimer);
  return {
    words: async (span, stems, limit, now) =>
      matchesSchema.parse(await ask({ span, words: { stems, limit }, now })),
    count: async (span, now) => z.number().parse(await ask({ span, now })),
  };
}

/**
 * Creates a function that asks a thread, which starts again after a failure and after a request that takes too long.
 */
function createThread(
  path: string,
  setTimer: SetTimer,
): (request: Omit<WordRequest, 'id'>) => Promise<unknown> {
  const pending = new Map<number, Pending>();
  let thread: Worker | undefined;
  let lastId = 0;

  function fail(reason: string): void {
    thread = undefined;
    for (const { reject } of pending.values())
      reject(new TransientError(`The search in moments has stopped: ${reason}`));
    pending.clear();
  }

  function start(): Worker {
    const started = new Worker(new URL('word-worker.ts', import.meta.url), { workerData: path });
    started.on('error', (error) => fail(String(error)));
    started.on('exit', (code) => (thread === started ? fail(`exit code ${code}`) : undefined));
    started.on('message', (message: unknown) => {
      const { id, value, error } = answerSchema.parse(message);
      const call = pending.get(id);
      pending.delete(id);
      if (pending.size === 0) started.unref();
      if (error === undefined) call?.resolve(value);
      else call?.reject(new TransientError(`The search in moments failed: ${error}`));
    });
    return started;
  }

  return async (request) => {
    thread ??= start();
    thread.ref();
    lastId += 1;
    const id = lastId;
    const answer = Promise.withResolvers<unknown>();
    pending.set(id, answer);
    thread.postMessage({ id, ...request });
    const asked = thread;
    return waitAtMost(
      maxSearchMs,
      answer.promise,
      () => {
        if (thread === asked) fail('it took too long');
        void asked.terminate();
        return answer.promise;
      },
      setTimer,
    );
  };
}

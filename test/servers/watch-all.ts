import type { ServiceProcess } from '../support/service-process.ts';
import { UnavailableError } from './install.ts';
import type { OpenServer, Server, Stream } from './processes.ts';
import { watchStream, type Result } from './watch.ts';

type WatchOptions = {
  folder: string;
  service: ServiceProcess;
  /** Duration of each monitor. */
  seconds: number;
  /** Streams that are watched at the same time. */
  atOnce: number;
  /** Part of the names of the streams to watch. */
  part: string;
};

/** Results in the order of servers and their streams, with the servers that could not be had. */
export type Watched = { results: Result[]; unavailable: { server: string; reason: string }[] };

/** Watches the streams of servers. A server opens before its first stream, and closes after its last one. */
export async function watchAll(servers: readonly Server[], options: WatchOptions): Promise<Watched> {
  const turns = createTurns(options.atOnce);
  const unavailable = new Map<string, string>();
  const skip = (server: string, error: unknown) => {
    const isUnavailable = error instanceof UnavailableError;
    const reason = error instanceof Error ? error.message : String(error);
    unavailable.set(server, reason);
    process.stdout.write(`${isUnavailable ? 'SKIPPED' : 'FAILED'} ${server}: ${reason}\n`);
    if (!isUnavailable) process.exitCode = 1;
    return undefined;
  };
  const pending: Promise<(Result | undefined)[]>[] = [];
  for (const { name, open } of servers) {
    // One after another: they install what they need.
    const server: OpenServer | undefined = await open(options.folder).catch((error) => skip(name, error));
    if (!server) continue;
    const watched: Promise<Result | undefined>[] = [];
    for (const stream of server.streams.filter((each) => each.name.includes(options.part))) {
      await turns.take();
      const result = watchOne(name, stream, options).catch((error) => skip(`${name}, ${stream.name}`, error));
      watched.push(result.finally(turns.give));
    }
    pending.push(Promise.all(watched).finally(() => server.close()));
  }
  const results = (await Promise.all(pending)).flat().filter((result) => result !== undefined);
  return { results, unavailable: [...unavailable].map(([server, reason]) => ({ server, reason })) };
}

async function watchOne(server: string, stream: Stream, { service, seconds }: WatchOptions): Promise<Result> {
  const result = await watchStream(server, stream, service, seconds);
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${JSON.stringify(result)}\n`);
  return result;
}

function createTurns(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    take: async () => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    give: () => {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    },
  };
}

import { fork } from 'node:child_process';
import { once } from 'node:events';

/** Live stream in a separate process. */
export type StreamServer = {
  port: number;
  /** Time of its first frame, by the clock of this machine. */
  startedAtMs: number;
  close(): Promise<void>;
};

/** Starts a stream server and waits until it is ready. */
export async function startStreamServer(script: string, args: string[]): Promise<StreamServer> {
  const child = fork(new URL(script, import.meta.url), args);
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit').then(diedEarly)]);
  const { port, startedAtMs }: { port: number; startedAtMs: number } = message;
  return {
    port,
    startedAtMs,
    close: async () => {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

function diedEarly(): never {
  throw new Error('The stream server ended at its start');
}

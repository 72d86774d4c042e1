import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A live stream in a process of its own. */
export type StreamServer = {
  port: number;
  /** When its first frame was taken, by this machine's clock. */
  startedAtMs: number;
  close(): Promise<void>;
};

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
  throw new Error('The server of the stream ended at its start');
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const addressesSchema = z.object({ hls: z.string(), rtsp: z.string() });

/** Starts the streams of `scene-process.ts`. Their encoders end with the process, because its pipes close. */
export async function startScene(ffmpegPath: string, roundSeconds: number) {
  const file = join(import.meta.dirname, 'scene-process.ts');
  const child = spawn(process.execPath, [file, ffmpegPath, String(roundSeconds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => Promise.reject(new Error('The streams ended before they began.'))),
  ]);
  return {
    pid: child.pid,
    urls: addressesSchema.parse(JSON.parse(String(line))),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
}

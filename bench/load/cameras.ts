import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Starts up to `streams` HLS streams of `cameras-process.ts`. Returns their base URL, and the process, whose processor time does not count. */
export async function startCameras(ffmpegPath: string, streams: number) {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'cameras-process.ts'), ffmpegPath, String(streams)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [address] = await once(createInterface(child.stdout), 'line');
  return {
    pid: child.pid,
    cameraUrl: (index: number, picture: 'moving' | 'still' = 'moving') =>
      `${String(address)}/${picture}-${index}/live.m3u8`,
    [Symbol.dispose]: () => void child.kill(),
  };
}

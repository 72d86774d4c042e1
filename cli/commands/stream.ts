import { once } from 'node:events';
import { CommandError } from '../command-error.ts';
import { startLiveHls } from '../demo/live-hls.ts';
import type { LiveHlsOptions } from '../demo/live-hls.ts';
import { sceneArguments } from '../demo/scene.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import type { Terminal } from '../terminal.ts';

/** Period of the scene, in seconds. Half of it exceeds two minimum intervals, so that a monitor soon sees both states. */
const roundSeconds = 24;

/** Serves a test stream until SIGTERM or SIGINT (`watchpost stream`). Throws `CommandError` if the port is in use. */
export async function stream(options: { port: number; ffmpeg: string }, terminal: Terminal): Promise<void> {
  const ffmpeg = await ensureFfmpeg(options.ffmpeg, process.env, terminal);
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  const live = await publish({
    ffmpegPath: ffmpeg.path,
    inputArgs: sceneArguments({ signAfterSeconds: roundSeconds / 2, roundSeconds, startsAt: new Date() }),
    segmentSeconds: 1,
    host: '127.0.0.1',
    port: options.port,
  });
  terminal.print(`Live stream of a yard: ${live.url}`);
  terminal.print(
    `A red stop sign arrives every ${roundSeconds} s and is absent half of the time. Press Ctrl+C to stop.`,
  );
  await stopped;
  await live.close();
}

async function publish(options: LiveHlsOptions) {
  try {
    return await startLiveHls(options);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    throw new CommandError(`Port ${options.port} is in use`, 'Use another port, such as --port 9010.', {
      cause: error,
    });
  }
}

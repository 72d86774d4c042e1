import { once } from 'node:events';
import { CommandError } from '../command-error.ts';
import { startLiveHls } from '../demo/live-hls.ts';
import type { LiveHlsOptions } from '../demo/live-hls.ts';
import { sceneArguments } from '../demo/scene.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import type { Terminal } from '../terminal.ts';

/** Half of it is longer than two checks at the shortest interval: whoever starts a monitor sees both sides, and soon. */
const roundSeconds = 24;

/** `watchpost stream`: a live stream for trying things, until SIGTERM or SIGINT. Throws `CommandError` where the port is taken. */
export async function stream(wish: { port: number; ffmpeg: string }, terminal: Terminal): Promise<void> {
  const ffmpeg = await ensureFfmpeg(wish.ffmpeg, process.env, terminal);
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  const live = await publish({
    ffmpegPath: ffmpeg.path,
    inputArgs: sceneArguments({ carAfterSeconds: roundSeconds / 2, roundSeconds, startsAt: new Date() }),
    segmentSeconds: 1,
    host: '127.0.0.1',
    port: wish.port,
  });
  terminal.print(`A live stream of a yard: ${live.url}`);
  terminal.print(`A red car drives in every ${roundSeconds} s and is gone half of the time. Ctrl+C ends it.`);
  await stopped;
  await live.close();
}

async function publish(options: LiveHlsOptions) {
  try {
    return await startLiveHls(options);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    throw new CommandError(`Port ${options.port} is taken`, 'Give another one: --port 9010.', {
      cause: error,
    });
  }
}

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { CommandError } from '../command-error.ts';
import { startLiveHls } from '../demo/live-hls.ts';
import type { LiveHlsOptions } from '../demo/live-hls.ts';
import { sceneArguments } from '../demo/scene.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import type { Terminal } from '../terminal.ts';
import { Option } from 'commander';
import type { Command } from 'commander';
import { z } from 'zod';
import { addSettings } from '../settings.ts';
import { between, parseSettings } from '../parse-options.ts';

/** Adds `watchpost stream`. */
export function addStream(program: Command, terminal: Terminal): void {
  addSettings(program.command('stream [video]'), ['ffmpeg'])
    .description(
      'serve a live test stream: a yard in which a red stop sign arrives and leaves, a recording in a loop, or a camera of this machine such as /dev/video0',
    )
    .addOption(
      new Option('--port <port>', 'port of the stream; 0 selects a free port')
        .default(9000)
        .argParser(between(0, 65_535)),
    )
    .action(async (video: string | undefined, raw: unknown) => {
      const { port, ffmpeg } = z.object({ port: z.number(), ffmpeg: z.string().optional() }).parse(raw);
      await stream({ port, video, ffmpeg: parseSettings({ ffmpeg }).ffmpeg }, terminal);
    });
}

/**
 * Period of the scene, in seconds. Half of it exceeds two minimum intervals, so that a monitor soon sees both states.
 */
const roundSeconds = 24;
/** Segments of the playlist, a second each: a scan of the default interval finds all of its time. */
const listedSegments = 16;
const giveVideo = 'Give a recording, or a camera such as /dev/video0.';

/** Arguments of `watchpost stream`. `video`: a recording or a camera of this machine; without it a drawn scene. */
export type StreamOptions = { port: number; ffmpeg: string; video?: string | undefined };

/**
 * Serves a test stream until SIGTERM or SIGINT (`watchpost stream`). Throws `CommandError` if the port is in use or the
 * video is not there.
 */
export async function stream(options: StreamOptions, terminal: Terminal): Promise<void> {
  const { video } = options;
  if (video !== undefined && !existsSync(video))
    throw new CommandError(`There is no file ${video}`, giveVideo);
  const ffmpeg = await ensureFfmpeg(options.ffmpeg, process.env, terminal);
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  const inputArgs =
    video === undefined
      ? sceneArguments({ signAfterSeconds: roundSeconds / 2, roundSeconds, startsAt: new Date() })
      : videoArguments(video);
  const live = await publish(
    {
      ffmpegPath: ffmpeg.path,
      inputArgs,
      segmentSeconds: 1,
      listedSegments,
      host: '127.0.0.1',
      port: options.port,
    },
    video,
  );
  terminal.print(`Live stream of ${video ?? 'a yard'}: ${live.url}`);
  if (video === undefined)
    terminal.print(`A red stop sign arrives every ${roundSeconds} s and is absent half of the time.`);
  terminal.print(
    'It is HLS, also in a browser. An RTSP camera has an address of its own: watchpost discover.',
  );
  terminal.print('Press Ctrl+C to stop.');
  await stopped;
  await live.close();
}

/** Returns the ffmpeg arguments of a camera of this machine (Linux: `/dev/video0`), or of a recording in a loop. */
export function videoArguments(video: string): string[] {
  const input = video.startsWith('/dev/') ? ['-f', 'v4l2'] : ['-re', '-stream_loop', '-1'];
  // The encoder needs even sizes.
  return [...input, '-i', video, '-map', '0:v:0', '-vf', "scale='trunc(min(1280,iw)/2)*2':-2"];
}

async function publish(options: LiveHlsOptions, video: string | undefined) {
  try {
    return await startLiveHls(options);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      throw new CommandError(`Port ${options.port} is in use`, 'Use another port, such as --port 9010.', {
        cause: error,
      });
    if (video === undefined || !(error instanceof Error)) throw error;
    throw new CommandError(`${video} cannot be played: ${error.message}`, giveVideo, { cause: error });
  }
}

import { startLiveHls } from '../../cli/demo/live-hls.ts';
import type { LiveHls } from '../../cli/demo/live-hls.ts';

/** Starts a live stream from a source of ffmpeg. */
export function liveHls(source: string): Promise<LiveHls> {
  return startLiveHls({
    ffmpegPath: process.env['WATCHPOST_FFMPEG'] ?? 'ffmpeg',
    inputArgs: ['-re', '-f', 'lavfi', '-i', source],
    segmentSeconds: 1,
    host: '127.0.0.1',
  });
}

import { startLiveHls } from '../../../cli/demo/live-hls.ts';
import type { LiveHls } from '../../../cli/demo/live-hls.ts';
import { startRtspServer } from '../../../cli/demo/rtsp-server.ts';
import { servePlaylists } from './playlists.ts';

/** Addresses of streams that the service can reach; what is not there is empty, and cases that need it are skipped. */
export type Streams = {
  /** Live, and moving. */
  live: string;
  /** Live over RTSP. */
  rtsp: string;
  /** Live, with noise and nothing that moves. */
  still: string;
  /** A recording. */
  recording: string;
  /** Live by its playlist, without pictures. */
  broken: string;
  /** A playlist that is not there. */
  offline: string;
  /** Live on video-sharing and game-streaming platforms. */
  platforms: string[];
  /** A live stream that its case may end. */
  startMortal(): Promise<LiveHls>;
};

type Source = { url: string; close: () => Promise<void> };

export type OwnStreams = { streams: Streams; close(): Promise<void> };

const host = '127.0.0.1';
const pictures = 'size=320x180:rate=10';
const moving = `testsrc2=${pictures}`;
const still = `color=0x8a8f7a:${pictures},noise=alls=8:allf=t`;

/** Live streams by ffmpeg on loopback, for a service that may reach it. */
export async function startOwnStreams(ffmpegPath: string): Promise<OwnStreams> {
  await using cleanup = new AsyncDisposableStack();
  const begun = async (starting: Promise<Source>): Promise<string> => {
    const { url, close } = await starting;
    cleanup.defer(close);
    return url;
  };
  const live = await begun(hls(ffmpegPath, moving));
  const quiet = await begun(hls(ffmpegPath, still));
  const rtsp = await begun(
    startRtspServer({ ffmpegPath, inputArgs: source(moving), path: '/live', keyFrameEvery: 10 }),
  );
  const playlists = await servePlaylists(host);
  cleanup.defer(() => playlists.close());
  const stack = cleanup.move();
  return {
    streams: {
      live,
      still: quiet,
      rtsp,
      recording: playlists.recording,
      broken: playlists.broken,
      offline: playlists.offline,
      platforms: [],
      startMortal: () => hls(ffmpegPath, moving),
    },
    close: () => stack.disposeAsync(),
  };
}

function hls(ffmpegPath: string, filter: string): Promise<LiveHls> {
  return startLiveHls({ ffmpegPath, inputArgs: source(filter), segmentSeconds: 1, host });
}

function source(filter: string): string[] {
  return ['-re', '-f', 'lavfi', '-i', filter];
}

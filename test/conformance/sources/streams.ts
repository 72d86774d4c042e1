import { startRtspServer } from '../../support/rtsp/live-camera.ts';
import { startLoop, type LoopedStream } from '../../support/hls/looped-stream.ts';
import { servePlaylists } from './playlists.ts';
import { startWebCamera, type WebCamera } from './web-camera.ts';

/** Stream URLs that the service can reach. If one is empty, its cases are skipped. */
export type Streams = {
  /** Live stream with constant motion. */
  live: string;
  /** Live RTSP stream. */
  rtsp: string;
  /** Live stream with noise and without motion. */
  still: string;
  /** Recording. */
  recording: string;
  /** Live playlist whose segments contain no video. */
  broken: string;
  /** URL that returns 404. */
  offline: string;
  /** Camera over HTTP. */
  web: WebCamera;
  /** Live streams of platforms. */
  platforms: string[];
  /** Starts a live stream that the case may end. */
  startMortal(): Promise<LoopedStream>;
};

type Source = { url: string; close: () => Promise<void> };

export type OwnStreams = { streams: Streams; close(): Promise<void> };

const host = '127.0.0.1';
const pictures = 'size=320x180:rate=10';
const moving = `testsrc2=${pictures}`;
const still = `color=0x8a8f7a:${pictures},noise=alls=8:allf=t`;

/** Starts live streams on loopback: HLS from recordings, the others with an encoder. */
export async function startOwnStreams(ffmpegPath: string): Promise<OwnStreams> {
  await using cleanup = new AsyncDisposableStack();
  const start = async (starting: Promise<Source>): Promise<string> => {
    const { url, close } = await starting;
    cleanup.defer(close);
    return url;
  };
  const live = await start(startLoop(moving, { ffmpegPath }));
  const quiet = await start(startLoop(still, { ffmpegPath }));
  const rtsp = await start(
    startRtspServer({ ffmpegPath, inputArgs: source(moving), path: '/live', keyFrameEvery: 10 }),
  );
  const web = await startWebCamera(ffmpegPath, source(moving), host);
  cleanup.defer(web.close);
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
      web: web.urls,
      platforms: [],
      startMortal: () => startLoop(moving, { ffmpegPath }),
    },
    close: () => stack.disposeAsync(),
  };
}

function source(filter: string): string[] {
  return ['-re', '-f', 'lavfi', '-i', filter];
}

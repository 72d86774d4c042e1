import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { probeRecording } from '../../../adapters/recordings/probe-recording.ts';
import { createRecordingCapturer } from '../../../adapters/recordings/recording-capturer.ts';
import { arrangeTimeline } from '../../../adapters/recordings/timeline.ts';
import type { Capture, CaptureRequest } from '../../../core/records/capture.ts';
import { ffmpegPath, openUnhurriedRunner, readMoment, record } from '../../support/hls/recording.ts';
import { mediaPlaylist, watchFiles } from '../../support/hls/watched-stream.ts';
import { openPlayedSession } from '../../support/rtsp/played-session.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';

const ffmpeg = openUnhurriedRunner();
const never = new AbortController().signal;

/** Captures a stream that has been played up to a time, in seconds. */
type CaptureAt = (seconds: number, lookBack: NonNullable<CaptureRequest['lookBack']>) => Promise<Capture>;

/** Record with a key frame every `keyFrameSeconds`. */
type Film = { keyFrameSeconds: number; segmentSeconds: number; seconds: number; groups?: 'open' };

async function replay(film: Film): Promise<CaptureAt> {
  const path = join(folderOfTest(), 'recording.ts');
  await writeFile(path, Buffer.concat((await record(film)).segments));
  const timeline = arrangeTimeline([{ path, ...(await probeRecording(ffmpegPath, path, never)) }]);
  let seconds = 0;
  const now = () => new Date(timeline.beginsAt.getTime() + seconds * 1000);
  const capturer = createRecordingCapturer({ timeline, ffmpegPath, ffmpeg, now });
  onTestFinished(() => capturer.close());
  return async (toSeconds, lookBack) => {
    seconds = toSeconds;
    const request = {
      url: 'recording',
      mode: 'frames',
      clipSeconds: 3,
      caller: 'ada',
      resolveAgain: false,
    } as const;
    return capturer.capture({ ...request, lookBack }, never);
  };
}

async function watchHls(film: Film): Promise<CaptureAt> {
  const { segments } = await record(film);
  const files = Object.fromEntries(segments.map((bytes, index) => [`/${index}.ts`, bytes]));
  const stream = await watchFiles(files, { ffmpeg });
  onTestFinished(() => stream.close());
  return (seconds, lookBack) => {
    const names = segments
      .slice(0, Math.ceil(seconds / film.segmentSeconds))
      .map((_, index) => `${index}.ts`);
    stream.files['/live.m3u8'] = mediaPlaylist(names, 0, film.segmentSeconds);
    return stream.capture('/live.m3u8', { lookBack, caller: 'ada' });
  };
}

async function watchRtsp({ keyFrameSeconds, ...film }: Film): Promise<CaptureAt> {
  const camera = await openPlayedSession(ffmpeg, { keyFrameEvery: keyFrameSeconds * 10, ...film });
  return (seconds, lookBack) => {
    camera.playTo(seconds);
    return camera.lookBack(lookBack.since);
  };
}

test.each([
  [3, 'closed', [6, 9], 3],
  [4, 'closed', [8], 4],
  [4, 'open', [8], 4],
  [5, 'closed', [6, 7, 8, 9], 1],
] as const)(
  'a scan of key frames every %i s, which begin %s groups, sees the same in a recording and in live streams',
  async (keyFrameSeconds, groups, expected, distanceSeconds) => {
    const film = {
      keyFrameSeconds,
      segmentSeconds: keyFrameSeconds,
      seconds: 17,
      ...(groups === 'open' && { groups }),
    };
    const first = keyFrameSeconds > 4 ? keyFrameSeconds : 6;
    for (const open of [replay, watchHls, watchRtsp]) {
      const captureAt = await open(film);
      const before = await captureAt(first - 0.05, { since: null });
      const { scan } = await captureAt(first + 9 - 0.05, { since: before.position.scan ?? null });
      const moments = scan!.frames.map(({ thumbnail }) => Math.round(readMoment(thumbnail)));
      expect(moments.filter((moment) => moment >= expected[0] && moment <= expected.at(-1)!)).toEqual(
        expected,
      );
      expect(Math.abs(scan!.distanceSeconds - distanceSeconds)).toBeLessThan(0.6);
    }
  },
);

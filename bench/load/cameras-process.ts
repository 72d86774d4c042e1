import { spawnSync } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

/**
 * Serves recorded 720p30 as many endless HLS streams, `/moving-N/live.m3u8` and `/still-N/live.m3u8`: no encoder runs during the measurement. Streams
 * that move begin at different places of a long recording, and still ones have a picture each, so that no two of them show the same picture at nearly the
 * same time: the service would judge it once. A process of its own, whose processor time does not count. Usage: cameras-process.ts <ffmpeg> <streams>
 */

const [ffmpegPath = 'ffmpeg', streams = '1'] = process.argv.slice(2);
process.on('disconnect', () => process.exit());
const segmentSeconds = 2;
const listed = 6;
const maxStills = 100;
/** Segments of the recording: at least 8 s between two streams, or so many streams that the service keeps no picture for that long. */
const recordedSegments = Math.max(4 * Math.min(Number(streams), 40), Number(streams));
const encoding =
  '-c:v libx264 -preset ultrafast -b:v 3M -g 60 -keyint_min 60 -sc_threshold 0 -pix_fmt yuv420p';
const cutting = `-f segment -segment_time ${segmentSeconds} -segment_format mpegts`;
const pictures = {
  moving: await record('testsrc2=size=1280x720:rate=30', recordedSegments),
  // Each segment has another picture, which one stream shows all the time.
  still: await record('testsrc2=size=1280x720:rate=1/2,fps=30', Math.min(Number(streams), maxStills)),
};

const server = createServer((request, response) => {
  const newest = Math.floor(Date.now() / 1000 / segmentSeconds);
  const [, picture, stream, wanted] = /^\/(still|moving)-(\d+)\/(\d+)\.ts$/.exec(request.url ?? '') ?? [];
  if (wanted !== undefined) {
    const { still, moving } = pictures;
    const begin = Math.floor((Number(stream) * moving.length) / Number(streams));
    response
      .setHeader('Content-Type', 'video/mp2t')
      .end(
        picture === 'still'
          ? still[Number(stream) % still.length]
          : moving[(begin + Number(wanted)) % moving.length],
      );
    return;
  }
  const first = newest - listed;
  const entries = Array.from(
    { length: listed },
    (_, index) => `#EXTINF:${segmentSeconds},\n${first + index}.ts`,
  );
  response
    .setHeader('Content-Type', 'application/vnd.apple.mpegurl')
    .end(
      `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:${segmentSeconds}\n#EXT-X-MEDIA-SEQUENCE:${first}\n${entries.join('\n')}\n`,
    );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.(`http://127.0.0.1:${address.port}`);
});

async function record(graph: string, count: number): Promise<Buffer[]> {
  using temporary = openTemporaryFolder('watchpost-cameras-');
  const folder = temporary.path;
  const options = `-loglevel error -f lavfi -i ${graph} -t ${count * segmentSeconds} ${encoding} ${cutting}`;
  spawnSync(ffmpegPath, [...options.split(' '), join(folder, '%03d.ts')]);
  const names = (await readdir(folder)).toSorted();
  const segments = await Promise.all(names.map((name) => readFile(join(folder, name))));
  return segments;
}

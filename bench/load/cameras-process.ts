import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Serves 20 s of recorded 720p30 as many endless HLS streams, `/moving-N/live.m3u8` and
 * `/still-N/live.m3u8`: no encoder runs during the measurement. A process of its own, whose processor time does not count. Usage: cameras-process.ts <ffmpeg>
 */

const [ffmpegPath = 'ffmpeg'] = process.argv.slice(2);
const segmentSeconds = 2;
const listed = 6;
const encoding =
  '-t 20 -c:v libx264 -preset ultrafast -b:v 3M -g 60 -keyint_min 60 -sc_threshold 0 -pix_fmt yuv420p';
const cutting = `-f segment -segment_time ${segmentSeconds} -segment_format mpegts`;
const pictures = {
  moving: await record('testsrc2=size=1280x720:rate=30'),
  still: await record('smptehdbars=size=1280x720:rate=30'),
};

const server = createServer((request, response) => {
  const newest = Math.floor(Date.now() / 1000 / segmentSeconds);
  const segments = request.url?.startsWith('/still-') ? pictures.still : pictures.moving;
  const wanted = /\/(\d+)\.ts$/.exec(request.url ?? '')?.[1];
  if (wanted !== undefined) {
    response.setHeader('Content-Type', 'video/mp2t').end(segments[Number(wanted) % segments.length]);
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
  if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}`);
});

async function record(graph: string): Promise<Buffer[]> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-cameras-'));
  const options = `-loglevel error -f lavfi -i ${graph} ${encoding} ${cutting}`;
  spawnSync(ffmpegPath, [...options.split(' '), join(folder, '%03d.ts')]);
  const names = (await readdir(folder)).toSorted();
  const segments = await Promise.all(names.map((name) => readFile(join(folder, name))));
  await rm(folder, { recursive: true, force: true });
  return segments;
}

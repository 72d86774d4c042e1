/**
 * Serves a recorded film as live HLS streams in real time: `node hls-process.ts FOLDER NAME:SEGMENT_SECONDS:HEIGHT[+HEIGHT…] …`. `/NAME/master.m3u8` lists
 * the renditions. A name that ends in `~2` is a copy of a recording. Answers each message with the bytes that it has sent. A process of its own, whose processor time does not count.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';

const [folder = '', ...streams] = process.argv.slice(2);
const windowSegments = 6;
const startedAtMs = Date.now();
const bytes: Record<string, number> = {};
const segmentSeconds = new Map<string, number>();
const heights = new Map<string, string[]>();
for (const stream of streams) {
  const [name = '', seconds = '2', listed = ''] = stream.split(':');
  segmentSeconds.set(name, Number(seconds));
  heights.set(name, listed.split('+'));
}

const server = createServer((request, response) => void answer(request.url ?? '', response));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(JSON.stringify({ port: typeof address === 'object' ? address?.port : 0, startedAtMs }));
});
process.on('message', () => process.send?.(JSON.stringify(bytes)));
process.on('disconnect', () => process.exit());

async function answer(path: string, response: ServerResponse): Promise<void> {
  const [, name = '', rendition = '', file = ''] = path.split('/');
  const content =
    rendition === 'master.m3u8'
      ? multivariant(name)
      : file === 'live.m3u8'
        ? playlist(segmentSeconds.get(name) ?? 2)
        : await readFile(join(folder, name.replace(/~\d+$/, ''), rendition, file)).catch(() => null);
  bytes[name] = (bytes[name] ?? 0) + (content?.length ?? 0);
  response.writeHead(content === null ? 404 : 200).end(content);
}

function multivariant(name: string): string {
  const variants = (heights.get(name) ?? []).map((height) => {
    const width = (Number(height) * 16) / 9;
    return `#EXT-X-STREAM-INF:BANDWIDTH=${Number(height) * 2000},RESOLUTION=${width}x${height}\n${height}/live.m3u8`;
  });
  return ['#EXTM3U', ...variants, ''].join('\n');
}

/** Returns the playlist. A segment is available once its last frame is. */
function playlist(seconds: number): string {
  const newest = Math.floor((Date.now() - startedAtMs) / 1000 / seconds) - 1;
  const oldest = Math.max(0, newest - windowSegments + 1);
  const head = `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:${seconds}\n#EXT-X-MEDIA-SEQUENCE:${oldest}\n`;
  const lines = Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, at) => {
    const startsAt = new Date(startedAtMs + (oldest + at) * seconds * 1000);
    return `#EXT-X-PROGRAM-DATE-TIME:${startsAt.toISOString()}\n#EXTINF:${seconds},\n${oldest + at}.ts\n`;
  });
  return head + lines.join('');
}

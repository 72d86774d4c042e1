import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

const makers = 'new (?:Map|Set|WeakMap|WeakSet|LRUCache|Array)|create(?:Fair|Byte|FairByte)Cache';
const made = String.raw`(?:\[|\{ \w+: )?(?:(?:${makers})(?:<.*>)?\((?:\)|\{|\[\])|Object\.create\(null)`;
const modifiers = String.raw`(?:export )?(?:(?:const|let|private|protected|public|static|readonly) )*#?`;
/** Collection that starts empty: of a module, of a function, of a class or of an object. */
const collection = new RegExp(
  String.raw`^ *${modifiers}(?:[\w.]+|[[{].+[\]}])(?:: .+)?(?: =|:)\s+${made}`,
  'm',
);
const emptyList = String.raw`(?:const|let) \w+(?:: .+)? = (?:\[\]|\{\});`;
const listOfModule = new RegExp(`^(?:export )?${emptyList}`, 'm');
/** List of a function that creates an adapter: nearly all others belong to one call. */
const listOfAdapter = new RegExp(`^ {2}${emptyList}`, 'm');
const creator = /^(?:export )?(?:async )?function (?:create|open|start)\w*[^]*?^\}/gm;

function hasCollection(text: string): boolean {
  const isListed = [...text.matchAll(creator)].some(([body]) => listOfAdapter.test(body));
  return collection.test(text) || listOfModule.test(text) || isListed;
}

test.each([
  'const seen = new Map<string, number>();',
  'export const seen: Seen = new Set();',
  'const seen: Record<string, Answer> = {};',
  'let seen: string[] = [];',
  'class Reader {\n  private readonly seen = new Map<string, number>();\n}',
  'class Reader {\n  #seen = new Set<string>();\n}',
  'const state = {\n  seen: new Map<string, number>(),\n};',
  'function createReader() {\n  const seen = createFairByteCache<true>({\n    max: 1 });\n}',
  'export async function openReader() {\n  const seen: string[] = [];\n}',
  'function createReader() {\n  return () => {\n    const seen = new LRUCache({ max: 1 });\n  };\n}',
  'export const seen: Map<string, number> =\n  new Map();',
  'const [seen, known] = [new Map<string, number>(), new Set()];',
  'const { seen } = { seen: new Map<string, number>() };',
  'readWord.seen = new Map();',
  'class Reader {\n  static {\n    this.seen = new Map();\n  }\n}',
  'const seen: Record<string, Answer> = Object.create(null);',
  'const seen: string[] = new Array();',
  'const seen = new Map<string, number>([]);',
])('a new collection is found: %j', (text) => {
  expect(hasCollection(text)).toBe(true);
});

/**
 * Content and bound of each collection that lives as long as the process, by file: of all of it or of each entry in
 * bytes.
 */
const bounds: Record<string, string> = {
  'adapters/embedded/log/log.ts': 'newest entries of the log: 500 of 4 kB',
  'adapters/media/rtsp/rtsp-relay.ts': 'packets of the picture under way: 4 MB for each connection to ffmpeg',
  'adapters/media/rtsp/session/gop-buffer.ts': 'groups of pictures of a session: 32 MB, 192 MB of all',
  'adapters/vision/objects/thread-detector.ts': 'threads of the network: cores, 60 MB each',
  'cli/service/service.ts': 'what ends with the service: its parts, 200 bytes each',
  'core/delivery/address-pace.ts': 'addresses of vendors with a request in the last second, 4 kB each',
  'core/tick/pace.ts':
    'newest check of each job; waits of five seconds; use and factor by caller: jobs of the last hour; resources of the machine; callers, 200 bytes each',
  'adapters/media/stream-capturer.ts': 'addresses of playlists: 2 MB',
  'adapters/media/web/open-authenticated.ts': 'challenges of cameras by address: 40 MB',
  'core/policies/watch/schedule.ts':
    'state of each schedule; newest day of each time zone: weak; 1,000 names of 100 bytes',
  'adapters/embedded/callers/call-limiter.ts':
    'calls of the last minute by caller: `syncPerMinute` and `syncAtOnce` of each caller, 16 bytes each',
  'adapters/embedded/web/console-files.ts': 'files of the console, compressed: its files, 2 MB',
  'adapters/embedded/web/delay-refusals.ts':
    'number of delayed refusals by caller: callers with one, 200 bytes each',
  'adapters/embedded/names/lookups.ts':
    'lookups under way; failures: 60 and those that wait for a connection, 1 kB each; 1,000, 1 kB each',
  'adapters/media/rtsp/session/session-memory.ts': 'sizes of open sessions: open sessions, 200 bytes each',
  'adapters/embedded/queue/delivery-queue.ts':
    'groups that wait, handlers, failures in a row: groups with a message in the queue, 500 bytes each',
  'adapters/embedded/web/event-sessions.ts': 'open event streams: `eventStreamsPerCaller`, 100 kB each',
  'adapters/embedded/runs/word-reader.ts': 'searches under way: calls of callers, 1 kB each',
  'core/ask/ask-moments.ts': 'moments of one question: 24 of 2 kB',
  'core/backtest/stored-verdicts.ts': 'moments of one capture: 4 of 1 kB; constant',
  'core/memory/match-words.ts': 'moments of one search: 2,001 of 2 kB',
  'core/memory/rank-moments.ts': 'words of one search: 64 of 100 bytes',
  'core/memory/stems.ts': 'stems of words: 5,000 of 200 bytes',
  'adapters/embedded/sqlite/group-commit.ts': 'group of a database: weak, 1 kB for each waiting write',
  'adapters/embedded/sqlite/vacuum.ts': 'file of a database: weak, 100 bytes each',
  'adapters/embedded/log/log-signals.ts': 'readers of logs: open event streams, 500 bytes each',
  'adapters/embedded/files/media-store.ts': 'media of checks under way; path of stored bytes: 8 MB; weak',
  'adapters/embedded/callers/usage.ts': 'counts by name: providers, 200 bytes each',
  'adapters/embedded/sqlite/record.ts': 'parsed sources: 64 MB',
  'adapters/embedded/runs/run-table.ts': 'parsed runs: 64 MB',
  'adapters/embedded/load/share-captures.ts':
    'captures under way, and of the last second; pictures of scanned frames: one per stream, 32 MB each; weak, 1 MB each',
  'adapters/embedded/web/share-log-reads.ts':
    'reads of logs in this turn of the event loop: jobs with an open event stream, 100 kB each',
  'adapters/embedded/runs/job-store.ts':
    'reservations of jobs that are being created: `jobsPerCaller`, 180 s, 200 bytes each',
  'adapters/embedded/scheduler/scheduler.ts':
    'unfinished runs with the state of their last capture, and their tasks: active jobs and watches, 60 kB each',
  'adapters/egress/cookies.ts': 'cookies: 32 MB',
  'adapters/egress/guarded-http.ts':
    'connections by proxy: proxies of the settings, 64 kB each; idle connections close',
  'adapters/http/sse/job-messages.ts': 'messages of this turn of the event loop: weak, 10 kB each',
  'adapters/http/request-bodies.ts': 'bytes of open request bodies by caller: callers with one, 64 MB of all',
  'adapters/fair-queue.ts':
    'what waits, and use of the last minutes by caller: captures and calls under way, 500 bytes each; callers, 200 bytes each',
  'adapters/media/ffmpeg/decoder-pool.ts':
    'kinds of streams that failed; decoder processes: 2 MB; cores + 1, at least 8, of 16 MB',
  'adapters/media/ffmpeg/ffmpeg-pool.ts':
    'idle processes, for captures and for decoded clips: 4 each, 64 kB each',
  'adapters/media/ffmpeg/image-pool.ts':
    'processes by size of picture; decoded pictures; pictures of a process that wait: 3; 8 of 3 MB; 24 of 3 MB',
  'adapters/media/hls/playlist/playlist-budget.ts':
    'large playlists in memory by caller: callers with one, 200 bytes each; 32 MB of all',
  'adapters/media/h264/picture-check.ts': 'places of slices of a stream: open sessions, 100 kB each',
  'adapters/media/hls/playlist/find-playlist.ts': 'newest playlist of a stream: 16 MB',
  'adapters/media/clips/kept-stream.ts': 'streams of clips: `clipMb`, 128 MB',
  'adapters/media/hls/clip-hls.ts': 'clips under way: one per stream, 1 kB each',
  'adapters/media/hls/segments/fetch-segments.ts': 'keys, media initialization sections: 16 MB',
  'adapters/media/images/mask-media.ts': 'drawn regions of a capture: weak, 16 MB each',
  'adapters/media/motion/share-comparisons.ts':
    'work of a thumbnail; decoded references: weak, 500 kB each; 16 of 30 kB',
  'adapters/media/rtsp/connection/connection-turns.ts':
    'open connections; streams of cameras that refused a second one; connections of probes: concurrent captures, 1 kB each; 4 MB; 100, for 3 s, 64 kB each',
  'adapters/media/scan/frame-pictures.ts':
    'readers of the pictures of scanned frames: weak, with what their scan keeps, 12 MB of each scan',
  'adapters/media/rtsp/scan/follow-session.ts': 'thumbnails of key frames: 40 MB',
  'adapters/media/rtsp/session/kept-session.ts':
    'lengths of clips of a session; runs that follow it: ten lengths, 40 s each; watches of the stream, 500 bytes each',
  'adapters/media/rtsp/session/key-frame-store.ts': 'key frames of all sessions: 150 MB',
  'adapters/media/rtsp/session/open-sessions.ts':
    'open sessions with their newest group of pictures; those being closed: `rtspSessions` and captures under way; as many, 100 MB of all',
  'adapters/media/rtsp/session/rtsp-sessions.ts':
    'probes under way; facts of streams: probes, 1 kB each; 4 MB',
  'adapters/platforms/platform-capturer.ts': 'playlist of a page: 16 MB',
  'adapters/vision/objects/network-worker.ts': 'network: one, 60 MB',
  'adapters/vision/objects/object-moments.ts': 'decoded capture of a frame: weak, 3 MB each',
  'adapters/vision/objects/share-detections.ts': 'detections of a picture: weak, 20 kB each',
  'adapters/vision/openai/openai-vision.ts':
    'format that a server has accepted, by task: the tasks of a model, 1 kB',
  'adapters/vision/pixel/measure-picture.ts': 'facts of a picture: weak, 100 kB each',
  'cli/service/http-server.ts':
    'open responses; newest response of a connection: connections, 64 kB each; weak, 1 kB each',
  'cli/temporary-folder.ts': 'temporary folders of a command: one per command, 100 bytes',
  'adapters/fair-cache.ts': 'entries of a cache by caller: its maximum; 200 bytes for each caller',
  'adapters/byte-cache.ts': 'caches of this process: as many as have a name, 200 bytes each',
};

/** Files whose collections belong to one call, one capture or one connection. */
const ofOneCall = [
  'adapters/embedded/scheduler/tick-loop.ts',
  'adapters/media/h264/coded-picture.ts',
  'adapters/media/hls/playlist/playlist.ts',
  'adapters/media/mpeg-ts/psi.ts',
  'adapters/media/mpeg-ts/whole-units.ts',
  'adapters/media/pictures/whole-jpeg.ts',
  'adapters/media/rtsp/connection/http-tunnel.ts',
  'adapters/onvif/xml.ts',
  'adapters/recordings/recording-capturer.ts',
  'cli/service/senders.ts',
  'adapters/egress/address-rule.ts',
  'adapters/egress/guarded-udp.ts',
  'adapters/embedded/files/media-quota.ts',
  'adapters/embedded/files/plain-files.ts',
  'adapters/media/hls/capture-segments.ts',
  'adapters/media/hls/playlist/fetch-playlist.ts',
  'adapters/media/hls/playlist/newest-segments.ts',
  'adapters/media/hls/playlist/sanitize-playlist.ts',
  'adapters/media/hls/playlist/variables.ts',
  'adapters/media/rtsp/connection/rtsp-client.ts',
  'adapters/onvif/cameras.ts',
  'adapters/vision/objects/summarize-window.ts',
  'core/access/callers.ts',
  'adapters/media/mpeg-ts/tidy-transport-stream.ts',
  'core/memory/merge-moments.ts',
  'core/watch/stored-watch.ts',
  'core/watch/watch-stats.ts',
];

/** Folders of the service of one machine, without its commands. */
const sources = ['core', 'adapters', 'cli']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter(
    (file) =>
      file.endsWith('.ts') && !/^(adapters\/aws|cli\/(commands|cost|demo|evaluate|replay))\//.test(file),
  );

test('each collection that lives as long as the process of one machine has a bound', () => {
  const found = sources.filter((file) => hasCollection(readFileSync(join(root, file), 'utf8')));
  expect([...Object.keys(bounds), ...ofOneCall].toSorted()).toEqual(found.toSorted());
});

test('each of these bounds is in bytes', () => {
  const inBytes = /\b[\d,]+ (?:bytes|kB|MB)\b/;
  expect(Object.entries(bounds).filter(([, bound]) => !inBytes.test(bound))).toEqual([]);
});

/** Caches of objects of our own, which are few and small. */
const withoutBytes = ['adapters/media/ffmpeg/image-pool.ts', 'adapters/media/motion/share-comparisons.ts'];

test('each cache counts the bytes that it keeps in memory and shows them as a metric', () => {
  const unbounded = sources.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return (
      /new LRUCache\b/.test(text) && !(text.includes('sizeCalculation') && text.includes('registerCache('))
    );
  });
  expect(unbounded.toSorted()).toEqual(withoutBytes);
});

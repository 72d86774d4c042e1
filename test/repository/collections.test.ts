import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/**
 * Collection that starts empty, at the top of a module or of a function that creates an adapter. Arrays are not recognized: nearly all of them belong
 * to one call.
 */
const collection =
  /^(?: {2})?(?:export )?(?:const|let) \w+(?:: .+)? = (?:new (?:Map|Set|WeakMap|WeakSet|LRUCache)|createFairCache)(?:<.*>)?\((?:\)|\{)/m;

/** Content and bound of each collection that lives as long as the process, by file. */
const bounds: Record<string, string> = {
  'core/delivery/address-pace.ts': 'addresses of vendors with a request in the last second',
  'core/tick/pace.ts':
    'newest check of each job; waits of five seconds: jobs of the last hour; resources of the machine',
  'adapters/media/capture-web.ts': 'addresses of playlists: 1,000',
  'adapters/media/web/open-authenticated.ts': 'challenges of cameras by address: 1,000',
  'core/policies/watch/schedule.ts':
    'state of each schedule; newest day of each time zone: weak; 1,000 names',
  'adapters/embedded/callers/call-limiter.ts':
    'calls of the last minute by caller: `syncPerMinute` and `syncAtOnce` of each caller',
  'adapters/embedded/web/console-files.ts': 'files of the console, compressed: its files',
  'adapters/embedded/web/delay-refusals.ts': 'number of delayed refusals by caller: callers with one',
  'adapters/embedded/queue/delivery-consumer.ts':
    'groups that wait, handlers, failures in a row: groups with a message in the queue',
  'adapters/embedded/web/event-sessions.ts': 'open event streams: `eventStreamsPerCaller`',
  'adapters/embedded/load/fair-turns.ts': 'turns that are held: the maximum of turns',
  'adapters/embedded/sqlite/group-commit.ts': 'group of a database: weak',
  'adapters/embedded/load/limit-decodes.ts': 'decodes that wait: captures under way',
  'adapters/embedded/log/log-signals.ts': 'readers of logs: open event streams',
  'adapters/embedded/files/media-store.ts': 'media of checks under way; path of stored bytes: 8 MB; weak',
  'adapters/embedded/callers/meter.ts': 'counts by provider: providers',
  'adapters/embedded/sqlite/record.ts': 'parsed sources: 1,000',
  'adapters/embedded/runs/run-table.ts': 'parsed runs: 1,000',
  'adapters/embedded/load/share-captures.ts': 'captures under way, and of the last second: one per stream',
  'adapters/embedded/web/share-log-reads.ts':
    'reads of logs in this turn of the event loop: jobs with an open event stream',
  'adapters/embedded/runs/slot-reservations.ts':
    'reservations of jobs that are being created: `jobsPerCaller`, 180 s',
  'adapters/embedded/scheduler/scheduler.ts':
    'unfinished runs with the state of their last capture, and their tasks: active jobs and watches',
  'adapters/egress/cookies.ts': 'cookies: 20 of 4 kB each for 1,000 streams',
  'adapters/egress/guarded-http.ts': 'connections by proxy: proxies of the settings; idle connections close',
  'adapters/http/sse/job-messages.ts': 'messages of this turn of the event loop: weak',
  'adapters/http/request-bodies.ts':
    'bytes of open request bodies by caller: callers with one; the bytes of all are limited',
  'adapters/fair-cache.ts': 'entries of a cache by caller: its maximum',
  'adapters/media/ffmpeg/decoder-pool.ts':
    'kinds of streams that failed; decoder processes: 2,000; cores + 1, at least 8',
  'adapters/media/ffmpeg/ffmpeg-pool.ts': 'idle processes, for captures and for decoded clips: 4 each',
  'adapters/media/ffmpeg/image-pool.ts': 'processes by size of picture; decoded pictures: 3; 8',
  'adapters/media/hls/playlist/playlist-cache.ts': 'newest playlist of a stream: 1,000',
  'adapters/media/hls/segments/resource-cache.ts':
    'keys, media initialization sections: 1,000 of at most 64 kB; usually 16 bytes or 1 kB',
  'adapters/media/images/mask-media.ts': 'drawn regions of a capture: weak',
  'adapters/media/motion/share-comparisons.ts': 'work of a thumbnail; decoded references: weak; 16 of 30 kB',
  'adapters/media/rtsp/capture-rtsp.ts': 'max: 2,000 URLs',
  'adapters/media/rtsp/connection/connection-turns.ts':
    'open connections; streams of cameras that refused a second one: concurrent captures; 2,000 streams',
  'adapters/media/rtsp/scan/follow-session.ts': 'thumbnails of key frames: 1,500 of 22 kB',
  'adapters/media/rtsp/session/kept-session.ts':
    'lengths of clips of a session; runs that follow it: ten lengths, 40 s each; watches of the stream',
  'adapters/media/rtsp/connection/handed-connections.ts': 'connections of probes: 100, for 3 s',
  'adapters/media/rtsp/session/key-frame-store.ts': 'key frames of all sessions: 150 MB',
  'adapters/media/rtsp/session/open-sessions.ts':
    'open sessions with their newest group of pictures; those being closed: `rtspSessions` and captures under way; as many',
  'adapters/media/rtsp/session/rtsp-sessions.ts': 'probes under way; facts of streams: probes; 2,000 streams',
  'adapters/platforms/resolution-cache.ts': 'playlist of a page: 1,000',
  'adapters/vision/condition/nouns.ts': 'nouns of the object model: its vocabulary',
  'adapters/vision/objects/network-worker.ts': 'network: one',
  'adapters/vision/objects/object-moments.ts': 'decoded capture of a frame: weak',
  'adapters/vision/objects/share-detections.ts': 'detections of a picture: weak',
  'adapters/vision/openai/chat.ts': 'format that a server has accepted, by task: the tasks of a model',
  'adapters/vision/pixel/measure-picture.ts': 'facts of a picture: weak',
  'cli/service/http-server.ts': 'open responses: connections',
  'cli/service/malformed-request.ts': 'newest response of a connection: weak',
  'cli/temporary-folder.ts': 'temporary folders of a command: one per command',
};

/** Files whose collections belong to one call, one capture or one connection. */
const ofOneCall = [
  'adapters/egress/address-rule.ts',
  'adapters/egress/answer-limit.ts',
  'adapters/embedded/files/media-quota.ts',
  'adapters/media/hls/capture-segments.ts',
  'adapters/media/hls/playlist/fetch-playlist.ts',
  'adapters/media/hls/segments/fetch-segments.ts',
  'adapters/media/hls/playlist/sanitize-playlist.ts',
  'adapters/media/hls/playlist/variables.ts',
  'adapters/media/rtsp/connection/rtsp-client.ts',
  'adapters/onvif/cameras.ts',
  'adapters/vision/objects/summarize-objects.ts',
  'core/access/erase-caller.ts',
  'core/watch/stored-watch.ts',
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
  const found = sources.filter((file) => collection.test(readFileSync(join(root, file), 'utf8')));
  expect([...Object.keys(bounds), ...ofOneCall].toSorted()).toEqual(found.toSorted());
});

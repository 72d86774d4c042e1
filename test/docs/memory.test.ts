import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/**
 * Collection that starts empty, at the top of a module or of a function that creates an adapter. Arrays are not recognized: nearly all of them belong
 * to one call.
 */
const collection =
  /^(?: {2})?(?:export )?(?:const|let) \w+(?:: .+)? = new (?:Map|Set|WeakMap|WeakSet|LRUCache)(?:<.*>)?\((?:\)|\{)/m;

/** Files whose collections belong to one call, one capture or one connection. */
const ofOneCall = [
  'adapters/embedded/media-quota.ts',
  'adapters/media/hls/fetch-playlist.ts',
  'adapters/media/hls/fetch-segments.ts',
  'adapters/media/hls/readable-keys.ts',
  'adapters/media/hls/variables.ts',
  'adapters/media/rtsp/rtsp-client.ts',
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

test('docs/contribute/memory.md has a row with the bound of each collection that lives as long as the process', () => {
  const page = readFileSync(join(root, 'docs/contribute/memory.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([^`]+)` +\|[^|]+\|([^|]+)\|$/gm)].map(
    ([, file = '', bound = '']) => ({
      file,
      bound: bound.trim(),
    }),
  );
  const found = sources.filter((file) => collection.test(readFileSync(join(root, file), 'utf8')));

  expect([...rows.map(({ file }) => file), ...ofOneCall].toSorted()).toEqual(found.toSorted());
  expect(rows.filter(({ bound }) => bound === '')).toEqual([]);
});

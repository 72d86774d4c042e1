import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const media = 'adapters/media';
const protocols = ['hls', 'rtsp', 'pictures', 'ts-stream'].map((name) => join(media, name));

/** Returns the folders that the files of a folder import. */
function importedBy(folder: string): string[] {
  const files = globSync(join(folder, '**/*.ts'));
  expect(files.length).toBeGreaterThan(0);
  return files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/from '(\..+)'/g)].map(([, path = '']) =>
      dirname(join(dirname(file), path)),
    ),
  );
}

test.each(protocols)('%s imports what protocols share, and no other protocol', (protocol) => {
  const others = protocols.filter((each) => each !== protocol);
  const isOther = (path: string) => path === media || others.some((other) => path.startsWith(other));
  expect(importedBy(protocol).filter(isOther)).toEqual([]);
});

test.each(['h264', 'mpeg-ts', 'ffmpeg', 'scan', 'web'])(
  '%s, which protocols share, imports none',
  (shared) => {
    const isProtocol = (path: string) => path === media || protocols.some((each) => path.startsWith(each));
    expect(importedBy(join(media, shared)).filter(isProtocol)).toEqual([]);
  },
);

describe.each([
  ['hls', ['playlist', 'segments', 'scan']],
  ['rtsp', ['protocol', 'connection', 'rtp', 'session', 'scan']],
])('%s', (protocol, names) => {
  const folder = join(media, protocol);
  const rooms = names.map((name) => join(folder, name));

  test.each(rooms)('%s imports only the rooms before it, and no capture', (room) => {
    const later = [folder, ...rooms.slice(rooms.indexOf(room) + 1)];
    expect(importedBy(room).filter((path) => later.includes(path))).toEqual([]);
  });
});

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const folder = 'adapters/media/hls';
const rooms = ['playlist', 'segments', 'scan'].map((room) => join(folder, room));

test.each(rooms)('%s imports only the rooms before it, and no capture', (room) => {
  const files = globSync(join(room, '*.ts'));
  expect(files.length).toBeGreaterThan(5);
  const imported = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/from '(\..+)'/g)].map(([, path = '']) =>
      dirname(join(room, path)),
    ),
  );
  const later = [folder, ...rooms.slice(rooms.indexOf(room) + 1)];
  expect(imported.filter((path) => later.includes(path))).toEqual([]);
});

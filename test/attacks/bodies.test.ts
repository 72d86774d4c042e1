import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { ffmpegPath, record } from '../support/hls/recording.ts';
import { forEachItem, openAttack, type Attack } from './attack.ts';
import { count } from './counted.ts';
import { externalMovies } from './external-movie.ts';
import { bodies, moviesWith } from './vectors/bodies.ts';
import { folderOfFile } from '../support/temporary-folder.ts';

const tempDir = folderOfFile();
let attack: Attack;
beforeAll(async () => {
  attack = await openAttack({ ffmpeg: createFfmpegRunner({ ffmpegPath, tempDir }) });
});
afterAll(() => attack.close());

test('a body of another type opens nothing and reveals no file in the real ffmpeg', async (test) => {
  const { canaries, server } = attack;
  const [segment = Buffer.alloc(0)] = (await record()).segments;
  const sites = [...bodies, ...moviesWith(await externalMovies(segment, canaries.file))];
  const wrong: string[] = [];
  await forEachItem(sites, async (site) => {
    const { capture } = await attack.run(server.host(site));
    // A frame could only come from the canary file.
    if (capture === 'done' || capture.startsWith('unexpected')) wrong.push(`${site.name}: ${capture}`);
  });
  expect(wrong).toEqual([]);
  expect(canaries.touched()).toEqual([]);
  expect(await canaries.fileWasRead()).toBe(false);
  count(test, { vectors: { bodies: sites.length }, touched: canaries.touched().length });
});

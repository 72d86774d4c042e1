import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { ffmpegPath, record } from '../support/hls/recording.ts';
import { forEachItem, openAttack, type Attack } from './attack.ts';
import { count } from './counted.ts';
import { externalMovies } from './external-movie.ts';
import { bodies, moviesWith } from './vectors/bodies.ts';

let tempDir = '';
let attack: Attack;
beforeAll(async () => {
  tempDir = await mkdtemp(join(tmpdir(), 'attack-'));
  attack = await openAttack({ ffmpeg: createFfmpegRunner({ ffmpegPath, tempDir }) });
});
afterAll(async () => {
  await attack.close();
  await rm(tempDir, { recursive: true });
});

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

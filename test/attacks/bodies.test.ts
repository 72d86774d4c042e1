import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('what is not what it is called', () => {
  it(
    'ffmpeg opens no other file or address for a body that is not what its type says',
    { timeout: 120_000 },
    async (test) => {
      const { canaries, server } = attack;
      const [segment = Buffer.alloc(0)] = (await record()).segments;
      const sites = [...bodies, ...moviesWith(await externalMovies(segment, canaries.file))];
      const wrong: string[] = [];
      await forEachItem(sites, async (site) => {
        const { capture } = await attack.run(server.host(site));
        // A picture could only be the canary file's.
        if (capture === 'done' || capture.startsWith('unexpected')) wrong.push(`${site.name}: ${capture}`);
      });
      expect(wrong).toEqual([]);
      expect(canaries.touched()).toEqual([]);
      expect(await canaries.fileWasRead()).toBe(false);
      count(test, { vectors: { bodies: sites.length }, touched: canaries.touched().length });
    },
  );
});

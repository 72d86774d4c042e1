import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forEachItem, openAttack, type Attack } from './attack.ts';
import { count } from './counted.ts';
import { playlists } from './vectors/playlists.ts';
import { redirects } from './vectors/redirects.ts';
import { urlVectors } from './vectors/urls.ts';
import { fillIn } from './vectors/vector.ts';

let attack: Attack;
beforeAll(async () => {
  attack = await openAttack();
});
afterAll(() => attack.close());

describe('a stream URL that leads inside', () => {
  it.for(Object.entries(urlVectors))(
    'a stream URL that leads to an internal address is refused and reaches nothing: %s',
    async ([name, vectors], test) => {
      const { canaries, server } = attack;
      const wrong: string[] = [];
      await forEachItem(vectors, async (vector) => {
        const { probe, capture } = await attack.run(
          fillIn(vector, { ...canaries, self: server.self, base: '' }),
        );
        if (probe !== 'INVALID_URL' || capture !== 'INVALID_URL')
          wrong.push(`${vector}: ${probe}, ${capture}`);
      });
      expect(wrong).toEqual([]);
      expect(canaries.touched()).toEqual([]);
      count(test, { vectors: { [name]: vectors.length }, touched: canaries.touched().length });
    },
  );
});

describe('a hostile server', () => {
  it.for([
    ['redirects', redirects],
    ['playlists', playlists],
  ] as const)('leads nowhere by its %s', async ([name, sites], test) => {
    const { canaries, server, fed } = attack;
    const wrong: string[] = [];
    await forEachItem([...sites], async (site) => {
      const before = canaries.touched().length;
      const { probe, capture } = await attack.run(server.host(site));
      const touched = canaries.touched().slice(before);
      const unexpected = [probe, capture].filter((outcome) => outcome.startsWith('unexpected'));
      wrong.push(...[...touched, ...unexpected].map((what) => `${site.name}: ${what}`));
    });
    expect(wrong).toEqual([]);
    expect(await canaries.fileWasRead()).toBe(false);
    expect(fed.length).toBeGreaterThan(0);
    count(test, { vectors: { [name]: sites.length }, touched: canaries.touched().length });
  });
});

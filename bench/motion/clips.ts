import { eventScene, eventTitles } from './event-scenes.ts';
import type { Scene } from './scene.ts';
import type { Clip, Half } from './score.ts';
import { stillScene, stillTitles } from './still-scenes.ts';
import { renderThumbnails } from './thumbnails.ts';

/** Number of seeds per class and half. Even seeds are for tuning, odd ones are only reported. */
export type Extent = { stillSeeds: number; eventSeeds: number; halves: readonly Half[] };

const atOnce = 4;

/** Creates all clips and reports progress. */
export async function makeClips(
  extent: Extent,
  progress: (done: number, of: number) => void,
): Promise<Clip[]> {
  const wanted = extent.halves.flatMap((half) =>
    createScenes(half, extent).map((scene) => ({ scene, half })),
  );
  const clips: Clip[] = [];
  const rest = wanted.entries();
  const work = async (): Promise<void> => {
    for (const [at, { scene, half }] of rest) {
      clips[at] = { scene, half, pictures: await renderThumbnails(scene) };
      progress(clips.filter(Boolean).length, wanted.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return clips;
}

function createScenes(half: Half, { stillSeeds, eventSeeds }: Extent): Scene[] {
  const odd = half === 'held out' ? 1 : 0;
  const seeds = (count: number): number[] => Array.from({ length: count }, (_, at) => 2 * at + odd);
  return [
    ...stillTitles.flatMap((title) => seeds(stillSeeds).map((seed) => stillScene(title, seed))),
    ...eventTitles.flatMap((title) => seeds(eventSeeds).map((seed) => eventScene(title, seed))),
  ];
}

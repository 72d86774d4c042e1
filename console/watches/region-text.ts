import type { Watch } from '../api/types.ts';

type Region = NonNullable<Watch['regions']>[number];

export const maxRegions = 4;

/** Returns why no further part of the picture can be hidden; undefined if one can. */
export function whyNoneHidden(regions: Watch['regions']): string | undefined {
  const isFull = regions !== null && regions.length >= maxRegions;
  return isFull ? `A watch has at most ${maxRegions} regions. Edit it to change or remove one.` : undefined;
}

/** Region in the form: its corners as text, in percent of the frame from the top left: `10 20, 90 20, 90 80`. */
export type RegionDraft = { mode: Region['mode']; corners: string };

export function formatCorners(points: Region['points']): string {
  return points.map(([x = 0, y = 0]) => `${toPercent(x)} ${toPercent(y)}`).join(', ');
}

/** Parses the corners. Returns undefined if one is no pair of numbers from 0 to 100. */
export function parseCorners(text: string): [number, number][] | undefined {
  const pairs = text.split(',').flatMap((pair) => pair.trim() || []);
  const points = pairs.map((pair) => pair.split(/\s+/).map(Number));
  const isValid = points.every(
    (point) => point.length === 2 && point.every((value) => value >= 0 && value <= 100),
  );
  return isValid ? points.map(([x = 0, y = 0]) => [x / 100, y / 100]) : undefined;
}

/** Adds a corner, in shares of the frame. */
export function addCorner({ mode, corners }: RegionDraft, x: number, y: number): RegionDraft {
  const corner = `${toPercent(x)} ${toPercent(y)}`;
  return { mode, corners: corners.trim() === '' ? corner : `${corners.trim().replace(/,$/, '')}, ${corner}` };
}

/** Draws a region as the rectangle between two points, in shares of the frame; its edge stays inside. */
export function toRectangle(
  { mode }: RegionDraft,
  from: [number, number],
  to: [number, number],
): RegionDraft {
  const [left = 0, right = 0] = [from[0], to[0]].map(clamp).toSorted((a, b) => a - b);
  const [top = 0, bottom = 0] = [from[1], to[1]].map(clamp).toSorted((a, b) => a - b);
  const points = [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
  ];
  return { mode, corners: formatCorners(points) };
}

/** Moves a corner, in shares of the frame; one that leaves it stays at its edge. */
export function moveCorner({ mode, corners }: RegionDraft, index: number, x: number, y: number): RegionDraft {
  const points = parseCorners(corners) ?? [];
  return { mode, corners: formatCorners(points.with(index, [clamp(x), clamp(y)])) };
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}

export function toRegionDrafts(regions: Watch['regions']): RegionDraft[] {
  return (regions ?? []).map(({ mode, points }) => ({ mode, corners: formatCorners(points) }));
}

/** Returns the regions of a patch; corners that cannot be read stay out, and the service names the rest. */
export function toRegions(drafts: readonly RegionDraft[]): Watch['regions'] {
  if (drafts.length === 0) return null;
  return drafts.map(({ mode, corners }) => ({ mode, points: parseCorners(corners) ?? [] }));
}

function toPercent(share: number): number {
  return Math.round(share * 1000) / 10;
}

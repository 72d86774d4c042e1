/** Labeled clip as plain data, which is the cache key. It is fully determined by a seed. */
export type Scene = {
  /** Row of the table. */
  title: string;
  seed: number;
  ticks: number;
  background: { kind: BackgroundKind; seed: number };
  light: Light;
  /**
   * Strength of ffmpeg's temporal noise filter at 720p: 4 for a good camera by day, 20 or more for a bad one at
   * night.
   */
  noise: number;
  /** Maximum displacement in each direction, in pixels at 720p. */
  shake: number;
  weather: { kind: 'none' | 'rain' | 'snow'; amount: number };
  overlays: Overlay[];
  encoding: Encoding;
  things: Thing[];
  /** Empty in still scenes. */
  events: SceneEvent[];
};

/** Kind of background. */
export type BackgroundKind = 'hills' | 'foliage' | 'street' | 'room';

/** Change of light over a clip. */
export type Light =
  | { kind: 'day' | 'night' }
  /** Gain changes linearly over the clip. */
  | { kind: 'drift'; from: number; to: number }
  /** Gain and offset jump every few ticks. `blueness` and `redness` are shifts of white balance in levels. */
  | { kind: 'steps'; everyTicks: number; gain: number; blueness: number; redness: number }
  /** Moving bands, like lamps on mains with a rolling shutter. */
  | { kind: 'flicker'; depth: number }
  | { kind: 'clouds'; depth: number; pixelsPerTick: number };

/** Clock, text or ticker over the scene. */
export type Overlay = {
  kind: 'clock' | 'ticker';
  font: 'dots' | 'bold';
  /** Height of a digit, in pixels at 720p. */
  height: number;
  x: number;
  y: number;
  box: boolean;
};

/** Encoding: `frames` of GOP `group` per tick; `sampled` selects the frame of the thumbnail. */
export type Encoding = {
  rate: { crf: number } | { kilobits: number };
  framesPerTick: number;
  group: number;
  sampled: 'first' | 'any';
};

/** Object with its position per tick. */
export type Thing = {
  shape: 'box' | 'ellipse' | 'person';
  width: number;
  height: number;
  /** Levels above the mean of the background; `null` keeps the brightness and changes only the color. */
  luma: number | null;
  blueness: number;
  redness: number;
  seed: number;
  places: { fromTick: number; toTick: number; x: number; y: number; opacity: number }[];
};

/** Event that must be detected in one of the ticks from `fromTick` to `byTick`, inclusive. */
export type SceneEvent = { kind: string; share: number; fromTick: number; byTick: number };

/** Size of all frames, in pixels. */
export const picture = { width: 1280, height: 720 } as const;
/** Sizes of objects, as shares of the frame. */
export const shares = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1] as const;

/** What a labelled clip shows, as plain data: the cache is keyed by it, and a seed says all of it. */
export type Scene = {
  /** The row of the table that it belongs to. */
  title: string;
  seed: number;
  ticks: number;
  background: { kind: BackgroundKind; seed: number };
  light: Light;
  /** Strength of ffmpeg's temporal noise filter at 720p; a good camera by day has 4, a bad one at night 20 and more. */
  noise: number;
  /** Largest displacement in pixels of 720p, each way. */
  shake: number;
  weather: { kind: 'none' | 'rain' | 'snow'; amount: number };
  overlays: Overlay[];
  encoding: Encoding;
  things: Thing[];
  /** Empty in still scenes. */
  events: SceneEvent[];
};

export type BackgroundKind = 'hills' | 'foliage' | 'street' | 'room' | 'mandelbrot' | 'life' | 'cellauto';

export type Light =
  | { kind: 'day' | 'night' }
  /** Gain goes from one to the other over the clip. */
  | { kind: 'drift'; from: number; to: number }
  /** Gain and offset jump every few ticks; `blueness` and `redness` are shifts of white balance in levels. */
  | { kind: 'steps'; everyTicks: number; gain: number; blueness: number; redness: number }
  /** Bands that wander, as a rolling shutter sees lamps on mains. */
  | { kind: 'flicker'; depth: number }
  | { kind: 'clouds'; depth: number; pixelsPerTick: number };

export type Overlay = {
  kind: 'clock' | 'ticker';
  font: 'dots' | 'bold' | 'segments';
  /** Height of a digit in pixels of 720p. */
  height: number;
  x: number;
  y: number;
  box: boolean;
};

/** `frames` of GOP `group` are encoded for each tick; `sampled` says which of them the thumbnail is made of. */
export type Encoding = {
  rate: { crf: number } | { kilobits: number };
  framesPerTick: number;
  group: number;
  sampled: 'first' | 'any';
};

/** Something that was not there before; where it is, tick by tick. */
export type Thing = {
  shape: 'box' | 'ellipse' | 'person';
  width: number;
  height: number;
  /** Levels above the mean of what it covers; null leaves brightness as it is and only colours it. */
  luma: number | null;
  blueness: number;
  redness: number;
  seed: number;
  places: { fromTick: number; toTick: number; x: number; y: number; opacity: number }[];
};

/** Must be looked at in one of the ticks from `fromTick` to `byTick`, both included. */
export type SceneEvent = { kind: string; share: number; fromTick: number; byTick: number };

export const picture = { width: 1280, height: 720 } as const;
/** Sizes of things, as shares of the picture. */
export const shares = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1] as const;

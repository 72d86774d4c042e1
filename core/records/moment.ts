import { z } from 'zod';

const timestampSchema = z.iso.datetime();

export const maxMemoryDays = 90;

/** Maximum length of a sentence about a picture, and number of its objects. */
export const sceneLimits = { characters: 80, objects: 12, objectCharacters: 40 } as const;

/** Description of what a picture shows, whatever the conditions. */
export const sceneSchema = z.object({
  scene: z.string().min(1).max(sceneLimits.characters).optional(),
  objects: z.array(z.string().min(1).max(sceneLimits.objectCharacters)).max(sceneLimits.objects).optional(),
});

export type Scene = z.infer<typeof sceneSchema>;

/** Verdict of a moment; `triggered` is `null` if the model did not judge the condition. */
export const momentVerdictSchema = z.object({
  condition_id: z.string(),
  triggered: z.boolean().nullable(),
  explanation: z.string(),
  /** Digest of what the model was asked: another text of the condition has no verdict here. Absent: as now. */
  asked: z.string().optional(),
});

/**
 * Judgement of a person about a moment, with the text of the condition then. `missed`: it holds, and no alert of the
 * condition was open.
 */
export const momentReviewSchema = z.object({
  condition_id: z.string(),
  condition: z.string(),
  holds: z.boolean(),
  missed: z.boolean(),
  at: timestampSchema,
  /** Label of the API key, or its prefix. */
  by: z.string(),
});
export type MomentReview = z.infer<typeof momentReviewSchema>;

/** Picture that a model judged, in the memory of its watch. */
export const momentSchema = sceneSchema.extend({
  moment_id: z.string(),
  watch_id: z.uuid(),
  caller: z.string(),
  at: timestampSchema,
  verdicts: z.array(momentVerdictSchema).max(8),
  /** Name of the model that judged it. */
  judged_by: z.string(),
  /** Seconds before and after it in which a scan saw nothing change. Absent without any. */
  still: z.tuple([z.number().nonnegative(), z.number().nonnegative()]).optional(),
  /** True if it showed what the picture that was judged before it showed; absent otherwise. */
  unmoved: z.literal(true).optional(),
  /**
   * Seconds before it since which a scan saw, until something moved, what the picture that was judged before it showed.
   * Absent without any.
   */
  unchanged_seconds: z.number().positive().optional(),
  /** Newest review of each condition; absent without any. */
  reviews: z.array(momentReviewSchema).max(8).optional(),
  /** Media key of the judged frame; `null` if it was not kept, or had to make room. */
  frame_key: z.string().nullable(),
  expires_at: timestampSchema,
});
export type Moment = z.infer<typeof momentSchema>;

/** Returns all that a search in words reads of a moment. */
export function momentText({ verdicts, scene = '', objects = [] }: Moment): string {
  return [...verdicts.map(({ explanation }) => explanation), scene, ...objects].join('\n');
}

/**
 * Returns a moment with a review, which replaces an earlier one of its condition, and the change of the number of
 * misses.
 */
export function withReview(moment: Moment, review: MomentReview): { reviewed: Moment; missed: number } {
  const { reviews = [] } = moment;
  const isSame = ({ condition_id: id }: MomentReview) => id === review.condition_id;
  const before = reviews.find(isSame)?.missed ?? false;
  const others = reviews.filter((other) => !isSame(other)).slice(-7);
  return {
    reviewed: { ...moment, reviews: [...others, review] },
    missed: Number(review.missed) - Number(before),
  };
}

/**
 * Names of a moment: its watch, the newest moment of its capture and the tick, which one item of a store has, and its
 * own time.
 */
export type MomentName = { watchId: string; captureAt: Date; tick: number; at: Date };

/**
 * Returns the id of a moment: `<watch>-<time of the capture>-<tick>-<milliseconds before it>`, numbers to the base of
 * 36.
 */
export function toMomentId({ watchId, captureAt, tick, at }: MomentName): string {
  const numbers = [captureAt.getTime(), tick, captureAt.getTime() - at.getTime()];
  return [watchId, ...numbers.map((number) => number.toString(36))].join('-');
}

const momentIdPattern =
  /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-([0-9a-z]{1,9})-([0-9a-z]{1,9})-([0-9a-z]{1,9})$/;

/** Returns the names in an id; undefined for another text. */
export function readMomentId(id: string): MomentName | undefined {
  const [, watchId, ...texts] = momentIdPattern.exec(id) ?? [];
  const [capture = NaN, tick = NaN, before = NaN] = texts.map((text) => Number.parseInt(text, 36));
  if (watchId === undefined) return undefined;
  return { watchId, captureAt: new Date(capture), tick, at: new Date(capture - before) };
}

/** Returns what the ids of all moments of a capture begin with. */
export function nameCapture({ moment_id: id }: Pick<Moment, 'moment_id'>): string {
  return id.slice(0, id.lastIndexOf('-'));
}

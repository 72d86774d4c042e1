import type { BitReader } from './bits.ts';
import { readSequenceSet, type SequenceSet } from './coded-size.ts';
import { readBits, withoutPrevention, type UnitRules } from './entry-point.ts';

/**
 * Tells which pictures of a stream have holes that no packet shows, because a server has lost slices or pictures and
 * given the rest new numbers. In H.264, decoders notice a missing slice, but not a missing picture: numbers of frames
 * do. In H.265 it is the other way round: places of slices tell.
 */
export type PictureCheck = {
  /** Notes the beginning of a unit, with its header. */
  note(unit: Uint8Array): void;
  /** Ends the access unit under way. */
  end(): CheckedUnit;
};

/**
 * Access unit that may lack slices, or the pictures to which it refers. `field` is that of interlaced video with which
 * it ends, if the other one is not there, or which completes the frame of the unit before.
 */
type CheckedUnit = { lacksSlices: boolean; lacksReference: boolean; field?: 'first' | 'second' | undefined };

/** Head of a slice up to what is read of it. */
const headBytes = 16;
const [sequenceSet265, pictureSet265, firstIrap, lastIrap] = [33, 34, 16, 23];
const keySlice264 = 5;

export function createPictureCheck(rules: UnitRules): PictureCheck {
  return rules.codec === 'H264' ? createFrameNumbers(rules) : createSlicePlaces(rules);
}

/** Weight of a gap against numbers without one. A camera whose numbers have as many gaps counts in another way. */
const gapWeight = 4;
const maxGapWeight = 64;

function createFrameNumbers(rules: UnitRules): PictureCheck {
  let set: SequenceSet | null = null;
  let reference: number | null = null;
  let gaps = 0;
  let lacksReference = false;
  const fields = createFieldPairs();
  return {
    note(unit) {
      const type = rules.readType(unit[0] ?? 0);
      if (type === rules.sequenceSet) set = readSequenceSet(unit, rules);
      if (!rules.isSlice(type) || set === null) return;
      const begin = readSlice(unit, rules, readBegin(set));
      if (begin === null) return;
      fields.note(begin);
      const { number } = begin;
      const step =
        type === keySlice264 || reference === null ? 0 : (number - reference) & (2 ** set.numberBits - 1);
      lacksReference ||= step > 1 && gaps < maxGapWeight && !set.mayHaveGaps;
      gaps = Math.max(0, Math.min(2 * maxGapWeight, gaps + (step > 1 ? gapWeight : -1)));
      const isReference = ((unit[0] ?? 0) & 0x60) !== 0;
      if (isReference) reference = number;
    },
    end() {
      const ended = { lacksSlices: false, lacksReference, field: fields.end() };
      lacksReference = false;
      return ended;
    },
  };
}

/** Begin of a picture. `field` is 0 for a frame. */
type PictureBegin = { number: number; field: 0 | 1 | 2 };

/** Returns a reader of the first slice of a picture, which returns null for others. */
function readBegin({ numberBits, mayHaveFields }: SequenceSet) {
  return ({ unsigned, bits, flag }: BitReader): PictureBegin | null => {
    const isFirst = unsigned() === 0;
    for (let value = 0; value < 2; value += 1) unsigned();
    if (!isFirst) return null;
    const number = bits(numberBits);
    const isField = mayHaveFields && flag();
    return { number, field: isField ? (flag() ? 2 : 1) : 0 };
  };
}

/** Finds the two fields of a frame: they have one number. */
function createFieldPairs() {
  let open: PictureBegin | null = null;
  let pictures = 0;
  let completes = false;
  return {
    note(begin: PictureBegin): void {
      const isSecond = open?.number === begin.number && open.field + begin.field === 3;
      completes ||= isSecond && pictures === 0;
      open = isSecond || begin.field === 0 ? null : begin;
      pictures += 1;
    },
    end(): CheckedUnit['field'] {
      const field = open ? 'first' : completes ? 'second' : undefined;
      [pictures, completes] = [0, false];
      return field;
    },
  };
}

/**
 * Places at which slices begin, of the key frames or of the other pictures of a stream. `repeats`: pictures with all of
 * them since the last change; `changes`: to places that no loss explains; `inRow`: pictures with those of the newest
 * one.
 */
type Layout = {
  places: ReadonlySet<number>;
  repeats: number;
  changes: number;
  newest: ReadonlySet<number>;
  inRow: number;
};

/** Pictures in a row with the same places after which those are all: the encoder has other settings. */
const maxRepeated = 8;
const maxChanges = 16;
/** More places than this in one picture are no slices. */
const maxPlaces = 1024;

function createSlicePlaces(rules: UnitRules): PictureCheck {
  let { numberBits, rowBlocks } = { numberBits: 0, rowBlocks: 1 };
  /** Ids of picture parameter sets that allow slices to depend on others. */
  const dependent = new Set<number>();
  const layouts: { keyFrame?: Layout; other?: Layout } = {};
  let places: number[] = [];
  let isKeyFrame = false;
  return { note, end };

  function note(unit: Uint8Array): void {
    const type = rules.readType(unit[0] ?? 0);
    if (type === sequenceSet265)
      ({ numberBits, rowBlocks } = readSequenceSet(unit, rules) ?? { numberBits: 0, rowBlocks: 1 });
    if (type === pictureSet265) notePictureSet(unit);
    if (!rules.isSlice(type) || numberBits === 0 || places.length > maxPlaces) return;
    isKeyFrame = type >= firstIrap && type <= lastIrap;
    const place = readSlice(unit, rules, readPlace);
    if (place !== null) places.push(place);
  }

  function notePictureSet(unit: Uint8Array): void {
    readSlice(unit, rules, ({ unsigned, flag }) => {
      const id = unsigned();
      unsigned();
      if (flag() && id < 64) dependent.add(id);
      else dependent.delete(id);
    });
  }

  function readPlace({ flag, unsigned, bits }: BitReader): number {
    const isFirst = flag();
    if (isKeyFrame) flag();
    const id = unsigned();
    if (isFirst) return 0;
    if (dependent.has(id)) flag();
    return bits(numberBits);
  }

  function end() {
    const [seen, kind] = [places, isKeyFrame ? ('keyFrame' as const) : ('other' as const)];
    places = [];
    const isUsual = seen.length === 0 || seen.length > maxPlaces;
    if (isUsual) return { lacksSlices: false, lacksReference: false };
    const others = layouts[isKeyFrame ? 'other' : 'keyFrame'];
    return { lacksSlices: seen[0] !== 0 || lacksPlaces(new Set(seen), kind, others), lacksReference: false };
  }

  /**
   * Encoders divide all pictures in the same way, mostly by rows, or by the bytes of slices: then places differ from
   * picture to picture, and say nothing.
   */
  function lacksPlaces(seen: Layout['places'], kind: keyof typeof layouts, others?: Layout): boolean {
    const isFirst = layouts[kind] === undefined;
    const layout = (layouts[kind] ??= beginLayout(others));
    const { repeats, changes } = layout;
    layout.inRow = isSame(seen, layout.newest) ? layout.inRow + 1 : 1;
    layout.newest = seen;
    if (isSame(seen, layout.places)) {
      layout.repeats += 1;
      return false;
    }
    const isPart = isWithin(seen, layout.places);
    if (isPart && isFirst) return [...layout.places].every((place) => place % rowBlocks === 0);
    if (isPart && !isFirst && layout.inRow < maxRepeated)
      return (
        isUsual(layout) || (others !== undefined && isUsual(others) && isSame(others.places, layout.places))
      );
    const isWhole = repeats === 0 && isWithin(layout.places, seen);
    if (!isWhole && !isFirst) layout.changes = Math.min(maxChanges, changes + 1);
    [layout.places, layout.repeats] = [seen, 0];
    return false;
  }
}

function beginLayout(others?: Layout): Layout {
  return { places: others?.places ?? new Set(), repeats: 0, changes: 0, newest: new Set(), inRow: 0 };
}

function isUsual({ repeats, changes }: Layout): boolean {
  return repeats > changes;
}

function isWithin(places: Layout['places'], all: Layout['places']): boolean {
  return places.size <= all.size && [...places].every((place) => all.has(place));
}

function isSame(places: Layout['places'], others: Layout['places']): boolean {
  return places.size === others.size && isWithin(places, others);
}

function readSlice<Value>(
  unit: Uint8Array,
  rules: UnitRules,
  read: (reader: BitReader) => Value,
): Value | null {
  return readBits(withoutPrevention(unit.subarray(rules.headBytes, rules.headBytes + headBytes)), read);
}

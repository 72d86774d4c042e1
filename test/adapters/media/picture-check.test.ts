import { describe, expect, test } from 'vitest';
import { createBitWriter } from '../../../adapters/media/h264/bits.ts';
import { h264Units, h265Units, type UnitRules } from '../../../adapters/media/h264/entry-point.ts';
import { createPictureCheck } from '../../../adapters/media/h264/picture-check.ts';
import { encodePictures } from '../../support/annex-b.ts';

function check(pictures: readonly (readonly Uint8Array[])[], rules: UnitRules) {
  const { note, end } = createPictureCheck(rules);
  return pictures.map((picture) => {
    picture.forEach(note);
    return end();
  });
}

const whole = { lacksSlices: false, lacksReference: false };

test.each([h264Units, h265Units])('nothing is missing in a whole stream of $codec', (rules) => {
  const pictures = encodePictures(rules.codec);
  expect(pictures).toHaveLength(20);
  expect(check(pictures, rules)).toEqual(pictures.map(() => whole));
});

test('each picture of H.265 of which a slice is missing lacks it', () => {
  const pictures = encodePictures('H265');
  for (const [index, picture] of pictures.entries()) {
    const slices = picture.filter((unit) => h265Units.isSlice(h265Units.readType(unit[0]!)));
    expect(slices).toHaveLength(4);
    for (const missing of slices.slice(index === 0 ? 3 : 0)) {
      const sent = pictures.with(
        index,
        picture.filter((unit) => unit !== missing),
      );
      const lacking = check(sent, h265Units).findIndex(({ lacksSlices }) => lacksSlices);
      // Nobody knows how many the first picture has.
      expect(lacking).toBe(index === 0 ? -1 : index);
    }
  }
});

test('a picture of H.264 behind one that is missing lacks its reference', () => {
  const pictures = encodePictures('H264');
  for (const index of pictures.keys()) {
    const lacking = check(pictures.toSpliced(index, 1), h264Units).findIndex(
      ({ lacksReference }) => lacksReference,
    );
    // The first picture has none, and a key frame follows the tenth and the last one.
    expect(lacking).toBe([0, 9, 19].includes(index) ? -1 : index);
  }
});

test('numbers of frames that always have gaps say nothing after some pictures', () => {
  const pictures = encodePictures('H264').slice(0, 10);
  const odd = pictures.filter((_, index) => index % 2 === 0);
  const checked = check(Array.from({ length: 10 }, () => odd).flat(), h264Units);
  expect(checked.some(({ lacksReference }) => lacksReference)).toBe(true);
  expect(checked.slice(-odd.length)).toEqual(odd.map(() => whole));
});

describe('places of slices of H.265', () => {
  const sps = createBitWriter().bits(1, 8).bits(0, 7).bits(1, 1);
  for (let word = 0; word < 3; word += 1) sps.bits(0, 32);
  for (const value of [0, 1, 1920, 1080]) sps.unsigned(value);
  sps.bits(0, 1);
  for (const value of [0, 0, 4]) sps.unsigned(value);
  sps.bits(1, 1);
  for (const value of [0, 0, 0, 0, 3]) sps.unsigned(value);
  const set = sps.end(0x42).subarray(4);
  const blocksBits = 9;
  const slice = (place: number, type: number) => {
    const writer = createBitWriter()
      .bits(1, 8)
      .bits(place === 0 ? 1 : 0, 1);
    if (type === idr) writer.bits(0, 1);
    writer.unsigned(0).bits(place, place === 0 ? 0 : blocksBits);
    return writer
      .bits(0xffff, 16)
      .end(type << 1)
      .subarray(4);
  };
  const idr = 19;
  const picture = (...places: number[]) => [set, ...places.map((place) => slice(place, 1))];
  const keyFrame = (...places: number[]) => [set, ...places.map((place) => slice(place, idr))];
  const lacking = (pictures: Uint8Array[][]) =>
    check(pictures, h265Units).map(({ lacksSlices }) => lacksSlices);

  test('places that differ from picture to picture say nothing', () => {
    const pictures = Array.from({ length: 12 }, (_, index) => picture(0, 100 + index, 200 + 7 * index));
    expect(lacking(pictures)).toEqual(pictures.map(() => false));
  });

  test('slices of as many bytes say nothing, of key frames and of pictures that fit into one or two', () => {
    const other = (index: number) => (index % 3 === 0 ? picture(0, 150 + index) : picture(0));
    const groups = [1, 2, 3].flatMap((group) => [
      keyFrame(...[0, 1, 2, 3, 4, 5].map((slice) => slice * (80 + group))),
      ...Array.from({ length: 10 }, (_, index) => other(10 * group + index)),
    ]);
    expect(lacking(groups)).toEqual(groups.map(() => false));
  });

  test('places of a key frame are those of the one before if other pictures have repeated them', () => {
    const others = [1, 2, 3].map(() => picture(0, 90, 180));
    const sent = [keyFrame(0, 90, 180), ...others, keyFrame(0, 180), ...others];
    expect(lacking(sent)).toEqual(sent.map((_, index) => index === 4));
  });

  test('fewer places, eight times in a row, are those of other settings', () => {
    const before = [picture(0, 90, 180, 270), picture(0, 90, 180, 270)];
    const pictures = [...before, ...Array.from({ length: 10 }, () => picture(0, 180))];
    expect(lacking(pictures)).toEqual([false, false, ...Array(7).fill(true), false, false, false]);
  });

  test('the first picture behind a key frame is divided like it where slices are rows', () => {
    expect(lacking([keyFrame(0, 270), picture(0)])).toEqual([false, true]);
    expect(lacking([keyFrame(0, 277), picture(0)])).toEqual([false, false]);
  });

  test('a picture without the first place has a hole', () => {
    expect(lacking([picture(0, 180), picture(180)])).toEqual([false, true]);
  });
});

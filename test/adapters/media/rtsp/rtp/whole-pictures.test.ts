import { expect, test } from 'vitest';
import { createWholePictures } from '../../../../../adapters/media/rtsp/rtsp-relay.ts';
import { writeRtp } from '../../../../support/rtsp/rtp-packets.ts';

type Sent = { sequence: number; timestamp: number; isMarked?: boolean; source?: number };

function pass(codec: 'JPEG' | 'MP2T', sent: Sent[]) {
  const pictures = createWholePictures({ codec, payloadType: 96 });
  const passed = sent.flatMap((packet) => {
    const frames = pictures.push(writeRtp({ ...packet, payload: [packet.sequence] }));
    return frames.map((frame) => frame[16]);
  });
  return { passed, isDamaged: pictures.isDamaged() };
}

test('packets pass once their picture is whole', () => {
  const marked = [
    { sequence: 1, timestamp: 1 },
    { sequence: 2, timestamp: 1, isMarked: true },
    { sequence: 3, timestamp: 2 },
  ];
  expect(pass('JPEG', marked)).toEqual({ passed: [1, 2], isDamaged: false });
  const unmarked = [1, 2, 3].map((sequence) => ({ sequence, timestamp: sequence }));
  expect(pass('JPEG', unmarked)).toEqual({ passed: [1, 2], isDamaged: false });
});

test.each<[string, number[], number[]]>([
  ['within a picture', [1, 3, 4, 5, 6], [4, 5, 6]],
  ['at the end of a picture', [1, 2, 4, 5, 6], []],
  ['at the begin of a picture', [1, 2, 3, 5, 6], [1, 2, 3]],
])('a picture of which a packet %s is missing does not pass', (_place, sequences, expected) => {
  const sent = sequences.map((sequence) => ({
    sequence,
    timestamp: Math.ceil(sequence / 3),
    isMarked: sequence % 3 === 0,
  }));
  expect(pass('JPEG', sent)).toEqual({ passed: expected, isDamaged: true });
});

test('packets of another source do not pass, and those of other codecs pass as they are', () => {
  const sent = [
    { sequence: 1, timestamp: 1, source: 1 },
    { sequence: 9, timestamp: 7, source: 2 },
    { sequence: 2, timestamp: 1, source: 1 },
  ];
  expect(pass('MP2T', sent)).toEqual({ passed: [1, 2], isDamaged: false });
  expect(pass('MP2T', [sent[0]!, { sequence: 3, timestamp: 1, source: 1 }])).toEqual({
    passed: [1, 3],
    isDamaged: true,
  });
});

import { describe, expect, test } from 'vitest';
import { createAccessUnitAssembler } from '../../../../../adapters/media/rtsp/rtp/access-unit-assembler.ts';
import { nalRules } from '../../../../../adapters/media/rtsp/rtp/nal-units.ts';
import { listUnits } from '../../../../../adapters/media/mpeg-ts/unit-begin.ts';
import { encodePictures } from '../../../../support/annex-b.ts';
import { fields } from '../../../../support/interlaced.ts';
import { writeRtp } from '../../../../support/rtsp/rtp-packets.ts';
import { assemble, at, fmtp, idr, keyFrame, pps, show, slice, sps, start, type Packet } from './assemble.ts';

const stap = (...units: number[][]): number[] => [
  0x78,
  ...units.flatMap((unit) => [0, unit.length, ...unit]),
];

const [second, end] = [
  [0x65, 0x48],
  [0x7c, 0x45, 7],
];
const begin = [0x7c, 0x85, 0x88];
/** A unit of a type that nobody defines. */
const odd = [0x7f, 1];
/** Packets of units with one timestamp. */
const all = (timestamp: number, ...units: number[][]): Packet[] => units.map((unit) => at(timestamp, unit));

/** The assembler of a stream of H.264, and what it returns for the packet of a number. */
function open() {
  const track = { payloadType: 96, parameters: fmtp };
  const assembler = createAccessUnitAssembler(track, nalRules({ codec: 'H264', parameters: fmtp })!);
  const push = (sequence: number, packet: Packet, nowMs = 0) =>
    assembler.push(writeRtp({ sequence, ...packet }), nowMs);
  return { assembler, push };
}

describe('interlaced video', () => {
  const packets = fields.flatMap((bytes, index) =>
    Array.from(listUnits([Buffer.alloc(9), bytes]), (unit) => at(index, [...unit])),
  );

  test('a key frame has both fields, also if each has a timestamp', () => {
    const kinds = assemble(packets).map((unit) => unit.split(' ').map((part) => part.slice(0, 2)));
    expect(kinds).toEqual([['K', '67', '68', '65', '61'], ['61'], ['61'], ['61']]);
  });

  test('a field of a key frame without the other one is no picture', () => {
    expect(assemble(packets.filter(({ timestamp }) => timestamp !== 1))).toEqual([]);
  });
});

const marked = { isMarked: true };
const cut = [0x41, 0x40];
const whole = [at(1, idr), at(1, [0x65, 0x40], marked)];
const lost = { ...marked, sequence: 7 };

test.each<[string, Packet[], boolean]>([
  ['where the stream was joined', [at(0, cut, marked), ...whole], false],
  ['a hole behind whole ones', [...whole, at(2, slice, marked), at(3, cut, marked)], true],
  ['a hole behind lost packets', [...whole, at(2, cut, lost), at(3, slice, { sequence: 8 })], true],
  [
    'no hole of a camera that splits its pictures',
    [...whole, ...[2, 4].flatMap((time) => [at(time, cut, marked), at(time + 1, slice, marked)])],
    false,
  ],
])('a unit without its first slice is %s', (_what, packets, expected) => {
  const { assembler, push } = open();
  for (const [sequence, packet] of [...packets, at(9, slice)].entries()) push(sequence, packet);
  expect(assembler.isDamaged()).toBe(expected);
});

describe('H.264 access units', () => {
  test.each<[string, Packet[], string[]]>([
    ['single units', [at(1, sps), at(1, pps), at(1, idr), at(2, slice), at(3, slice)], [keyFrame, '419a']],
    ['an aggregate', [at(1, stap(sps, pps, idr)), at(2, slice), at(3, slice)], [keyFrame, '419a']],
    [
      'fragments',
      [...all(1, stap(sps, pps), [...begin, 5], [0x7c, 5, 6], end), at(2, slice)],
      ['K 6701 6802 6588050607'],
    ],
    ['several slices', [at(1, idr), at(1, [0x65, 0x40]), at(2, slice)], ['K 6701 6802 6588 6540']],
    [
      'a marked one before lost slices',
      [at(1, idr), at(1, [0x65, 0x40], { isMarked: true }), at(2, [0x41, 0x40])],
      ['K 6701 6802 6588 6540'],
    ],
    ['timestamps that wrap', [at(0xffffffff, idr), at(0, slice), at(1, slice)], [keyFrame, '419a']],
    [
      'padding',
      [at(1, idr, { paddingBytes: 4 }), at(2, slice, { paddingBytes: 1 }), at(3, slice)],
      [keyFrame, '419a'],
    ],
    [
      'packets of another type between them',
      [at(1, idr), at(7, [1, 2, 3, 4], { payloadType: 97, sequence: 9 }), at(2, slice, { sequence: 65_534 })],
      [keyFrame],
    ],
  ])('access units are read from %s', (_form, packets, units) => {
    expect(assemble(packets)).toEqual(units);
  });

  test.each<[string, Packet[]]>([
    ['in front of the stream', [at(1, slice), at(2, slice)]],
    ['of a key frame', [at(1, begin), at(1, end, { sequence: 9 })]],
    ['at the end of a key frame', [at(1, begin)]],
    ['at the start of a key frame', [at(1, end)]],
    ['of the first slice', [at(1, [0x65, 0x40])]],
  ])('nothing is read until the next key frame if a packet %s is missing', (_place, packets) => {
    const next = [slice, idr, slice].map((unit, index) => at(8 + index, unit, { sequence: 20 + index }));
    expect(assemble([...packets, ...next])).toEqual([keyFrame]);
  });

  test.each([
    ['a slice of H.265', 'H265', (picture: Buffer[]) => picture.slice(0, -1)],
    ['a picture of H.264', 'H264', () => []],
  ] as const)('%s that a server has lost is a loss, although no packet is', (_part, codec, lose) => {
    const pictures = encodePictures(codec).map((picture, index) => (index === 3 ? lose(picture) : picture));
    const packets = pictures.flatMap((picture, index) =>
      picture.map((unit) => at(index, [...unit], { isMarked: unit === picture.at(-1) })),
    );
    const units = assemble([...packets, at(21, [...pictures[1]![0]!])], { codec, parameters: null });
    expect(units).toHaveLength(3 + 10);
  });

  test('a key frame has the parameter sets that were sent last, or else those of the description', () => {
    const newer = [at(1, idr), at(2, [0x67, 9]), at(2, pps), at(2, slice), at(3, idr), at(4, slice)];
    expect(assemble(newer)).toEqual([keyFrame, '6709 6802 419a', 'K 6709 6802 6588']);
    const apart = [at(1, [0x67, 9]), at(1, pps), at(2, idr), at(3, slice)];
    expect(assemble(apart, { parameters: null })).toEqual(['K 6709 6802 6588']);
    expect(assemble([at(1, idr), at(2, slice), at(3, slice)], { parameters: null })).toEqual([]);
  });

  test('a key frame has one parameter set per type and id, of at most 4 kB together', () => {
    const large = Array<number>(3000).fill(0x55);
    const sets = [
      [0x67, 66, 0, 10, 0x80],
      [0x67, 66, 0, 11, 0x80],
      [0x68, 0x80],
      [0x68, 0x40],
      ...[0, 1, 2].map((id) => [0x68, 0x60 + id, ...large]),
      [0x68, 0x81],
    ];
    const packets = [...sets.map((set) => at(1, set)), at(1, idr), at(2, idr), at(3, slice)];
    const [, later = ''] = assemble(packets, { parameters: null });
    const [sps2, pps1, pps2, pps0, ...rest] = later.split(' ').slice(1);
    expect([sps2, pps1, pps2?.slice(0, 4), pps0, rest]).toEqual([
      '6742000b80',
      '6840',
      '6862',
      '6881',
      ['6588'],
    ]);
  });

  test('a server that sends many parameter sets with a key frame makes no later one long', () => {
    const many = Array.from({ length: 5000 }, (_, id) => [0x68, 0, 0x80 | (id >> 8), id & 0xff, 0x80]);
    const packets = [at(1, sps), ...many.map((set) => at(1, set)), at(1, idr), at(2, idr), at(3, slice)];
    const [, later = ''] = assemble(
      packets.map((packet, sequence) => ({ ...packet, sequence })),
      { parameters: null },
    );
    expect(later.split(' ').length).toBeLessThan(12);
  });

  test.each<[string, number[]]>([
    ['an aggregate beyond the packet', [0x78, 0, 9, 0x65]],
    ['an aggregate with an empty unit', [0x78, 0, 0, 0, 1, 0x65]],
    ['an aggregate within an aggregate', stap(stap(idr))],
    ['a fragment without data', [0x7c, 0x85]],
    ['a packet of the interleaved mode', [0x79, 0, 0, 0, 2, 0x65, 0x88]],
  ])('%s is no access unit, and the stream is read from the next key frame', (_form, payload) => {
    const packets = [at(1, idr), at(2, payload), at(3, slice), at(4, idr), at(5, slice)];
    expect(assemble(packets)).toEqual([keyFrame, keyFrame]);
  });

  const repeated = [65_533, 65_533, 65_534, 65_535];

  test.each<[string, Packet[], string[]]>([
    [
      'of a session that has ended',
      [
        at(1, idr),
        at(7, [0x65, 0x99], { source: 2, sequence: 9 }),
        at(2, slice, { sequence: 65_534 }),
        at(3, slice, { sequence: 65_535 }),
      ],
      [keyFrame, '419a'],
    ],
    [
      'that is repeated',
      [begin, begin, end, slice].map((unit, index) =>
        at(unit === slice ? 2 : 1, unit, { sequence: repeated[index]! }),
      ),
      ['K 6701 6802 658807'],
    ],
    [
      'with parameter sets between two slices',
      [...all(1, sps, pps, idr, sps, pps, second), at(2, slice)],
      [`${keyFrame} 6548`],
    ],
    ['of a type that nobody defines', [...all(1, idr, odd), at(2, slice)], [keyFrame]],
    [
      'of a type that nobody defines between slices of a server that writes one timestamp for all',
      all(0, idr, second, idr, second, idr, second, idr, odd, second, idr),
      [`${keyFrame} 6548`],
    ],
    [
      'of a type that nobody defines, also in fragments, with a timestamp of its own, in a fragmented picture',
      [at(1, begin), ...all(7, odd, [0x7c, 0x9f, 1], [0x7c, 0x5f, 2]), at(1, end), at(2, slice)],
      ['K 6701 6802 658807'],
    ],
    [
      'of a type that nobody defines in an aggregate',
      [at(1, stap(idr, [0x7f])), at(2, slice), at(3, slice)],
      [keyFrame, '419a'],
    ],
    ['that ends the sequence', [at(1, idr), at(1, [0x0a]), at(2, slice)], [`${keyFrame} 0a`]],
    ['without data', [at(1, idr), at(1, []), at(2, slice), at(3, slice)], [keyFrame, '419a']],
    ['with an empty fragment', [...all(1, begin, [0x7c, 5], end), at(2, slice)], ['K 6701 6802 658807']],
    [
      'with padding behind an aggregate',
      [at(1, [...stap(sps, pps, idr), 0, 0, 0]), at(2, slice)],
      [keyFrame],
    ],
  ])('a packet %s changes nothing', (_kind, packets, units) => {
    expect(assemble(packets)).toEqual(units);
  });

  test('a source that replaces another one is read from its first key frame on', () => {
    const own = [at(1, idr), at(2, slice, { isMarked: true })];
    const next = Array.from({ length: 70 }, (_, index) =>
      at(900 + index, index === 67 ? idr : slice, { source: 2, sequence: 40_000 + index }),
    );
    expect(assemble([...own, ...next])).toEqual([keyFrame, '419a', keyFrame, '419a']);
    // Between two pictures, the sequence numbers can continue.
    expect(assemble([...own, at(3, slice, { source: 2 }), at(4, slice, { source: 2 })])).toEqual([
      keyFrame,
      '419a',
      '419a',
    ]);
  });

  test.each<[string, Packet[]]>([
    ['in one unit', [at(1, [...sps, ...start, ...pps, ...start, ...idr])]],
    [
      'in fragments',
      [at(1, [0x7c, 0x87, ...sps.slice(1), ...start, ...pps, 0, 0]), at(1, [0x7c, 0x47, 0, 1, ...idr])],
    ],
    ['in front of each unit', [sps, pps, idr].map((unit) => at(1, [...start, ...unit]))],
    ['in an aggregate', [at(1, stap([...start, ...sps], [...start.slice(1), ...pps], idr))]],
  ])('a key frame with start codes %s is read', (_place, packets) => {
    expect(assemble([...packets, at(2, slice)], { parameters: null })).toEqual([keyFrame]);
  });

  test('start codes in parameter sets of the description are ignored', () => {
    const coded = [sps, pps].map((set) => Buffer.from([...start, ...set]).toString('base64'));
    const parameters = `sprop-parameter-sets=${coded.join()}`;
    expect(assemble([at(1, idr), at(2, slice)], { parameters })).toEqual([keyFrame]);
  });

  test('pictures of a server that writes one timestamp for all are divided by their begin', () => {
    const pictures = Array.from({ length: 5 }, () => all(0, sps, pps, idr, second)).flat();
    expect(assemble(pictures)).toEqual([`${keyFrame} 6548`]);
  });

  test('packets that continue a picture belong to it whatever timestamp they have', () => {
    const packets = [idr, second, [0x7c, 0x85, 0x38], end, slice].map((unit, index) => at(index, unit));
    expect(assemble(packets)).toEqual([`${keyFrame} 6548 653807`]);
  });

  test('a fragmented unit without an end is whole if its picture is marked', () => {
    const packets = [at(1, begin), at(1, [0x7c, 0x05, 7], marked), at(2, slice)];
    expect(assemble(packets)).toEqual(['K 6701 6802 658807']);
  });

  test('an access unit without an end is dropped at its maximum size', () => {
    const { assembler, push } = open();
    const payload = Buffer.alloc(60_000, 0x7c);
    let most = 0;
    for (let index = 0; index < 200; index += 1) {
      payload[1] = index === 0 ? 0x85 : 0x05;
      push(index, { timestamp: 1, payload });
      most = Math.max(most, assembler.heldBytes());
    }
    expect(most).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(push(200, at(2, idr))).toBeNull();
    expect(assembler.heldBytes()).toBeLessThan(100);
  });

  test('the last access unit of a connection is whole if it is marked', () => {
    for (const isMarked of [true, false]) {
      const { assembler, push } = open();
      push(1, at(1, idr, { isMarked }), 7);
      expect(assembler.end()?.arrivedMs).toBe(isMarked ? 7 : undefined);
    }
  });

  test.each<[string, Packet[]]>([
    ['behind the mark', [at(1, idr, marked), at(1, odd)]],
    ['with a timestamp of its own', [at(1, idr, marked), at(7, odd)]],
    ['with the mark of the picture', [at(1, idr), at(1, odd, marked)]],
  ])('the last access unit is whole with a unit of an undefined type %s', (_place, packets) => {
    const { assembler, push } = open();
    for (const [sequence, packet] of packets.entries()) push(sequence, packet, 7);
    expect(show(assembler.end()!.bytes)).toBe('6701 6802 6588');
  });

  test('a packet that is lost in front of a unit of an undefined type counts', () => {
    const before = [at(1, idr, { sequence: 1 }), at(2, slice, { sequence: 2 }), at(2, odd, { sequence: 4 })];
    const behind = [slice, slice, idr, slice].map((unit, index) =>
      at(3 + index, unit, { sequence: 5 + index }),
    );
    const packets = [...before, ...behind];
    expect(assemble(packets)).toEqual([keyFrame, keyFrame]);
  });
});

describe('H.265 access units', () => {
  const sets = [
    [0x40, 1, 1],
    [0x42, 1, 2],
    [0x44, 1, 3],
  ];
  const written = '400101 420102 440103';

  test.each<[string, Packet[]]>([
    ['single units', [...sets.map((set) => at(1, set)), at(1, [0x26, 1, 0x80])]],
    ['an aggregate', [at(1, [0x60, 1, ...[...sets, [0x26, 1, 0x80]].flatMap((unit) => [0, 3, ...unit])])]],
    ['fragments', [...sets.map((set) => at(1, set)), at(1, [0x62, 1, 0xd3, 0x80])]],
  ])('a key frame of H.265 is read from %s', (_form, packets) => {
    const read = assemble([...packets, at(2, [2, 1, 0x80])], { codec: 'H265', parameters: null });
    expect(read).toEqual([`K ${written} 260180`]);
  });

  test.each(['sprop-vps=QAEB;sprop-sps=QgEC;sprop-pps=RAED', 'sprop-pps=RAED;sprop-sps=QgEC;sprop-vps=QAEB'])(
    'a key frame of H.265 has the parameter sets of the description in their order: %s',
    (parameters) => {
      const read = assemble([at(1, [0x26, 1, 0x80]), at(2, [2, 1, 0x80])], { codec: 'H265', parameters });
      expect(read).toEqual([`K ${written} 260180`]);
    },
  );
});

test.each([
  ['JPEG', null],
  ['VP8', null],
  ['H264', 'packetization-mode=2'],
  ['H265', 'sprop-max-don-diff=1'],
] as const)('access units of %s with %s are not read from packets', (codec, parameters) => {
  expect(nalRules({ codec, parameters })).toBeNull();
});

test('start codes separate the units', () => {
  const { push } = open();
  push(1, at(1, idr), 5);
  const unit = push(2, at(2, slice), 9);
  expect(unit).toMatchObject({ timestamp: 1, arrivedMs: 5, isKeyFrame: true });
  expect([...unit!.bytes]).toEqual([...start, ...sps, ...start, ...pps, ...start, ...idr]);
});

test('a key frame has memory of its own, and other units have it or share 64 KiB', () => {
  const { push } = open();
  const units = [idr, ...Array<number[]>(200).fill(slice), idr, slice].flatMap((head, index) => {
    const payload = Buffer.alloc(index === 100 ? 30_000 : 1000, index);
    payload.set(head);
    return push(index, { timestamp: index, payload }) ?? [];
  });
  expect(units).toHaveLength(202);
  for (const [index, { bytes, isKeyFrame }] of units.entries()) {
    expect(bytes.at(-1)).toBe(index);
    const memory = bytes.buffer.byteLength;
    expect(memory).toBe(isKeyFrame || index === 100 ? bytes.length : 65_536);
  }
  expect(new Set(units.map(({ bytes }) => bytes.buffer)).size).toBe(3 + 4);
});

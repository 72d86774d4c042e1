import { describe, expect, test } from 'vitest';
import { objectClasses } from '../../../../adapters/vision/objects/classes.ts';
import { decodeDetections } from '../../../../adapters/vision/objects/decode-detections.ts';
import { nearestInputSize } from '../../../../adapters/vision/objects/detector.ts';
import { parseNetwork, resizeNetwork } from '../../../../adapters/vision/objects/network-graph.ts';

const size = { width: 64, height: 32 };
const [columns, rows] = [size.width / 4, size.height / 4];

/** Creates an output with these scores; each cell's box reaches 8 pixels to every side. */
function output(...scores: { column: number; row: number; object: string; score: number }[]) {
  const filled = new Float32Array(columns * rows * objectClasses.length);
  for (const { column, row, object, score } of scores) {
    filled[
      (row * columns + column) * objectClasses.length + objectClasses.findIndex((name) => name === object)
    ] = score;
  }
  return { scores: filled, extents: new Float32Array(columns * rows * 4).fill(8) };
}

describe('decodeDetections', () => {
  test('A peak is one object with its box in shares of the picture', () => {
    const found = decodeDetections(output({ column: 8, row: 4, object: 'dog', score: 0.5 }), size);
    expect(found).toEqual([
      { object: 'dog', score: 0.5, box: { x: 24 / 64, y: 8 / 32, width: 16 / 64, height: 16 / 32 } },
    ]);
  });

  test('A cell beside a higher one of its class is no object', () => {
    const found = decodeDetections(
      output(
        { column: 8, row: 4, object: 'dog', score: 0.5 },
        { column: 9, row: 4, object: 'dog', score: 0.4 },
        { column: 9, row: 5, object: 'cat', score: 0.3 },
      ),
      size,
    );
    expect(found.map(({ object }) => object)).toEqual(['dog', 'cat']);
  });

  test('Boxes of one class that overlap by more than 55 % are one object', () => {
    const scores = output(
      { column: 6, row: 4, object: 'car', score: 0.4 },
      { column: 8, row: 4, object: 'car', score: 0.6 },
    );
    expect(decodeDetections(scores, size)).toHaveLength(2);
    const wide = { ...scores, extents: new Float32Array(columns * rows * 4).fill(20) };
    expect(decodeDetections(wide, size).map(({ score }) => Math.round(score * 10))).toEqual([6]);
  });

  test('A person of less than 7 % of the height has three quarters of its score, another object its whole score', () => {
    const low = { width: 64, height: 320 };
    const scores = new Float32Array(16 * 80 * objectClasses.length);
    for (const [row, object, score] of [
      [20, 'person', 0.36],
      [40, 'dog', 0.36],
    ] as const)
      scores[(row * 16 + 8) * objectClasses.length + objectClasses.indexOf(object)] = score;
    const extents = new Float32Array(16 * 80 * 4).fill(8);
    expect(decodeDetections({ scores, extents }, low).map(({ score }) => Math.round(score * 100))).toEqual([
      36, 27,
    ]);
  });

  test('A score below 0.05 is not reported, and boxes end at the border of the picture', () => {
    const found = decodeDetections(
      output(
        { column: 0, row: 0, object: 'bus', score: 0.2 },
        { column: 9, row: 2, object: 'bus', score: 0.049 },
      ),
      size,
    );
    expect(found.map(({ box }) => box)).toEqual([{ x: 0, y: 0, width: 8 / 64, height: 8 / 32 }]);
  });
});

describe('nearestInputSize', () => {
  test.each([
    [{ width: 1920, height: 1080 }, '512x288'],
    [{ width: 896, height: 672 }, '512x384'],
    [{ width: 480, height: 480 }, '512x512'],
    [{ width: 720, height: 1280 }, '288x512'],
    [{ width: 600, height: 800 }, '384x512'],
  ])('A picture of %o is reduced to %s', (picture, expected) => {
    const { width, height } = nearestInputSize(picture);
    expect(`${width}x${height}`).toBe(expected);
  });
});

describe('resizeNetwork', () => {
  const upsampling = (name: string) => ({
    name: `tower_0/CenternetHead/${name}/mul`,
    shape: [2],
    dtype: 'int32',
  });
  const graph = {
    modelTopology: {
      node: [
        { name: 'tower_0/images', op: 'Placeholder' },
        { name: 'other', op: 'Relu' },
      ],
    },
    weightsManifest: [
      {
        weights: [
          { name: 'half', shape: [3], dtype: 'float32', quantization: { dtype: 'float16' } },
          upsampling('c5_upsample/up_sampling2d'),
          { name: 'whole', shape: [], dtype: 'float32' },
          upsampling('c4_upsample/up_sampling2d_1'),
          upsampling('c3_upsample/up_sampling2d_2'),
        ],
      },
    ],
  };

  test('The input and the three upsampling steps get the size, and no other weight changes', () => {
    const network = parseNetwork(JSON.stringify(graph), new Uint8Array(6 + 8 + 4 + 8 + 8).fill(7));
    const { topology, weights } = resizeNetwork(network, { width: 512, height: 288 });
    expect(topology.node[0]).toMatchObject({
      attr: { shape: { shape: { dim: [{ size: '1' }, { size: '288' }, { size: '512' }, { size: '3' }] } } },
    });
    const view = new DataView(weights.buffer);
    const pair = (at: number) => [view.getInt32(at, true), view.getInt32(at + 4, true)];
    expect([pair(6), pair(18), pair(26)]).toEqual([
      [18, 32],
      [36, 64],
      [72, 128],
    ]);
    expect([...weights.subarray(0, 6), ...weights.subarray(14, 18)]).toEqual(Array(10).fill(7));
    expect(new Set(network.weights)).toEqual(new Set([7]));
  });

  test('The mean of the finest map becomes a pooling of its size, which is quicker', () => {
    const mean = { name: 'tower_0/CenternetHead/Mean', op: 'Mean', input: ['map', 'axes'] };
    const withMean = { ...graph, modelTopology: { node: [...graph.modelTopology.node, mean] } };
    const network = parseNetwork(JSON.stringify(withMean), new Uint8Array(34));
    const { topology } = resizeNetwork(network, { width: 512, height: 288 });
    expect(topology.node[2]).toMatchObject({
      name: mean.name,
      op: 'AvgPool',
      input: ['map'],
      attr: { ksize: { list: { i: ['1', '72', '128', '1'] } } },
    });
  });

  test('A network without these constants is rejected', () => {
    const other = { ...graph, weightsManifest: [{ weights: [] }] };
    const network = parseNetwork(JSON.stringify(other), new Uint8Array());
    expect(() => resizeNetwork(network, { width: 512, height: 288 })).toThrow('no constant');
  });
});

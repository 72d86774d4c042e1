import { z } from 'zod';
import type { PictureSize } from './detector.ts';

const weightSchema = z.looseObject({
  name: z.string(),
  shape: z.array(z.number()),
  dtype: z.enum(['float32', 'int32']),
  quantization: z.looseObject({ dtype: z.literal('float16') }).optional(),
});

/** Part of a TensorFlow.js graph that decides its input size. */
const graphSchema = z.object({
  modelTopology: z.looseObject({ node: z.array(z.looseObject({ name: z.string() })) }),
  weightsManifest: z.tuple([z.looseObject({ weights: z.array(weightSchema) })]),
});

/** Network: its nodes, and its weights as one block of bytes in the order of `specs`. */
export type Network = {
  topology: z.infer<typeof graphSchema>['modelTopology'];
  specs: z.infer<typeof weightSchema>[];
  weights: Uint8Array;
};

/** Parses the files of the package. */
export function parseNetwork(json: string, weights: Uint8Array): Network {
  const graph = graphSchema.parse(JSON.parse(json));
  return { topology: graph.modelTopology, specs: graph.weightsManifest[0].weights, weights };
}

type GraphNode = Network['topology']['node'][number];

const inputName = 'tower_0/images';
/** Constants with the target size of an upsampling step, and the pixels of the input per cell of that size. */
const upsamplings: readonly { name: string; cellPixels: number }[] = [
  { name: 'tower_0/CenternetHead/c5_upsample/up_sampling2d/mul', cellPixels: 16 },
  { name: 'tower_0/CenternetHead/c4_upsample/up_sampling2d_1/mul', cellPixels: 8 },
  { name: 'tower_0/CenternetHead/c3_upsample/up_sampling2d_2/mul', cellPixels: 4 },
];

/**
 * Mean over all cells of the finest map. As a pooling it takes 1 ms instead of 10 of 100 in the WebAssembly backend,
 * with the same result.
 */
const slowMean = 'tower_0/CenternetHead/Mean';

function toPooling(node: GraphNode, cellRows: number, cellColumns: number): GraphNode {
  const [input] = z.array(z.string()).parse(node['input']);
  return {
    name: node.name,
    op: 'AvgPool',
    input: [input],
    attr: {
      T: { type: 'DT_FLOAT' },
      ksize: toInts([1, cellRows, cellColumns, 1]),
      strides: toInts([1, 1, 1, 1]),
      padding: toText('VALID'),
      data_format: toText('NHWC'),
    },
  };
}

function toInts(values: number[]) {
  return { list: { i: values.map(String) } };
}

/** Encodes an attribute as the format does: bytes are base64. */
function toText(value: string) {
  return { s: Buffer.from(value).toString('base64') };
}

/** Sets the input size of a network, which is 512×512 in the package. Without the constants, only squares would fit. */
export function resizeNetwork(
  { topology, specs, weights }: Network,
  { width, height }: PictureSize,
): Network {
  const dim = [1, height, width, 3].map((size) => ({ size: `${size}` }));
  const shape = { shape: { shape: { dim } }, dtype: { type: 'DT_FLOAT' } };
  const node = topology.node.map((entry) => {
    if (entry.name === inputName) return { ...entry, attr: shape };
    return entry.name === slowMean ? toPooling(entry, height / 4, width / 4) : entry;
  });
  const resized = weights.slice();
  const view = new DataView(resized.buffer);
  for (const { name, cellPixels } of upsamplings) {
    const offset = byteOffset(specs, name);
    view.setInt32(offset, height / cellPixels, true);
    view.setInt32(offset + 4, width / cellPixels, true);
  }
  return { topology: { ...topology, node }, specs, weights: resized };
}

function byteOffset(specs: Network['specs'], name: string): number {
  const index = specs.findIndex((spec) => spec.name === name);
  if (index === -1) throw new Error(`The network has no constant ${name}`);
  return specs.slice(0, index).reduce((sum, spec) => sum + byteLength(spec), 0);
}

function byteLength({ shape, quantization }: Network['specs'][number]): number {
  return shape.reduce((product, size) => product * size, 1) * (quantization === undefined ? 4 : 2);
}

import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { loadGraphModel, type GraphModel } from '@tensorflow/tfjs-converter';
import { io, setBackend, tensor, type Tensor } from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-wasm';
import { z } from 'zod';
import { decodeDetections } from './decode-detections.ts';
import type { PictureSize } from './detector.ts';
import { parseNetwork, resizeNetwork } from './network-graph.ts';

// Thread that runs the network: TensorFlow.js blocks for 0.1 s per image. It processes one image after the other.

const files = z
  .object({
    graph: z.string(),
    weights: z.string(),
    warmUp: z.object({ width: z.number(), height: z.number() }).nullable(),
  })
  .parse(workerData);
const requestSchema = z.object({
  id: z.number(),
  width: z.number(),
  height: z.number(),
  rgb: z.instanceof(Uint8Array),
});

const network = parseNetwork(readFileSync(files.graph, 'utf8'), readFileSync(files.weights));
await setBackend('wasm');
const models = new Map<string, Promise<GraphModel>>();

function modelFor(size: PictureSize): Promise<GraphModel> {
  const key = `${size.width}x${size.height}`;
  const loaded = models.get(key);
  if (loaded !== undefined) return loaded;
  const { topology, specs, weights } = resizeNetwork(network, size);
  const loading = loadGraphModel(
    io.fromMemory({
      modelTopology: topology,
      weightSpecs: specs,
      weightData: new Uint8Array(weights).buffer,
    }),
  );
  models.set(key, loading);
  return loading;
}

async function detect(rgb: Uint8Array, size: PictureSize) {
  const model = await modelFor(size);
  const input = tensor(new Float32Array(rgb), [1, size.height, size.width, 3]);
  const output = model.execute({ 'tower_0/images': input }, ['tower_0/keypoints', 'tower_0/wh']);
  const [scores, extents] = Array.isArray(output) ? output : [output];
  try {
    return decodeDetections({ scores: await floats(scores), extents: await floats(extents) }, size);
  } finally {
    for (const used of [input, scores, extents]) used?.dispose();
  }
}

async function floats(values: Tensor | undefined): Promise<Float32Array> {
  const data = await values?.data();
  if (!(data instanceof Float32Array)) throw new Error('The network returned no numbers');
  return data;
}

async function reply(message: unknown): Promise<void> {
  const { id, rgb, ...size } = requestSchema.parse(message);
  try {
    parentPort?.postMessage({ id, detections: await detect(rgb, size) });
  } catch (error) {
    parentPort?.postMessage({ id, error: String(error) });
  }
}

if (files.warmUp !== null) {
  const { width, height } = files.warmUp;
  await detect(new Uint8Array(width * height * 3), files.warmUp);
}
let turn = Promise.resolve();
parentPort?.on('message', (message: unknown) => {
  turn = turn.then(() => reply(message));
});
parentPort?.postMessage({ ready: true });

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const runtimes = ['@tensorflow/tfjs-core', '@tensorflow/tfjs-converter', '@tensorflow/tfjs-backend-wasm'];

export const installCommand = 'npm install --include=optional';

/** Files of the network in the package `@vladmandic/human`, whose exports hide them. */
export type NetworkFiles = { graph: string; weights: string };

/** Returns the files of the network, or null if one of the optional packages is not installed. */
export function findNetworkFiles(
  resolve: (specifier: string) => string = (specifier) => import.meta.resolve(specifier),
): NetworkFiles | null {
  try {
    for (const name of runtimes) if (!existsSync(fileURLToPath(resolve(name)))) return null;
    const entry = resolve('@vladmandic/human');
    const graph = fileURLToPath(new URL('../models/centernet.json', entry));
    const weights = fileURLToPath(new URL('../models/centernet.bin', entry));
    return existsSync(graph) && existsSync(weights) ? { graph, weights } : null;
  } catch {
    return null;
  }
}

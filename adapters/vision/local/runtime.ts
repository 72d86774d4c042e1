import { createRequire } from 'node:module';
import { join, resolve, basename } from 'node:path';
import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** Package of the runtime, llama.cpp for Node, and the version that is tested. */
const runtimePackage = '@fugood/llama.node';
const version = '1.7.15';

/**
 * Returns the module of the runtime, or undefined if it is not installed. `folder` has its `node_modules`; empty: that
 * of Watchpost.
 */
export function findRuntime(folder: string): string | undefined {
  const from = folder === '' ? import.meta.url : join(resolve(folder), 'package.json');
  try {
    return createRequire(from).resolve(runtimePackage);
  } catch {
    return undefined;
  }
}

/**
 * Returns the command that installs the runtime. Into a folder of its own, it installs the variant for processors only
 * (22 MB).
 */
export function installCommand(
  folder: string,
  { platform, arch }: { platform: string; arch: string } = process,
): string {
  // As an optional dependency of this run: npm omits a peer that is optional.
  if (folder === '') return `npm install --no-save --save-optional ${runtimePackage}@${version}`;
  const variant = `@fugood/node-llama-${platform}-${arch}@${version}`;
  return `npm install --prefix ${folder} --omit=optional ${runtimePackage}@${version} ${variant}`;
}

/** Files of a vision-language model in the format of llama.cpp. */
export type ModelFiles = { model: string; projector: string };

/** Bytes of the header that are read: the architecture is its first entry. */
const headerBytes = 256;

/**
 * Returns the size of both files in bytes. Throws an error with a sentence if one is missing, no GGUF file, or the
 * other kind of file.
 */
export function inspectModelFiles({ model, projector }: ModelFiles): number {
  const sizes = [model, projector].map((path) => readSize(path));
  const [ofModel, ofProjector] = [readArchitecture(model), readArchitecture(projector)];
  if (ofModel === 'clip' && ofProjector !== 'clip')
    throw new Error(`${basename(model)} is a projector: exchange model and projector`);
  if (ofModel === 'clip') throw new Error(`${basename(model)} is a projector, not a model`);
  if (ofProjector !== 'clip' && ofProjector !== undefined)
    throw new Error(`${basename(projector)} is no projector: use the mmproj file of the same model`);
  return sizes.reduce((sum, size) => sum + size, 0);
}

function readSize(path: string): number {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file?.isFile()) throw new Error(`there is no file ${path}`);
  return file.size;
}

/**
 * Returns the architecture that a GGUF file names: `clip` for projectors; undefined if its first entry is another one.
 */
function readArchitecture(path: string): string | undefined {
  const header = Buffer.alloc(headerBytes);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, headerBytes, 0);
  } finally {
    closeSync(file);
  }
  // Magic, version, counts of tensors and entries; then key (length, text), type 8 (text) and value (length, text).
  if (header.toString('latin1', 0, 4) !== 'GGUF') throw new Error(`${path} is no GGUF file`);
  const key = 'general.architecture';
  const begin = 32 + key.length;
  if (Number(header.readBigUInt64LE(24)) !== key.length || header.toString('latin1', 32, begin) !== key)
    return undefined;
  const length = Number(header.readBigUInt64LE(begin + 4));
  return header.readUInt32LE(begin) === 8 && length < 64
    ? header.toString('latin1', begin + 12, begin + 12 + length)
    : undefined;
}

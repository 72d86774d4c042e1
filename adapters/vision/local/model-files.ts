import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';

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

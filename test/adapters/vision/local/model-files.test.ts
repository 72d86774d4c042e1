import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inspectModelFiles, findRuntime, installCommand } from '../../../../adapters/vision/local/runtime.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

function gguf(architecture: string, key = 'general.architecture'): Buffer {
  const length = (text: string) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(text.length));
    return bytes;
  };
  const start = Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(20)]);
  const type = Buffer.from([8, 0, 0, 0]);
  return Buffer.concat([
    start,
    length(key),
    Buffer.from(key),
    type,
    length(architecture),
    Buffer.from(architecture),
  ]);
}

test('files of a model are distinguished from other files before anything is loaded', () => {
  const folder = folderOfTest();
  const write = (name: string, bytes: Uint8Array) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  const model = write('model.gguf', gguf('llama'));
  const projector = write('projector.gguf', gguf('clip'));
  const unknown = write('unknown.gguf', gguf('x', 'general.name'));
  const text = write('text.gguf', Buffer.from('hello'));
  expect(inspectModelFiles({ model, projector })).toBe(gguf('llama').length + gguf('clip').length);
  expect(() => inspectModelFiles({ model, projector: unknown })).not.toThrow();
  expect(() => inspectModelFiles({ model: projector, projector: model })).toThrow(
    /exchange model and projector/,
  );
  expect(() => inspectModelFiles({ model: projector, projector })).toThrow(/is a projector, not a model/);
  expect(() => inspectModelFiles({ model, projector: model })).toThrow(/use the mmproj file/);
  expect(() => inspectModelFiles({ model: text, projector })).toThrow(/no GGUF file/);
  expect(() => inspectModelFiles({ model: join(folder, 'none'), projector })).toThrow(/there is no file/);
  expect(() => inspectModelFiles({ model: folder, projector })).toThrow(/there is no file/);
});

test('a runtime that is not installed is named by the command that installs it', () => {
  const folder = folderOfTest();
  expect(findRuntime(folder)).toBeUndefined();
  expect(installCommand('')).toMatch(/^npm install --no-save --save-optional @fugood\/llama\.node@[\d.]+$/);
  expect(installCommand('/opt/llama', { platform: 'linux', arch: 'arm64' })).toMatch(
    /^npm install --prefix \/opt\/llama --omit=optional @fugood\/llama\.node@([\d.]+) @fugood\/node-llama-linux-arm64@\1$/,
  );
});

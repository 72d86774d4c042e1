import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { installPython, pythonTool } from '../support/python/python-tool.ts';

/** Options of `llama_server.py`. Without a projector the model takes no pictures. */
export type LlamaOptions = { model: string; projector?: string; context: number; slots: number };

export type LlamaServer = AsyncDisposable & { baseUrl: string; messages(): string };

const script = fileURLToPath(new URL('llama_server.py', import.meta.url));

/** Starts llama.cpp's own server, installed from PyPI once. Returns undefined where it cannot be had. */
export async function startLlamaServer(options: LlamaOptions): Promise<LlamaServer | undefined> {
  if ((await pythonTool('xllamacpp', 'python')) === undefined) return undefined;
  const python = `${await installPython('xllamacpp')}/bin/python`;
  const child = spawn(python, [script, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'pipe'] });
  let messages = '';
  child.stderr.on('data', (text: Buffer) => (messages += text.toString()));
  const closed = once(child, 'close');
  const address = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line)),
    closed.then(() => undefined),
  ]);
  if (address === undefined) throw new Error(`llama.cpp's server did not start:\n${messages}`);
  return {
    baseUrl: `${address}/v1`,
    messages: () => messages,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

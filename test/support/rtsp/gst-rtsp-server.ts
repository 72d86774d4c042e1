import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const readySchema = z.object({ url: z.string(), flips_at: z.number().nullable() });

export type GstRtspServer = { url: string; flipsAt: Date | null; close(): Promise<void> };

/**
 * Starts GStreamer's RTSP server with the flags of the script beside this file. Throws with the packages if it is
 * missing.
 */
export async function startGstRtspServer(...flags: string[]): Promise<GstRtspServer> {
  const script = fileURLToPath(new URL('gst-rtsp-server.py', import.meta.url));
  const child = spawn('/usr/bin/python3', [script, ...flags], { stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.on('error', (error) => (stderr += error.message));
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'close'),
  ])) as unknown[];
  if (typeof line !== 'string') throw new Error(`${installation}\n\n${stderr}`);
  const { url, flips_at: flipsAt } = readySchema.parse(JSON.parse(line));
  return {
    url,
    flipsAt: flipsAt === null ? null : new Date(flipsAt * 1000),
    async close() {
      const closed = once(child, 'close');
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), 1_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

const installation = `GStreamer's RTSP server does not start. These tests run against it; install it with:
  apt-get update && apt-get install -y python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly`;

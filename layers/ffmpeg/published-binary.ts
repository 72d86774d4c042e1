import { gunzipSync } from 'node:zlib';
import { EnvHttpProxyAgent, fetch } from 'undici';

import { DownloadError } from './fetched-binary.ts';
import type { FetchedBinary, LayerArchitecture } from './fetched-binary.ts';

/** Release that ffmpeg-static 5.3 installs. */
export const release = 'b6.1.1';
const publisher = 'https://github.com/eugeneware/ffmpeg-static/releases/download';

/** Maximum size of the binary, in bytes. The largest has about 80 MB. */
const maxBinaryBytes = 200_000_000;

/**
 * Downloads the Linux build of ffmpeg-static, for any architecture and on any host. `FFMPEG_BINARIES_URL` sets
 * another source, as for the installer of ffmpeg-static. Throws `DownloadError`.
 */
export async function fetchPublishedBinary(
  architecture: LayerArchitecture,
  env: NodeJS.ProcessEnv,
): Promise<FetchedBinary> {
  const base = `${env['FFMPEG_BINARIES_URL'] ?? publisher}/${release}/ffmpeg-linux-${published[architecture]}`;
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const [packed, license, readme] = await Promise.all([
      download(`${base}.gz`, dispatcher),
      download(`${base}.LICENSE`, dispatcher),
      download(`${base}.README`, dispatcher),
    ]);
    const binary = gunzipSync(packed, { maxOutputLength: maxBinaryBytes });
    return { origin: `${base}.gz`, binary, texts: { LICENSE: text(license), README: text(readme) } };
  } finally {
    await dispatcher.close();
  }
}

const published = { arm64: 'arm64', x86_64: 'x64' } as const satisfies Record<LayerArchitecture, string>;

async function download(url: string, dispatcher: EnvHttpProxyAgent): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { dispatcher, signal: AbortSignal.timeout(300_000) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw new DownloadError(`${url} could not be downloaded`, { cause: error });
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

import { gunzipSync } from 'node:zlib';
import { EnvHttpProxyAgent, fetch } from 'undici';

export type LayerArchitecture = 'arm64' | 'x86_64';

/** A file that the release has not, or that could not be fetched. */
export class DownloadError extends Error {}

export type PublishedBinary = { url: string; binary: Uint8Array; license: string; readme: string };

/** The release that ffmpeg-static 5.3 installs. */
export const release = 'b6.1.1';
const publisher = 'https://github.com/eugeneware/ffmpeg-static/releases/download';

/** The largest is some 80 MB unpacked; what is far above that is no ffmpeg. */
const mostBinaryBytes = 200_000_000;

/**
 * ffmpeg for Linux as ffmpeg-static publishes it, for any architecture whatever this machine is. `FFMPEG_BINARIES_URL` names another place,
 * as it does for ffmpeg-static's own installer. Throws `DownloadError`.
 */
export async function fetchPublishedBinary(
  architecture: LayerArchitecture,
  env: NodeJS.ProcessEnv,
): Promise<PublishedBinary> {
  const base = `${env['FFMPEG_BINARIES_URL'] ?? publisher}/${release}/ffmpeg-linux-${published[architecture]}`;
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const [packed, license, readme] = await Promise.all([
      download(`${base}.gz`, dispatcher),
      download(`${base}.LICENSE`, dispatcher),
      download(`${base}.README`, dispatcher),
    ]);
    const binary = gunzipSync(packed, { maxOutputLength: mostBinaryBytes });
    return { url: `${base}.gz`, binary, license: text(license), readme: text(readme) };
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
    throw new DownloadError(`${url} could not be fetched`, { cause: error });
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

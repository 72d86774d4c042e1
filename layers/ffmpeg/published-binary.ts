import { gunzipSync } from 'node:zlib';
import { EnvHttpProxyAgent, fetch } from 'undici';

/** CPU architecture of a layer. */
export type LayerArchitecture = 'arm64' | 'x86_64';

/** Error for a file that is missing in the release or could not be downloaded. */
export class DownloadError extends Error {}

/** Downloaded binary with its URL, license and readme. */
export type PublishedBinary = { url: string; binary: Uint8Array; license: string; readme: string };

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
): Promise<PublishedBinary> {
  const base = `${env['FFMPEG_BINARIES_URL'] ?? publisher}/${release}/ffmpeg-linux-${published[architecture]}`;
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const [packed, license, readme] = await Promise.all([
      download(`${base}.gz`, dispatcher),
      download(`${base}.LICENSE`, dispatcher),
      download(`${base}.README`, dispatcher),
    ]);
    const binary = gunzipSync(packed, { maxOutputLength: maxBinaryBytes });
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
    throw new DownloadError(`${url} could not be downloaded`, { cause: error });
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

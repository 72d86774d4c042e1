import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { parsePlaylist } from '../../support/hls/parse-playlist.ts';
import { EgressTimeoutError } from '../../../adapters/egress/errors.ts';

/**
 * Entry that is bundled like a function and run separately: reads the address from its arguments and prints the
 * result.
 */

const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
const url = process.argv[2] ?? '';
const { status, body } = await http.request(url, { maxBytes: 1000, timeoutMs: 5000, maxRedirects: 1 });
const refused = await http
  .request('http://10.0.0.1/', { maxBytes: 1000, timeoutMs: 5000 })
  .catch((error: unknown) => error);
const playlist = parsePlaylist(
  Buffer.from('#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n'),
  'http://127.0.0.1/live.m3u8',
);
await http.close();
process.stdout.write(
  JSON.stringify({
    status,
    body: Buffer.from(body).toString(),
    refused: refused instanceof Error ? refused.name : null,
    playlist: playlist.kind,
    error: new EgressTimeoutError('late').name,
  }),
);

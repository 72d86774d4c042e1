/** Response of a hostile RTSP server to one method; it responds to other methods like a camera. */
export type RtspVector = {
  name: string;
  at: 'OPTIONS' | 'DESCRIBE' | 'SETUP' | 'PLAY';
  status?: number;
  headers?: Record<string, string>;
  /** Bytes instead of the response, or before it with `answers`. */
  raw?: string;
  answers?: true;
  /** SDP lines that replace lines with the same beginning, or are appended. */
  sdp?: string[];
};

const methods = ['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY'] as const;
const inside = 'rtsp://127.0.0.1:{port}/cam';

const controls =
  `rtsp://127.0.0.1:{port}/t rtsp://localhost:{port}/t rtsp://[::1]:{port}/t rtsp://0x7f.1:{port}/t
  rtsps://127.0.0.1:{port}/t rtspu://127.0.0.1:{port}/t http://127.0.0.1:{port}/t file://{file} //127.0.0.1:{port}/t
  @127.0.0.1:{port}/t rtsp://{self}@127.0.0.1:{port}/t data:, concat:{file} ../../../..{file}`
    .trim()
    .split(/\s+/);

const transports = [
  'RTP/AVP;unicast;client_port=5000-5001;server_port={port}-{port};source=127.0.0.1',
  'RTP/AVP/UDP;unicast;destination=127.0.0.1;client_port={port}-{port}',
  'RTP/AVP;multicast;destination=224.0.0.251;port={port}-{port};ttl=16',
  'RTP/AVP/TCP;unicast;interleaved=0-1;source=127.0.0.1;destination=127.0.0.1',
  'RTP/AVP/TCP;unicast;interleaved=0-1;server_port={port}-{port};client_port={port}-{port}',
  'RAW/RAW/UDP;unicast;destination=127.0.0.1;client_port={port}-{port}',
  'RTP/AVP/TCP;unicast;interleaved=0-1,RTP/AVP;unicast;destination=127.0.0.1;server_port={port}-{port}',
  'RTP/SAVP;unicast;source=127.0.0.1;server_port={port}-{port}',
  'x-real-rdt/udp;client_port={port};server_port={port};source=127.0.0.1',
  'x-pn-tng/tcp;server_port={port};source=127.0.0.1',
];

const lines = [
  'c=IN IP4 127.0.0.1',
  'c=IN IP4 127.0.0.1/127',
  'c=IN IP6 ::1',
  'c=IN IP4 169.254.169.254',
  'c=IN IP4 224.0.0.251/32',
  'c=IN IP4 localhost',
  'o=- 1 1 IN IP4 127.0.0.1',
  'u=http://127.0.0.1:{port}/',
  'e=a@127.0.0.1',
  'k=uri:http://127.0.0.1:{port}/key',
  'a=key-mgmt:mikey AQ http://127.0.0.1:{port}/',
  'a=source-filter: incl IN IP4 * 127.0.0.1',
  'a=rtcp:{port} IN IP4 127.0.0.1',
  'a=candidate:1 1 UDP 1 127.0.0.1 {port} typ host',
  'a=alt:1 1 : 1 1 127.0.0.1 {port}',
  'a=etag:http://127.0.0.1:{port}/',
  'a=fmtp:96 config=http://127.0.0.1:{port}/;sprop-parameter-sets=file://{file}',
  'a=pgmpu:data:application/vnd.ms.wms-hdr.asfv1;base64,AAAA',
  'a=StreamName:string;"file://{file}"',
  'm=video {port} RTP/AVP 96',
  'm=video {port} UDP 96',
  'm=application {port} TCP x',
];

const vector = (name: string, at: RtspVector['at'], fields: Partial<RtspVector>): RtspVector => ({
  name,
  at,
  ...fields,
});
const redirects = [301, 302, 303, 305, 307, 308];
const bases = [
  'rtsp://127.0.0.1:{port}/cam/',
  'http://127.0.0.1:{port}/',
  'file://{file}',
  '//127.0.0.1:{port}/',
];
const ofLocation = { Location: inside, 'Content-Location': inside, 'Alt-Svc': 'rtsp="127.0.0.1:{port}"' };
const redirect = `REDIRECT rtsp://{self}/cam RTSP/1.0\r\nCSeq: 1\r\nLocation: ${inside}\r\n\r\n`;
const ofPlay: Record<string, string>[] = [
  { 'RTP-Info': `url=${inside};seq=1;rtptime=1` },
  { 'RTP-Info': 'url=http://127.0.0.1:{port}/' },
  { Session: `a;timeout=60;${inside}` },
  { 'Media-Properties': inside, 'Media-Range': 'npt=0-' },
];

export const rtspVectors: RtspVector[] = [
  ...methods.flatMap((at) => [
    ...redirects.map((status) => vector(`${status} at ${at}`, at, { status, headers: { Location: inside } })),
    vector(`a location in the answer to ${at}`, at, { headers: ofLocation }),
    vector(`a REDIRECT of the server's at ${at}`, at, { answers: true, raw: redirect }),
    vector(`a challenge that names another server at ${at}`, at, {
      status: 401,
      headers: { 'WWW-Authenticate': `Digest realm="a", nonce="b", domain="${inside}"` },
    }),
  ]),
  ...controls.map((to) => vector(`a track's control ${to}`, 'DESCRIBE', { sdp: [`a=control:${to}`] })),
  ...['Content-Base', 'Content-Location'].flatMap((header) =>
    bases.map((base) => vector(`a ${header} of ${base}`, 'DESCRIBE', { headers: { [header]: base } })),
  ),
  ...transports.map((Transport) => vector(`a transport ${Transport}`, 'SETUP', { headers: { Transport } })),
  ...lines.map((line) => vector(`a description with ${line}`, 'DESCRIBE', { sdp: [line] })),
  ...ofPlay.map((headers) =>
    vector(`an answer to PLAY with ${JSON.stringify(headers)}`, 'PLAY', { headers }),
  ),
  vector('lines hidden behind a carriage return', 'DESCRIBE', {
    sdp: [`a=control:track1\ra=control:${inside}\rc=IN IP4 127.0.0.1`],
  }),
  vector('an HTTP answer that redirects', 'OPTIONS', {
    raw: 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{port}/\r\nContent-Length: 0\r\n\r\n',
  }),
];

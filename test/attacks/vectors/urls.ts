import { malformedHosts, refusedHosts } from '../../adapters/egress/vectors.ts';

/** Hosts with internal addresses in unusual notations, beside those of the guard's own tests. */
const hosts = {
  loopback: `127.0.0.53 127.0.1.1 127.1.2.3 127.255.255.254 127.000.000.1 127.0x0.0.1 127.0.1 0177.1 0177.0.1
    0x7f.0.1 0x7F000001 0x7f.0x1 017700000001 2130706434 2130772483 0x0000007f.0.0.1 0000177.0.0.1 [0::1] [::0001]
    [0000:0000:0000:0000:0000:0000:0000:0001] [0:0:0:0:0:0:127.0.0.1] [0::0:1]`,
  unspecified:
    '0.0.0.1 0.0 0.0.0 00 000 0x0.0 00000000000 [0::] [0:0:0:0:0:0:0:0] [::0] [::0.0.0.0] 0.0.0.0.',
  metadata: `169.254.43518 169.16689662 0xa9.0xfe.0xa9.0xfe 0xA9FEA9FE 025177524776 [::ffff:a9fe:a9fe]
    [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::] [fd00:ec2:0:0:0:0:0:254] [fd00:0ec2::0254] 100.100.25800
    1684301000 0250.077.0201.020 169.254.170.23. 169.254.169.123 169.254.169.253 169.254.169.250 Metadata.Google.Internal`,
  inside: `10.0.1 10.1 0xa000001 167772161 012.1 172.16.1 0xac100001 2886729729 192.168.257 192.168.1.255 3232235521
    100.64.1 169.254.1 198.18.1 224.0.0.251 239.255.255.250 0xe0000001 0xffffffff 255.255.65535 [ff02::fb] [ff05::2]
    [fe80::] [fe80::fc:ff:fe00:1] [fdff:ffff::1] [fc00:1::] [fec0::]`,
  carriers: `[::ffff:10.0.0.1] [::FFFF:192.168.0.1] [::ffff:0a00:0001] [::ffff:0:7f00:1] [64:ff9b::10.0.0.1]
    [64:ff9b:0:0:0:0:7f00:1] [64:ff9b:1:ffff::7f00:1] [2002:0a00:0001::1] [2002:c0a8:0101::c0a8:101]
    [2001:0000:4136:e378:8000:63bf:3fff:fdd2] [2001::1] [::7f00:0001] [::10.0.0.1] [fe80::5efe:10.0.0.1]`,
};

/** Beginnings of URLs: text before, around and after the host. */
const tricks = [
  'http://127.0.0.1:{port}\\@example.com/',
  'http://example.com\\@127.0.0.1:{port}/',
  'http:\\\\127.0.0.1:{port}\\',
  'http:/\\127.0.0.1:{port}/',
  'http://127.0.0.1:{port} @example.com/',
  'http://127.0.0.1 :{port}/',
  'http://127.0.0.1\t:{port}/',
  'http://127.0.\n0.1:{port}/',
  'http://127.0.\r\n0.1:{port}/',
  'ht\ntp://127.0.0.1:{port}/',
  'http\t://127.0.0.1:{port}/',
  '\u0001http://127.0.0.1:{port}/',
  ' http://127.0.0.1:{port}/',
  'http://127.0.0.1:{port}\u0000.example.com/',
  'http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460:{port}/',
  'http://\uff11\uff12\uff17.\uff10.\uff10.\uff11:{port}/',
  'http://127\u30020\u30020\u30021:{port}/',
  'http://127\uff0e0\uff0e0\uff0e1:{port}/',
  'http://127\uff610\uff610\uff611:{port}/',
  'http://\u0661\u0662\u0667.0.0.1:{port}/',
  'http://\u{1d7cf}\u{1d7d0}\u{1d7d5}.0.0.1:{port}/',
  'http://\u2488\u2489\u248e.0.0.1:{port}/',
  'http://lo\u00adcalhost:{port}/',
  'http://lo\u200bcalhost:{port}/',
  'http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54:{port}/',
  'http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3:{port}/',
  'http://localho\u017ft:{port}/',
  'http://\u2113ocalhost:{port}/',
  'http://\u202e127.0.0.1:{port}/',
  'rtsp:\\\\127.0.0.1:{port}\\',
  'rtsp://127\u30020.0.1:{port}/',
  'https://www.youtube.com\\@127.0.0.1:{port}/',
  ...words(`http://example.com@127.0.0.1:{port}/ http://example.com:80@127.0.0.1:{port}/
  http://example.com%40127.0.0.1:{port}/ http://user:pass@[::1]:{port}/ http://@127.0.0.1:{port}/
  http://:@127.0.0.1:{port}/ http://a@b@127.0.0.1:{port}/ http://127.0.0.1:{port}%5c@example.com:1/
  http:/127.0.0.1:{port}/ http:127.0.0.1:{port}/ http:///127.0.0.1:{port}/ http:////127.0.0.1:{port}/
  http://127.0.0.1:{port}#@example.com/ http://127.0.0.1:{port}?@example.com/
  http://127.0.0.1:{port};@example.com/ http://127.0.0.1%00.example.com:{port}/
  http://127.0.0.1%23.example.com:{port}/ http://127.0.0.1%2f.example.com:{port}/ http://%31%32%37.0.0.1:{port}/
  http://127%2e0%2e0%2e1:{port}/ http://%6c%6f%63alhost:{port}/ http://LocalHost:{port}/
  http://localhost%2e:{port}/ http://[::1%25lo]:{port}/ http://[::1%lo]:{port}/ http://[fe80::1%25eth0]:{port}/
  http://[::ffff:127.0.0.1%25lo]:{port}/ http://[::1].:{port}/ http://[[::1]]:{port}/
  http://[::1]@127.0.0.1:{port}/ http://[127.0.0.1]:{port}/ http://[v1.127.0.0.1]:{port}/ http://::1:{port}/
  http://0:{port}/ http://127.0.0.1.:{port}/ http://127.0.0.1..:{port}/ http://.127.0.0.1:{port}/
  http://127..1:{port}/ http://-127.0.0.1:{port}/ http://+127.0.0.1:{port}/ http://127.0.0.01:{port}/
  http://127.0.0.1e0:{port}/ http://0x7f.0x000000.0.0x1:{port}/ HTTP://127.0.0.1:{port}/ hTTp://LOCALHOST:{port}/
  RTSP://127.0.0.1:{port}/ rtsp:127.0.0.1:{port}/ rtsp+http:127.0.0.1:{port}/ rtsp+https:/127.0.0.1:{port}/
  RTSP+HTTPS://127.0.0.1:{port}/ rtsp:/127.0.0.1:{port}/ rtsp://example.com@127.0.0.1:{port}/
  rtsp://user:p@ss@127.0.0.1:{port}/cam rtsp://user:p/ss@127.0.0.1:{port}/cam
  rtsp://user:p#ss@127.0.0.1:{port}/cam rtsp://%31%32%37.0.0.1:{port}/ rtsp://[::1%25lo]:{port}/
  rtsp://[::ffff:7f00:1]:{port}/ rtsp://2130706433:{port}/ rtsp://0x7f.1:{port}/ rtsp://0177.1:{port}/
  rtsp://127.1:{port}/cam?tcp&rtsp_transport=udp rtsp://localhost:{port}/cam
  https://www.youtube.com@127.0.0.1:{port}/watch?v=jNQXAC9IVRw https://www.youtube.com:{port}@127.0.0.1/live
  https://www.twitch.tv@127.0.0.1:{port}/name https://127.0.0.1:{port}/www.youtube.com/
  https://youtube.com.127.0.0.1:{port}/`),
];

/** Unsupported schemes, each of which some program (curl, ffmpeg, a browser) opens. */
const schemes = `file://{file} file:{file} file://localhost{file} FILE://{file} file:/{file} file://127.0.0.1{file}
  data:application/vnd.apple.mpegurl,%23EXTM3U data:;base64,I0VYVE0zVQ== concat:{file}|{file} concatf:{file}
  subfile,,start,0,end,0,,:{file} crypto:{file} crypto+file:{file} crypto+http://127.0.0.1:{port}/ cache:{file}
  async:http://127.0.0.1:{port}/ hls+http://127.0.0.1:{port}/a.m3u8 hls+file:{file} md5:{file} pipe:0 fd:0 tee:{file}
  tcp://127.0.0.1:{port} udp://127.0.0.1:{port} tls://127.0.0.1:{port} unix:{file} rtp://127.0.0.1:{port}
  rtps://127.0.0.1:{port}/ rtsps://127.0.0.1:{port}/ rtspu://127.0.0.1:{port}/ rtspt://127.0.0.1:{port}/
  rtsph://127.0.0.1:{port}/ satip://127.0.0.1:{port}/ rtmp://127.0.0.1:{port}/live rtmps://127.0.0.1:{port}/live
  rtmpt://127.0.0.1:{port}/live rtmpe://127.0.0.1:{port}/live srt://127.0.0.1:{port} srtp://127.0.0.1:{port}
  sctp://127.0.0.1:{port} ftp://127.0.0.1:{port}/ sftp://127.0.0.1:{port}/ gopher://127.0.0.1:{port}/_x
  mms://127.0.0.1:{port}/ mmsh://127.0.0.1:{port}/ mmst://127.0.0.1:{port}/ icecast://127.0.0.1:{port}/
  httpproxy://127.0.0.1:{port}/ dict://127.0.0.1:{port}/x ldap://127.0.0.1:{port}/ smb://127.0.0.1/x
  ipfs://x ipns://x zmq:tcp://127.0.0.1:{port} amqp://127.0.0.1:{port} prompeg:127.0.0.1 bluray:{file} dvd:{file}
  ws://127.0.0.1:{port}/ wss://127.0.0.1:{port}/ blob:http://127.0.0.1:{port}/ view-source:http://127.0.0.1:{port}/
  jar:http://127.0.0.1:{port}/!/ feed:http://127.0.0.1:{port}/ url:http://127.0.0.1:{port}/ javascript:alert(1)
  about:blank mailto:a@b tel:1 http+unix://%2ftmp%2fx/ {file} //127.0.0.1:{port}/ /live.m3u8 127.0.0.1:{port}`;

export type UrlVectors = Record<string, string[]>;

/**
 * URLs by class: each host with one of the schemes, as a host is judged alike below all of them. Lambda's own API is on
 * port 9001.
 */
export const urlVectors: UrlVectors = {
  'notations and addresses': toUrls(['http', 'https', 'rtsp', 'rtsp+http']),
  'malformed hosts': malformedHosts.filter(isWholeHost).map((host) => `http://${host}:{port}/live.m3u8`),
  "Lambda's own API": ['127.0.0.1', 'localhost', '[::1]', '0', '[::ffff:127.0.0.1]'].map(
    (host) => `http://${host}:9001/2018-06-01/runtime/invocation/next`,
  ),
  'tricks of writing': tricks,
  'other schemes': words(schemes),
};

/** URLs by class with hosts below the schemes of webhooks: any other is refused whatever the host is. */
export const webhookUrlVectors: UrlVectors = {
  ...urlVectors,
  'notations and addresses': toUrls(['http', 'https']),
};

/** Returns one URL for each host, with the schemes in turn. */
function toUrls(urlSchemes: readonly string[]): string[] {
  const everyHost = new Set([...refusedHosts, ...Object.values(hosts).flatMap(words)]);
  return [...everyHost].map(
    (host, index) => `${urlSchemes[index % urlSchemes.length]}://${host}:{port}/live.m3u8`,
  );
}

/** Some malformed hosts form another URL. */
function isWholeHost(host: string): boolean {
  return host !== '' && !/[/\\@?#]|:80/.test(host);
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

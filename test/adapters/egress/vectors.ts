/**
 * Hosts as written in a URL that reach loopback, private networks, or a gateway to them, in every known notation.
 */
const refusedByKind = {
  loopback: '127.0.0.1 127.0.0.2 127.255.255.254 [::1] [0:0:0:0:0:0:0:1]',
  unspecified: '0.0.0.0 0.1.2.3 [::] 0 0x0 1',
  otherNotations: `2130706433 0x7f000001 0X7F.0.0.1 0x7f.1 0177.0.0.1 017700000001 127.1 127.0.1 127.0.0.1.
    00000177.0.0.0x1 0x7f.0x0.0x0.0x1 127.000.000.001 3232235777 0xa.0.0.1 012.0.0.1 4294967295`,
  private: '10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255',
  shared: '100.64.0.1 100.127.255.254',
  linkLocal: '169.254.0.1 169.254.255.254 [fe80::1] [febf::1] [fec0::1]',
  uniqueLocal: '[fc00::1] [fd12:3456::1]',
  metadata: `169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 169.254.170.2 169.254.170.23
    100.100.100.200 168.63.129.16 192.0.0.192 [fd00:ec2::254] [fd00:ec2::23] [fd20:ce::254]
    metadata.google.internal metadata.google.internal. METADATA.google.internal metadata.goog`,
  multicastAndBroadcast: '224.0.0.1 239.255.255.255 255.255.255.255 [ff02::1] [ff0e::1]',
  reserved: `240.0.0.1 192.0.0.1 192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 198.19.255.255 192.88.99.1
    [2001:db8::1] [3fff::1] [100::1] [2001:2::1] [5f00::1] [4000::1]`,
  ipv4Mapped: `[::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:10.0.0.1] [::ffff:169.254.169.254]
    [::ffff:93.184.216.34]`,
  ipv4CompatibleAndTranslated: '[::127.0.0.1] [::7f00:1] [::a00:1] [::ffff:0:127.0.0.1]',
  nat64: `[64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b::10.0.0.1] [64:ff9b::a83f:8110] [64:ff9b:1::7f00:1]
    [64:ff9b:1::808:808] [64:ff9b::1:808:808]`,
  tunnels: `[2002:7f00:1::] [2002:a9fe:a9fe::1] [2001:0:7f00:1::] [2001:0:4136:e378:8000:63bf:80ff:fffe]
    [2600::5efe:127.0.0.1] [2600::200:5efe:7f00:1]`,
  names: `localhost LOCALHOST localhost. a.localhost a.b.localhost. localhost.localdomain ip6-localhost ip6-loopback
    localhost6`,
};
export const refusedHosts = Object.values(refusedByKind).flatMap((hosts) => hosts.split(/\s+/));

/** Hosts that must never be resolved. */
export const malformedHosts = [
  '',
  'a b',
  'a\tb',
  'a\u0000b',
  'a'.repeat(254),
  ...'. .. a..b example.com.. 1.2.3.4.5 256.1.1.1 0x1ffffffff 08.1 4294967296'.split(' '),
  ...'%31%32%37.0.0.1 %6cocalhost \uff11\uff12\uff17.0.0.1 \uff4c\uff4fcalhost \u2460\u2461\u2466.0.0.1'.split(
    ' ',
  ),
  ...'[fe80::1%25eth0] [::1%lo] [::1 ::1] [::1]] [127.0.0.1] [::g] [1:2] [v1.x] 127\u30020.0.1'.split(' '),
  ...'a/b a\\b a@b a?b a#b a:80'.split(' '),
];

/** Public addresses next to the limits of forbidden ranges. */
export const allowedHosts = `93.184.216.34 8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.0 172.15.255.255 172.32.0.0
  192.167.255.255 192.169.0.0 100.63.255.255 100.128.0.0 169.253.255.255 169.255.0.0 126.255.255.255 128.0.0.1
  223.255.255.255 134744072 0x08080808 [2606:4700::1111] [2a00:1450::1] [2620:fe::fe] [2400::1] [2600::1] [64:ff9b::8.8.8.8]`.split(
  /\s+/,
);

/** DNS answers to successive lookups of one name; the last one repeats. `good` is the allowed address of the hostile server. */
export type NameVector = { name: string; answers: string[][] };

const inside =
  `127.0.0.1 127.1.2.3 ::1 0.0.0.0 :: 10.0.0.1 172.16.0.1 192.168.0.1 169.254.169.254 169.254.170.2 100.64.0.1
  100.100.100.200 fd00:ec2::254 fd00::2 fe80::1 fe80::1%eth0 ff02::1 224.0.0.1 255.255.255.255 ::ffff:127.0.0.1 ::127.0.0.1
  64:ff9b::7f00:1 2002:7f00:1:: 2001:0:7f00:1:: ::ffff:7f00:1 0177.0.0.1 2130706433 127.1 nonsense`
    .trim()
    .split(/\s+/);

const good = '{good}';

export const nameVectors: NameVector[] = [
  ...inside.map((address) => ({ name: `that is ${address}`, answers: [[address]] })),
  ...inside.map((address) => ({ name: `of which one address is ${address}`, answers: [[good, address]] })),
  // The first answer is for the connection of the first request: each later connection asks again.
  ...['127.0.0.1', '::1', '10.0.0.1', '169.254.169.254'].flatMap((address) => [
    { name: `that becomes ${address} for the second connection`, answers: [[good], [address]] },
    { name: `that becomes ${address} for the third connection`, answers: [[good], [good], [address]] },
    { name: `that changes to ${address} and back`, answers: [[good], [address], [good], [address]] },
    { name: `that hides ${address} behind a hundred`, answers: [[...Array(100).fill(good), address]] },
  ]),
  { name: 'without an address', answers: [[]] },
  { name: 'that loses its address', answers: [[good], []] },
  {
    name: 'with four thousand addresses, the last inside',
    answers: [[...Array(3_999).fill(good), '127.0.0.1']],
  },
];

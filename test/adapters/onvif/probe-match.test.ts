import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createProbe, readProbeMatches } from '../../../adapters/onvif/probe-match.ts';
import { findText, readXml } from '../../../adapters/onvif/xml.ts';
import { match, probeMatches } from '../../support/onvif/simulator.ts';

const sender = '192.168.1.20';
const own = `http://${sender}/onvif/device_service`;
const answer = probeMatches('', [match(own)]);
const read = (...matches: string[]) => readProbeMatches(probeMatches('urn:uuid:1', matches), sender);

describe('answers to a probe', () => {
  test('an answer becomes a camera with its address, name and hardware', () => {
    expect(read(match(own))).toEqual([{ address: sender, name: 'Yard camera', hardware: 'SIM-1' }]);
  });

  test('an address keeps its port, and its path only if that is unusual', () => {
    const addresses = [`http://${sender}:8000/onvif/device_service`, `http://${sender}:2020/service?x=1`];
    expect(addresses.flatMap((url) => read(match(url))).map(({ address }) => address)).toEqual([
      `${sender}:8000`,
      `http://${sender}:2020/service?x=1`,
    ]);
  });

  test.each([
    'http://192.168.1.21/onvif/device_service',
    'http://camera.lan/onvif/device_service',
    'http://169.254.169.254/latest/meta-data',
    'http://[fe80::1]/onvif/device_service',
    `http://${sender}@192.168.1.21/onvif/device_service`,
    `http://admin:admin@${sender}/onvif/device_service`,
    `https://${sender}/onvif/device_service`,
    `file:///etc/passwd`,
    'nothing',
    '',
  ])('the address %s belongs to another host than the sender, so the answer is ignored', (url) => {
    expect(read(match(url))).toEqual([]);
  });

  test('the own address among addresses of others is used', () => {
    expect(read(match(`http://10.0.0.1/onvif http://[fe80::1]/onvif ${own}`))).toMatchObject([
      { address: sender },
    ]);
  });

  test('an own address in another notation is stated as that of the sender', () => {
    expect(read(match('http://3232235796/onvif/device_service'))).toMatchObject([{ address: sender }]);
  });

  test('devices that are no cameras are ignored', () => {
    const printer = match(own, { types: 'wsdp:Device pub:PrintDeviceType' }).replaceAll(
      'onvif://www.onvif.org',
      'ldap:',
    );
    expect(read(printer)).toEqual([]);
  });

  test('the list of devices in an answer is cut at 16', () => {
    const many = Array.from({ length: 50 }, (_, port) =>
      match(`http://${sender}:${port + 1}/onvif/device_service`),
    );
    expect(read(...many)).toHaveLength(16);
  });

  test('names are one line of at most 100 characters without control characters', () => {
    const [camera] = read(match(own, { name: 'A%1B[31m%0AB%E2%80%AEC', hardware: 'x'.repeat(5000) }));
    expect(camera).toEqual({ address: sender, name: 'A [31m B C', hardware: 'x'.repeat(100) });
  });

  test('a name that is not percent-encoded stays unchanged', () => {
    expect(read(match(own, { name: '100%', hardware: '' }))).toMatchObject([
      { name: '100%', hardware: null },
    ]);
  });

  const entities = `<!DOCTYPE a [<!ENTITY x "${own}">]>`;
  const laughs = `<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(10)}"><!ENTITY c "${'&b;'.repeat(10)}">]>`;
  test.each([
    ['a document type', answer.replace('?>', `?>${entities}`)],
    ['a document type in lower case', answer.replace('?>', `?>${entities.toLowerCase()}`)],
    ['entities that multiply', answer.replace('?>', `?>${laughs}`).replace('SIM-1', '&c;')],
    [
      'an external entity',
      answer
        .replace('?>', '?><!DOC\u0001TYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>')
        .replace('SIM-1', '&x;'),
    ],
    ['a page', '<!doctype html><html><body>camera</body></html>'],
    ['unclosed elements', answer.slice(0, -20)],
    ['elements in 20,000 levels', '<a>'.repeat(20_000)],
    ['elements in 4,000 levels', answer.replace('SIM-1', `${'<a>'.repeat(4000)}${'</a>'.repeat(4000)}`)],
    ['a camera and 10 MB', answer.replace('SIM-1', 'x'.repeat(10_000_000))],
    ['nothing', ''],
  ])('an answer with %s is ignored', (_, text) => {
    expect(readProbeMatches(text, sender)).toEqual([]);
  });
});

test('a foreign text is read or ignored, and no text ends the reader', () => {
  const part = fc.constantFrom(
    ...answer.split(/(?=[<&])/),
    '<!DOCTYPE a>',
    '&x;',
    '&#0;',
    '<![CDATA[',
    ']]>',
    '\u0000',
    '&',
  );
  const foreign = fc.oneof(
    fc.string(),
    fc.array(part).map((parts) => parts.join('')),
  );
  fc.assert(fc.property(foreign, (text) => readProbeMatches(text, sender).length <= 16));
});

test('a document is refused for its depth, its tags and its size before it is parsed', () => {
  const nested = (depth: number) => `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`;
  expect(readXml(nested(64)).name).toBe('a');
  expect(() => readXml(nested(65))).toThrow('too large');
  expect(() => readXml(`<a>${'<b/>'.repeat(20_000)}</a>`)).toThrow('too large');
  for (const reference of ['&', '&#65;', '&amp;'])
    expect(() => readXml(`<a>${reference.repeat(20_000)}</a>`)).toThrow('too large');
  expect(() => readXml(`<a>${' '.repeat(500_000)}</a>`)).toThrow('too large');
});

test.each([
  ['a repeated attribute is left out', '<a b="1" c="2" b="1">text</a>', 'text'],
  ['text like attributes stays', '<a>left a="1" right a="1" end</a>', 'left a="1" right a="1" end'],
  ['text like them behind a tag stays', '<a b="1"> b="1" end</a>', 'b="1" end'],
  ['CDATA stays', '<a><![CDATA[<x b="1" b="1">]]></a>', '<x b="1" b="1">'],
  ['a comment ends where it says', `<a b="1"><!-- ' <x c="1" --> c="1" d</a>`, 'c="1" d'],
  ['a value may contain the end of a tag', '<a b="1 > 0" b="1 > 0">text c="1" c="1"</a>', 'text c="1" c="1"'],
])('XML is read although a device is careless: %s', (_, source, text) => {
  expect(findText(readXml(source))).toBe(text);
});

test('lines that end with a carriage return are read as fast as others', () => {
  const lines = '\r\n'.repeat(120_000);
  expect(findText(readXml(`<a>${lines}text\r\ntext${lines}</a>`))).toBe('text\ntext');
}, 2_000);

test('a probe is XML with its id and one type', () => {
  const probe = createProbe('11111111-1111-4111-8111-111111111111', 'NetworkVideoTransmitter');
  expect(readXml(probe).text).toContain('urn:uuid:11111111-1111-4111-8111-111111111111');
  expect(readXml(probe).text).toContain('t:NetworkVideoTransmitter');
});

import type { Camera } from '../../core/ports/cameras.ts';
import { isOwnHost, toShortAddress, toUrlHost } from './device-address.ts';
import { childElements, findElement, findText, readXml, type XmlElement } from './xml.ts';

/** Messages of WS-Discovery (April 2005), as ONVIF uses it. */

/** Types of devices that a probe asks for; some cameras answer to one of them only. */
export const probedTypes = ['NetworkVideoTransmitter', 'Device'] as const;

const namespaces = {
  NetworkVideoTransmitter: 'http://www.onvif.org/ver10/network/wsdl',
  Device: 'http://www.onvif.org/ver10/device/wsdl',
};

/** Creates a probe for a type of devices. `id` is a UUID. */
export function createProbe(id: string, type: (typeof probedTypes)[number]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing">',
    '<s:Header>',
    '<a:Action s:mustUnderstand="1">http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</a:Action>',
    `<a:MessageID>urn:uuid:${id}</a:MessageID>`,
    '<a:ReplyTo><a:Address>http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous</a:Address></a:ReplyTo>',
    '<a:To s:mustUnderstand="1">urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To>',
    '</s:Header><s:Body>',
    '<d:Probe xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery">',
    `<d:Types xmlns:t="${namespaces[type]}">t:${type}</d:Types>`,
    '</d:Probe></s:Body></s:Envelope>',
  ].join('');
}

/** Maximum length of an answer. Those of cameras have 1 to 4 kB. */
const maxAnswerLength = 32_768;
const maxMatches = 16;
const maxScopes = 100;
const maxAddresses = 16;
const maxNameLength = 100;

/**
 * Returns the cameras of an answer. Ignores a text that is no answer, devices of other kinds, and addresses of other
 * hosts than the sender: each device speaks for itself only.
 */
export function readProbeMatches(text: string, sender: string): Camera[] {
  if (text.length > maxAnswerLength) return [];
  try {
    const matches = findElement(readXml(text), 'Body', 'ProbeMatches');
    if (matches === undefined) return [];
    return childElements(matches, 'ProbeMatch')
      .slice(0, maxMatches)
      .flatMap((match) => readMatch(match, sender) ?? []);
  } catch {
    return [];
  }
}

function readMatch(match: XmlElement, sender: string): Camera | undefined {
  const scopes = words(findText(match, 'Scopes'), maxScopes);
  const isCamera =
    words(findText(match, 'Types'), maxScopes).some((type) => type.split(':').at(-1) === probedTypes[0]) ||
    scopes.some((scope) => scope.startsWith(scopePrefix));
  const url = words(findText(match, 'XAddrs'), maxAddresses)
    .map((address) => URL.parse(address))
    .find((address) => address !== null && isOwn(address, sender));
  if (!isCamera || !url) return undefined;
  url.hostname = toUrlHost(sender);
  return {
    address: toShortAddress(url),
    name: readScope(scopes, 'name'),
    hardware: readScope(scopes, 'hardware'),
  };
}

/** Certificates of cameras are of their own making, so HTTPS is of no use here. */
function isOwn({ protocol, hostname, username, password }: URL, sender: string): boolean {
  return protocol === 'http:' && username === '' && password === '' && isOwnHost(hostname, sender);
}

const scopePrefix = 'onvif://www.onvif.org/';

function readScope(scopes: readonly string[], kind: 'name' | 'hardware'): string | null {
  const prefix = `${scopePrefix}${kind}/`;
  const scope = scopes.find((each) => each.startsWith(prefix));
  return scope === undefined ? null : toName(decode(scope.slice(prefix.length)));
}

/** Returns a text of a device for one line: bounded, without control characters; null if nothing is left. */
export function toName(text: string): string | null {
  const name = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return Array.from(name).slice(0, maxNameLength).join('') || null;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function words(text: string | undefined, max: number): string[] {
  return text === undefined ? [] : text.split(/\s+/, max);
}

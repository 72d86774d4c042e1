import { createHash } from 'node:crypto';
import type { CameraLogin } from '../../core/ports/cameras.ts';
import {
  childElements,
  escapeXml,
  findElement,
  findText,
  localName,
  readXml,
  type XmlElement,
} from './xml.ts';

/** Messages of SOAP 1.2, and user names of WS-Security as a digest. */

/** Operation of an ONVIF service; `content` is XML in the same namespace. */
export type Operation = { namespace: string; name: string; content?: string };

/** Contents of the header of WS-Security; its nonce has 16 random bytes. */
export type UsernameToken = CameraLogin & { nonce: Uint8Array; created: Date };

export function createEnvelope({ namespace, name, content = '' }: Operation, token?: UsernameToken): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope">',
    token === undefined ? '' : `<s:Header>${createSecurity(token)}</s:Header>`,
    // Devices that search for texts instead of reading XML expect these namespaces, and no prefix of the operation.
    '<s:Body xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">',
    `<${name} xmlns="${namespace}">${content}</${name}>`,
    '</s:Body></s:Envelope>',
  ].join('');
}

const wss = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss';

/** Creates the header. The password is in it only as a digest: SHA-1 is what the profile of ONVIF knows. */
function createSecurity({ username, password, nonce, created }: UsernameToken): string {
  const time = created.toISOString();
  const digest = createHash('sha1').update(nonce).update(time).update(password).digest('base64');
  return [
    `<Security s:mustUnderstand="1" xmlns="${wss}-wssecurity-secext-1.0.xsd"><UsernameToken>`,
    `<Username>${escapeXml(username)}</Username>`,
    `<Password Type="${wss}-username-token-profile-1.0#PasswordDigest">${digest}</Password>`,
    `<Nonce EncodingType="${wss}-soap-message-security-1.0#Base64Binary">${Buffer.from(nonce).toString('base64')}</Nonce>`,
    `<Created xmlns="${wss}-wssecurity-utility-1.0.xsd">${time}</Created>`,
    '</UsernameToken></Security>',
  ].join('');
}

/**
 * Response: the element in its body, or a fault: of the user, of anything else, or `unclear` if the sender is blamed
 * without a reason.
 */
export type SoapResponse = { kind: 'result'; result: XmlElement } | { kind: 'fault'; cause: FaultCause };
type FaultCause = 'user' | 'other' | 'unclear';

/** Reads a response. Returns null for XML that is no response. Throws `UnreadableXmlError`. */
export function readEnvelope(text: string): SoapResponse | null {
  const envelope = readXml(text);
  const [result] = childElements(findElement(envelope, 'Body') ?? envelope);
  if (localName(envelope) !== 'Envelope' || result === undefined) return null;
  if (localName(result) !== 'Fault') return { kind: 'result', result };
  const codes = [
    findText(result, 'Code', 'Subcode', 'Value'),
    findText(result, 'Code', 'Subcode', 'Subcode', 'Value'),
    findText(result, 'Code', 'Value'),
    findText(result, 'faultcode'),
  ].flatMap((code) => code?.split(':').at(-1) ?? []);
  return { kind: 'fault', cause: toCause(codes) };
}

function toCause(codes: readonly string[]): FaultCause {
  if (codes.some((code) => refusals.has(code))) return 'user';
  return codes.every((code) => code === 'Sender' || code === 'Client') ? 'unclear' : 'other';
}

/** Codes of faults of ONVIF and of WS-Security that mean the user. */
const refusals = new Set([
  'NotAuthorized',
  'FailedAuthentication',
  'FailedCheck',
  'InvalidSecurity',
  'InvalidSecurityToken',
]);

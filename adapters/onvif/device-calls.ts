import { EgressNetworkError } from '../egress/errors.ts';
import { createAuthorizer, readChallenge } from '../egress/authorizer.ts';
import type { GuardedHttp, GuardedResponse } from '../egress/guarded-http.ts';
import type { CameraLogin } from '../../core/ports/cameras.ts';
import {
  notOnvifError,
  OnvifFaultError,
  passwordRequiredError,
  toCameraError,
  unsafeLoginError,
  wrongPasswordError,
} from './errors.ts';
import {
  UnreadableXmlError,
  type XmlElement,
  childElements,
  escapeXml,
  findElement,
  findText,
  localName,
  readXml,
} from './xml.ts';
import { createHash } from 'node:crypto';

export type DeviceCallsDeps = {
  http: Pick<GuardedHttp, 'request'>;
  now: () => Date;
  randomBytes: (count: number) => Uint8Array;
};

export type DeviceCalls = ReturnType<typeof createDeviceCalls>;

/** Maximum size of a response, in bytes. Sixteen profiles have 100 kB. */
const maxResponseBytes = 500_000;
const callTimeoutMs = 6_000;
/** Maximum requests of a call: without a user, with one, and with a new nonce. */
const maxRequests = 4;

/** Creates the calls of one device. Every URL must have the host of the device: the digest is for it alone. */
export function createDeviceCalls(
  { http, now, randomBytes }: DeviceCallsDeps,
  login: CameraLogin | null,
  signal: AbortSignal,
) {
  const authorizer = createAuthorizer(login, () => Buffer.from(randomBytes(16)).toString('hex'));
  let usesToken = false;
  let clockOffsetSeconds: number | null = null;
  let speaksSoap = false;

  return {
    /**
     * Returns the response to an operation. The first call is sent without the user: a device that asks for a user
     * gets a digest, in HTTP or in WS-Security. Throws `StreamFetchError`.
     */
    call: async (url: URL, operation: Operation): Promise<XmlElement> => {
      for (let requests = 0; requests < maxRequests; requests += 1) {
        const response = await send(url, operation, true);
        const read = readResponse(response);
        if (read.kind === 'result') {
          authorizer.confirm();
          return read.result;
        }
        const mayBeUser = read.cause === 'unclear' && login !== null && !usesToken;
        if (read.cause !== 'user' && !mayBeUser) throw new OnvifFaultError();
        if (!acceptsChallenge(response)) break;
      }
      // The age of a request matters in WS-Security only.
      throw wrongPasswordError(usesToken ? clockOffsetSeconds : 0);
    },
    /** Sends an operation without the user. Returns null if the device refuses it. */
    tryUnsigned: async (url: URL, operation: Operation): Promise<XmlElement | null> => {
      try {
        const read = readResponse(await send(url, operation, false));
        return read.kind === 'result' ? read.result : null;
      } catch (error) {
        if (isClosed(error)) return null;
        throw error;
      }
    },
    /** States by how much the clock of the device differs: it judges the age of a request by it. */
    setClockOffset: (seconds: number): void => {
      clockOffsetSeconds = seconds;
    },
  };

  async function send(url: URL, operation: Operation, isSigned: boolean): Promise<GuardedResponse> {
    const created = new Date(now().getTime() + (clockOffsetSeconds ?? 0) * 1000);
    const token =
      isSigned && usesToken && login !== null ? { ...login, nonce: randomBytes(16), created } : undefined;
    const authorization = isSigned ? authorizer.headers('POST', `${url.pathname}${url.search}`) : [];
    try {
      return await http.request(url.href, {
        method: 'POST',
        headers: {
          'content-type': `application/soap+xml; charset=utf-8; action="${operation.namespace}/${operation.name}"`,
          ...Object.fromEntries(authorization),
        },
        body: createEnvelope(operation, token),
        maxBytes: maxResponseBytes,
        timeoutMs: callTimeoutMs,
        // A redirect would carry the digest to another address.
        maxRedirects: 0,
        isLenient: true,
        mayLackEnd: true,
        // Firmware of Tapo writes its head with zeros (github.com/AlexxIT/go2rtc/pull/1589).
        mayLackHead: true,
        signal,
      });
    } catch (error) {
      throw toCameraError(error);
    }
  }

  /** Prepares the next request after a refused one. Returns false if the user is refused. */
  function acceptsChallenge({ headers }: GuardedResponse): boolean {
    const challenges = headers['www-authenticate'] === undefined ? [] : [headers['www-authenticate']];
    const challenge = readChallenge(challenges);
    if (challenge?.scheme === 'basic') throw unsafeLoginError();
    if (login === null) throw passwordRequiredError();
    if (challenge !== null) return authorizer.accept(challenges);
    const isFirst = !usesToken;
    usesToken = true;
    return isFirst;
  }

  /** Reads a response. A device that has spoken SOAP may refuse an operation in other words. */
  function readResponse({ status, body }: GuardedResponse): SoapResponse {
    const read = readSoap(body);
    const isError = status >= 300 && status < 600;
    if (read?.kind === 'fault' || (read !== null && !isError)) {
      speaksSoap = true;
      return status === 401 ? { kind: 'fault', cause: 'user' } : read;
    }
    if (status !== 401 && (status < 400 || !speaksSoap)) throw notOnvifError();
    return { kind: 'fault', cause: status === 401 ? 'user' : 'other' };
  }
}

function isClosed(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof EgressNetworkError && cause.fault === 'closed';
}

function readSoap(body: Uint8Array): SoapResponse | null {
  try {
    return readEnvelope(Buffer.from(body).toString('utf8'));
  } catch (error) {
    if (error instanceof UnreadableXmlError) return null;
    throw error;
  }
}

/** Messages of SOAP 1.2, and user names of WS-Security as a digest. */

/** Operation of an ONVIF service; `content` is XML in the same namespace. */
type Operation = { namespace: string; name: string; content?: string };

/** Contents of the header of WS-Security; its nonce has 16 random bytes. */
type UsernameToken = CameraLogin & { nonce: Uint8Array; created: Date };

function createEnvelope({ namespace, name, content = '' }: Operation, token?: UsernameToken): string {
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
type SoapResponse = { kind: 'result'; result: XmlElement } | { kind: 'fault'; cause: FaultCause };
type FaultCause = 'user' | 'other' | 'unclear';

/** Reads a response. Returns null for XML that is no response. Throws `UnreadableXmlError`. */
function readEnvelope(text: string): SoapResponse | null {
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

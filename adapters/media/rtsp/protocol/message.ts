import { HttpResponseError, RtspProtocolError } from './errors.ts';

export type RtspHeader = readonly [name: string, value: string];

/** RTSP request or response (RFC 2326). */
export type RtspMessage = { startLine: string; headers: readonly RtspHeader[]; body: Uint8Array };

export type RtspRequestLine = { method: string; url: string };

/** Maximum header lines: servers send ten. */
const maxHeaderLines = 100;

/** Parses start line and headers. `text` is everything before the empty line. Throws `RtspProtocolError`. */
export function parseHead(text: string): Omit<RtspMessage, 'body'> {
  const [startLine = '', ...lines] = text.split(/\r?\n/);
  if (startLine.startsWith('HTTP/')) throw new HttpResponseError('A response of HTTP');
  if (!/^RTSP\/\d\.\d +\d{3}( |$)/.test(startLine) && requestLine(startLine) === null) {
    throw new RtspProtocolError('Not an RTSP message');
  }
  return { startLine, headers: parseHeaders(lines) };
}

/** Parses the lines of headers. Throws `RtspProtocolError`. */
export function parseHeaders(lines: string[]): RtspHeader[] {
  if (lines.length > maxHeaderLines) throw new RtspProtocolError('RTSP message has too many headers');
  return unfold(lines).flatMap(parseHeader);
}

/** Joins a line that begins with white space to the previous one. */
function unfold(lines: string[]): string[] {
  const unfolded: string[] = [];
  for (const line of lines) {
    if (/^[ \t]/.test(line) && unfolded.length > 0) unfolded.push(`${unfolded.pop()} ${line.trim()}`);
    else if (line !== '') unfolded.push(line);
  }
  return unfolded;
}

/** Ignores a line without a name: cheap cameras write such. */
function parseHeader(line: string): RtspHeader[] {
  const colon = line.indexOf(':');
  if (colon < 1) return [];
  // Some readers treat a lone CR as a line end, and values of a challenge are sent back.
  const value = line.slice(colon + 1).replaceAll(/[\r\0]/g, ' ');
  return [[line.slice(0, colon).trim(), value.trim()]];
}

/** Returns method and URL, or null for a response. */
export function requestLine(startLine: string): RtspRequestLine | null {
  const match = /^([A-Z_]+) (\S+) RTSP\/\d\.\d$/.exec(startLine);
  return match?.[1] !== undefined && match[2] !== undefined ? { method: match[1], url: match[2] } : null;
}

/** Returns the status, or null for a request. */
export function responseStatus(message: Pick<RtspMessage, 'startLine'>): number | null {
  const match = /^RTSP\/\d\.\d +(\d{3})/.exec(message.startLine);
  return match?.[1] === undefined ? null : Number(match[1]);
}

/** Returns all values of a header. Names are case-insensitive. */
export function headerValues(message: Pick<RtspMessage, 'headers'>, name: string): string[] {
  const wanted = name.toLowerCase();
  return message.headers.filter(([key]) => key.toLowerCase() === wanted).map(([, value]) => value);
}

/** Returns the first value of a header, or undefined. */
export function headerValue(message: Pick<RtspMessage, 'headers'>, name: string): string | undefined {
  return headerValues(message, name)[0];
}

/** Formats a message for the wire. Header values must be single lines, as parsed ones are. */
export function formatMessage(startLine: string, headers: readonly RtspHeader[], body = ''): string {
  const all: RtspHeader[] =
    body === '' ? [...headers] : [...headers, ['Content-Length', String(Buffer.byteLength(body))]];
  return `${[startLine, ...all.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n${body}`;
}

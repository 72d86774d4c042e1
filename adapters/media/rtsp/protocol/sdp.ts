/** Session description (RFC 8866), reduced to what RTSP needs. */
export type SessionDescription = { attributes: SdpAttribute[]; media: SdpMedia[] };

/** Media description: one track. */
export type SdpMedia = { type: string; protocol: string; payloadTypes: number[]; attributes: SdpAttribute[] };

/** Attribute line. `value` is empty for a flag. */
export type SdpAttribute = { name: string; value: string };

/** Maximum characters of an attribute: parameter sets of a camera have 200. */
const maxAttributeLength = 1024;

/** Parses a session description. Ignores unknown lines, and attributes above 1 kB. */
export function parseSdp(text: string): SessionDescription {
  const session: SessionDescription = { attributes: [], media: [] };
  // ffmpeg treats a lone CR as a line end, so this parser must too.
  for (const indented of text.split(/\r\n|\r|\n/)) {
    const line = indented.trimStart();
    const value = line.slice(2).replaceAll('\t', ' ').trim();
    if (line.startsWith('m=')) session.media.push(parseMedia(value));
    if (line.startsWith('a=') && value.length <= maxAttributeLength)
      (session.media.at(-1) ?? session).attributes.push(parseAttribute(value));
  }
  return session;
}

function parseMedia(value: string): SdpMedia {
  const [type = '', , protocol = '', ...formats] = value.split(/\s+/);
  return { type, protocol, payloadTypes: formats.map(Number).filter(Number.isInteger), attributes: [] };
}

function parseAttribute(value: string): SdpAttribute {
  const colon = value.indexOf(':');
  return colon < 0
    ? { name: value, value: '' }
    : { name: value.slice(0, colon).trim(), value: value.slice(colon + 1).trim() };
}

/** Returns the value of the first attribute with this name, or undefined. */
export function attribute(holder: { attributes: SdpAttribute[] }, name: string): string | undefined {
  return holder.attributes.find((candidate) => candidate.name === name)?.value;
}

/** Returns true for a recording: a range with an end. `npt=now-`, `npt=0-` and no range mean live. */
export function isRecording(session: SessionDescription): boolean {
  const ranges = [session, ...session.media].map((holder) => attribute(holder, 'range'));
  return ranges.some((range) => range !== undefined && hasEnd(range));
}

/** Maximum length of a recording: ten years. */
const maxSeconds = 315_360_000;

function hasEnd(range: string): boolean {
  const match = /^(npt|clock|smpte[\w-]*)=[^-]*-([^;]*)/i.exec(range.replaceAll(/\s/g, ''));
  const [, unit = '', end = ''] = match ?? [];
  if (end === '' || end.toLowerCase() === 'now') return false;
  // Some cameras write 0 for a stream without an end, or the largest number that they have.
  return unit.toLowerCase() !== 'npt' || (/[1-9]/.test(end) && !(Number(end) > maxSeconds));
}

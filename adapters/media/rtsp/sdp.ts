/** A session description (RFC 8866), as far as RTSP needs it. */
export type SessionDescription = { attributes: SdpAttribute[]; media: SdpMedia[] };

export type SdpMedia = { type: string; protocol: string; payloadTypes: number[]; attributes: SdpAttribute[] };

export type SdpAttribute = { name: string; value: string };

/** Lenient: lines that it does not know are left out. */
export function parseSdp(text: string): SessionDescription {
  const session: SessionDescription = { attributes: [], media: [] };
  // A lone CR too is a line's end to some readers, ffmpeg among them: what one sees as one line must be one to all.
  for (const line of text.split(/\r\n|\r|\n/)) {
    const value = line.slice(2).trim();
    if (line.startsWith('m=')) session.media.push(parseMedia(value));
    if (line.startsWith('a=')) (session.media.at(-1) ?? session).attributes.push(parseAttribute(value));
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
    : { name: value.slice(0, colon), value: value.slice(colon + 1) };
}

export function attribute(holder: { attributes: SdpAttribute[] }, name: string): string | undefined {
  return holder.attributes.find((candidate) => candidate.name === name)?.value;
}

/** What a recording says of itself: a range with an end. `npt=now-`, `npt=0-` and no range at all are live. */
export function isRecording(session: SessionDescription): boolean {
  const ranges = [session, ...session.media].map((holder) => attribute(holder, 'range'));
  return ranges.some((range) => range !== undefined && hasEnd(range));
}

function hasEnd(range: string): boolean {
  const match = /^\s*(npt|clock|smpte[\w-]*)\s*=\s*([^-\s]*)\s*-\s*([^;\s]*)/i.exec(range);
  const [, unit = '', , end = ''] = match ?? [];
  if (end === '' || end.toLowerCase() === 'now') return false;
  // Some cameras write npt=0-0 for a stream without an end.
  return unit.toLowerCase() !== 'npt' || /[1-9]/.test(end);
}

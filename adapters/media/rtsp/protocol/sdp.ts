/** Session description (RFC 8866), reduced to what RTSP needs. */
type SessionDescription = { attributes: SdpAttribute[]; media: SdpMedia[] };

/** Media description: one track. */
type SdpMedia = { type: string; protocol: string; payloadTypes: number[]; attributes: SdpAttribute[] };

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
function attribute(holder: { attributes: SdpAttribute[] }, name: string): string | undefined {
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

export type VideoTrack = {
  codec: VideoCodec;
  payloadType: number;
  clockRate: number;
  /** Format parameters as sent by the server, on one line. They include the parameter sets. */
  parameters: string | null;
  /** URL for SETUP. */
  controlUrl: string;
  /** URL for PLAY. */
  sessionUrl: string;
};

type VideoCodec = (typeof codecs)[number];

/** Supported codecs. Others (RealVideo, ASF in RTP, …) need obsolete parsers, and no current camera sends them. */
const codecs = ['H264', 'H265', 'JPEG', 'MP4V-ES', 'VP8', 'VP9', 'MP2T'] as const;

/**
 * Returns the first video track with a supported codec, or null. `baseUrl` is the base of relative control URLs.
 */
export function findVideoTrack(session: SessionDescription, baseUrl: string): VideoTrack | null {
  const sessionUrl = controlUrl(attribute(session, 'control'), baseUrl, baseUrl);
  for (const media of session.media) {
    const track = readTrack(media);
    const url = controlUrl(attribute(media, 'control'), sessionUrl, sessionUrl);
    if (track !== null) return { ...track, controlUrl: url, sessionUrl };
  }
  return null;
}

function readTrack(media: SdpMedia): Omit<VideoTrack, 'controlUrl' | 'sessionUrl'> | null {
  const payloadType = media.payloadTypes[0];
  if (
    media.type !== 'video' ||
    payloadType === undefined ||
    !/^(TCP\/)?RTP\/AVPF?(\/|$)/i.test(media.protocol)
  )
    return null;
  const [mapping = staticMapping(payloadType)] = forPayload(media, 'rtpmap', payloadType);
  const [encoding = '', rate = ''] = mapping.split('/');
  const codec = codecs.find((name) => name === encoding.toUpperCase());
  // The codecs of video have this one.
  const clockRate = Number(rate || 90_000);
  if (codec === undefined || !Number.isInteger(clockRate) || clockRate <= 0) return null;
  // Some cameras write a line for the mode and another one for the parameter sets.
  const parameters = forPayload(media, 'fmtp', payloadType).join(';') || null;
  return { codec, payloadType, clockRate, parameters };
}

function forPayload(media: SdpMedia, name: string, payloadType: number): string[] {
  const prefix = `${payloadType} `;
  const lines = media.attributes.filter(({ name: key, value }) => key === name && value.startsWith(prefix));
  return lines.map(({ value }) => value.slice(prefix.length).trim());
}

/** Returns the mapping of a payload type without rtpmap (RFC 3551). Cameras use 26, encoders of IPTV 33 (MPEG-TS). */
function staticMapping(payloadType: number): string {
  return { 26: 'JPEG/90000', 33: 'MP2T/90000' }[payloadType] ?? '';
}

/**
 * Joins URLs like live555 and ffmpeg, which servers rely on, not by RFC 3986: `rtsp://host/cam?x=1` and `track1`
 * give `rtsp://host/cam?x=1/track1`.
 */
function controlUrl(control: string | undefined, baseUrl: string, wholeUrl: string): string {
  if (control === undefined || control === '' || control === '*' || !/^[\x21-\x7e]+$/.test(control))
    return wholeUrl;
  if (/^rtsps?:\/\//i.test(control)) return control;
  return baseUrl.endsWith('/') ? `${baseUrl}${control}` : `${baseUrl}/${control}`;
}

/** Returns the session description for ffmpeg: this track, and nothing else of the server's text. */
export function describeTrack(track: VideoTrack, control: string): string {
  const { payloadType, codec, clockRate, parameters } = track;
  const lines = ['v=0', 'o=- 0 0 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'];
  lines.push(`m=video 0 RTP/AVP ${payloadType}`, `a=rtpmap:${payloadType} ${codec}/${clockRate}`);
  if (parameters !== null && /^[\x20-\x7e]*$/.test(parameters))
    lines.push(`a=fmtp:${payloadType} ${parameters}`);
  lines.push(`a=control:${control}`);
  return `${lines.join('\r\n')}\r\n`;
}

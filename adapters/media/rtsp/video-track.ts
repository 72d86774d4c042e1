import { attribute, type SdpMedia, type SessionDescription } from './sdp.ts';

/** The one track that is captured. */
export type VideoTrack = {
  codec: VideoCodec;
  payloadType: number;
  clockRate: number;
  /** Format parameters as the server wrote them, on one line; parameter sets are in there. */
  parameters: string | null;
  /** What SETUP asks for. */
  controlUrl: string;
  /** What PLAY asks for. */
  sessionUrl: string;
};

type VideoCodec = (typeof codecs)[number];

/** Others (RealVideo, ASF in RTP, …) bring old parsers with them, and no camera of today sends them. */
const codecs = ['H264', 'H265', 'JPEG', 'MP4V-ES', 'VP8', 'VP9'] as const;

/** The first video track in a codec that we take; null where there is none. `baseUrl` is what relative control URLs are relative to. */
export function findVideoTrack(session: SessionDescription, baseUrl: string): VideoTrack | null {
  const sessionUrl = controlUrl(attribute(session, 'control'), baseUrl, baseUrl);
  for (const media of session.media) {
    const track = readTrack(media);
    const url = controlUrl(attribute(media, 'control'), baseUrl, sessionUrl);
    if (track !== null) return { ...track, controlUrl: url, sessionUrl };
  }
  return null;
}

function readTrack(media: SdpMedia): Omit<VideoTrack, 'controlUrl' | 'sessionUrl'> | null {
  const payloadType = media.payloadTypes[0];
  if (media.type !== 'video' || payloadType === undefined || !/^RTP\/AVPF?(\/|$)/.test(media.protocol))
    return null;
  const [encoding = '', rate = ''] = (
    forPayload(media, 'rtpmap', payloadType) ?? staticMapping(payloadType)
  ).split('/');
  const codec = codecs.find((known) => known === encoding.toUpperCase());
  const clockRate = Number(rate);
  if (codec === undefined || !Number.isInteger(clockRate) || clockRate <= 0) return null;
  return { codec, payloadType, clockRate, parameters: forPayload(media, 'fmtp', payloadType) ?? null };
}

function forPayload(media: SdpMedia, name: string, payloadType: number): string | undefined {
  const prefix = `${payloadType} `;
  const found = media.attributes.find(({ name: key, value }) => key === name && value.startsWith(prefix));
  return found?.value.slice(prefix.length).trim();
}

/** Payload types that need no rtpmap (RFC 3551): 26 is the one that cameras use. */
function staticMapping(payloadType: number): string {
  return payloadType === 26 ? 'JPEG/90000' : '';
}

/**
 * Joined as live555 and ffmpeg do it, to which servers were made, and not by RFC 3986: `rtsp://host/cam?x=1` and `track1`
 * are `rtsp://host/cam?x=1/track1`.
 */
function controlUrl(control: string | undefined, baseUrl: string, wholeUrl: string): string {
  if (control === undefined || control === '' || control === '*' || !/^[\x21-\x7e]+$/.test(control))
    return wholeUrl;
  if (/^rtsp:\/\//i.test(control)) return control;
  return baseUrl.endsWith('/') ? `${baseUrl}${control}` : `${baseUrl}/${control}`;
}

/** The description that ffmpeg gets: this track and nothing else of what the server wrote. */
export function describeTrack(track: VideoTrack, controlUrl: string): string {
  const { payloadType, codec, clockRate, parameters } = track;
  const lines = ['v=0', 'o=- 0 0 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'];
  lines.push(`m=video 0 RTP/AVP ${payloadType}`, `a=rtpmap:${payloadType} ${codec}/${clockRate}`);
  if (parameters !== null && /^[\x20-\x7e]*$/.test(parameters))
    lines.push(`a=fmtp:${payloadType} ${parameters}`);
  lines.push(`a=control:${controlUrl}`);
  return `${lines.join('\r\n')}\r\n`;
}

import type { StreamValidation } from '../api/types.ts';

const platformNames: Record<StreamValidation['platform'], string> = {
  youtube: 'YouTube',
  twitch: 'Twitch',
  rtsp: 'RTSP',
  hls: 'HLS',
  jpeg: 'JPEG pictures',
  mjpeg: 'Motion JPEG',
  mpegts: 'MPEG-TS',
};

/** Returns what is known of a live stream: platform, channel, viewers, and the distance of rare pictures. */
export function toStreamFacts(stream: StreamValidation): string[] {
  const { platform, channel, viewer_count: viewers, picture_seconds: seconds } = stream;
  // The server of single pictures states how often it has a new one.
  const remedy = platform === 'jpeg' ? '' : ': set the key frames of the camera to 2 s';
  const picture = platform === 'rtsp' ? 'key frame' : 'picture';
  return [
    platformNames[platform],
    ...(channel === undefined ? [] : [channel]),
    ...(viewers === undefined ? [] : [`${viewers.toLocaleString()} viewers`]),
    ...(seconds === undefined ? [] : [`a ${picture} every ${seconds} s or more${remedy}`]),
  ];
}

/**
 * Returns the title of a stream that is not live. Its platform is stated for pages only: a camera that gives no stream
 * has not shown its kind.
 */
export function toOfflineTitle({ platform }: Pick<StreamValidation, 'platform'>): string {
  return platform === 'youtube' || platform === 'twitch'
    ? `Not live · ${platformNames[platform]}`
    : 'Not live';
}

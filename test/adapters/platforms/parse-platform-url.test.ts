import { expect, test } from 'vitest';
import { parsePlatformUrl } from '../../../adapters/platforms/parse-platform-url.ts';

const id = 'jNQXAC9IVRw';
const channelId = 'UC4QobU6STFB0P71PMvOGN5A';
const video = { platform: 'youtube', kind: 'video', videoId: id };
const channel = (path: string) => ({ platform: 'youtube', kind: 'channel', path });
const twitch = { platform: 'twitch', kind: 'channel', login: 'harbour_cam' };
const youtube = (kind: string) => ({ platform: 'youtube', kind });
const dead = (kind: string) => ({ platform: 'twitch', kind });

const table: Record<string, unknown> = {
  // YouTube: a video
  [`https://www.youtube.com/watch?v=${id}`]: video,
  [`https://youtube.com/watch?v=${id}`]: video,
  [`https://m.youtube.com/watch?v=${id}`]: video,
  [`https://music.youtube.com/watch?v=${id}`]: video,
  [`http://www.youtube.com/watch?v=${id}`]: video,
  [`HTTPS://WWW.YOUTUBE.COM/watch?v=${id}`]: video,
  [`https://www.youtube.com./watch?v=${id}`]: video,
  [`https://www.youtube.com/watch/?v=${id}`]: video,
  [`https://www.youtube.com/watch?app=desktop&v=${id}&t=30s&list=PL1#comments`]: video,
  [`https://www.youtube.com/watch/${id}`]: video,
  [`https://youtu.be/${id}`]: video,
  [`https://youtu.be/${id}/`]: video,
  [`https://youtu.be/${id}?si=abc&t=10`]: video,
  [`http://YouTu.be/${id}#t=1`]: video,
  [`https://www.youtube.com/live/${id}`]: video,
  [`https://www.youtube.com/live/${id}/?si=abc`]: video,
  [`https://m.youtube.com/live/${id}?feature=share`]: video,
  [`https://www.youtube.com/embed/${id}?autoplay=1`]: video,
  [`https://www.youtube-nocookie.com/embed/${id}`]: video,
  [`https://www.youtube.com/v/${id}`]: video,
  // YouTube: a channel
  'https://www.youtube.com/@harbour.cam/live': channel('/%40harbour.cam'),
  'https://www.youtube.com/@harbour.cam': channel('/%40harbour.cam'),
  'https://www.youtube.com/@harbour.cam/': channel('/%40harbour.cam'),
  'https://m.youtube.com/@harbour.cam/streams?view=2': channel('/%40harbour.cam'),
  'https://www.youtube.com/%40harbour.cam/live': channel('/%40harbour.cam'),
  'https://www.youtube.com/@港': channel('/%40%E6%B8%AF'),
  [`https://www.youtube.com/channel/${channelId}/live`]: channel(`/channel/${channelId}`),
  [`https://www.youtube.com/channel/${channelId}?sub_confirmation=1`]: channel(`/channel/${channelId}`),
  [`https://www.youtube.com/embed/live_stream?channel=${channelId}`]: channel(`/channel/${channelId}`),
  'https://www.youtube.com/c/HarbourCam/live': channel('/c/HarbourCam'),
  'https://www.youtube.com/c/HarbourCam': channel('/c/HarbourCam'),
  'https://www.youtube.com/user/harbourcam/live/': channel('/user/harbourcam'),
  'https://www.youtube.com/harbourcam/live': channel('/harbourcam'),
  // YouTube: never live
  [`https://www.youtube.com/shorts/${id}`]: youtube('short'),
  'https://www.youtube.com/clip/UgkxABC': youtube('clip'),
  'https://www.youtube.com/playlist?list=PL123': youtube('playlist'),
  // YouTube: no stream
  'https://www.youtube.com/': youtube('other'),
  'https://www.youtube.com/watch': youtube('other'),
  'https://www.youtube.com/watch?v=tooshort': youtube('other'),
  'https://www.youtube.com/watch?list=PL123': youtube('other'),
  'https://youtu.be/': youtube('other'),
  'https://www.youtube.com/results?search_query=harbour': youtube('other'),
  'https://www.youtube.com/feed/subscriptions': youtube('other'),
  'https://www.youtube.com/@harbour.cam/videos': youtube('other'),
  'https://www.youtube.com/@harbour%2F..%2Fcam': youtube('other'),
  'https://www.youtube.com/channel/UCtooshort/live': youtube('other'),
  'https://www.youtube.com/%zz': youtube('other'),
  [`https://studio.youtube.com/video/${id}/livestreaming`]: youtube('other'),
  // Twitch: a channel
  'https://www.twitch.tv/harbour_cam': twitch,
  'https://twitch.tv/harbour_cam': twitch,
  'http://twitch.tv/harbour_cam': twitch,
  'https://m.twitch.tv/harbour_cam': twitch,
  'https://go.twitch.tv/harbour_cam': twitch,
  'https://www.twitch.tv/Harbour_Cam/': twitch,
  'https://WWW.TWITCH.TV/HARBOUR_CAM?referrer=raid#x': twitch,
  'https://www.twitch.tv/harbour_cam/about': twitch,
  'https://player.twitch.tv/?channel=harbour_cam&parent=example.org': twitch,
  // Twitch: never live
  'https://www.twitch.tv/videos/635475444': dead('recording'),
  'https://www.twitch.tv/videos/635475444?t=1h2m': dead('recording'),
  'https://m.twitch.tv/harbour_cam/v/247478721': dead('recording'),
  'https://www.twitch.tv/harbour_cam/video/291940395': dead('recording'),
  'https://www.twitch.tv/harbour_cam/videos?filter=all': dead('recording'),
  'https://player.twitch.tv/?video=v6528877': dead('recording'),
  'https://clips.twitch.tv/FaintLightGull': dead('clip'),
  'https://www.twitch.tv/harbour_cam/clip/FaintLightGull': dead('clip'),
  'https://www.twitch.tv/collections/wlDCoH0zEBZZbQ': dead('playlist'),
  // Twitch: no stream
  'https://www.twitch.tv/': dead('other'),
  'https://www.twitch.tv/directory': dead('other'),
  'https://www.twitch.tv/directory/category/chess': dead('other'),
  'https://www.twitch.tv/harbour-cam': dead('other'),
  'https://www.twitch.tv/popout/harbour_cam/chat': dead('other'),
  'https://player.twitch.tv/': dead('other'),
  'https://dashboard.twitch.tv/u/harbour_cam': dead('other'),
  // Others
  'https://cdn.example/live.m3u8': null,
  'https://www.youtube.com.example/watch?v=jNQXAC9IVRw': null,
  'https://notyoutube.com/watch?v=jNQXAC9IVRw': null,
  'https://example.com/https://www.twitch.tv/harbour_cam': null,
  'rtsp://www.youtube.com/live': null,
};

test.each(Object.entries(table))('%s is parsed as the page of a platform', (url, page) => {
  expect(parsePlatformUrl(new URL(url))).toEqual(page);
});

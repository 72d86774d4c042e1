import { startFakeTwitch, type FakeTwitch } from './fake-twitch.ts';
import { livePlayer, startFakeYoutube, type FakeYoutube } from './fake-youtube.ts';
import { startLoop } from '../hls/looped-stream.ts';

export type LivePlatforms = {
  youtube: FakeYoutube;
  twitch: FakeTwitch;
  urls: { youtube: string; youtubeChannel: string; twitch: string };
  /** Environment variables of a service that uses them. */
  variables: Record<string, string>;
  close(): Promise<void>;
};

export const liveVideoId = 'jNQXAC9IVRw';

/** Starts platforms on loopback with one live broadcast on each; `picture` is a source of ffmpeg. */
export async function startLivePlatforms(picture: string): Promise<LivePlatforms> {
  const broadcast = await startLoop(picture);
  const youtube = await startFakeYoutube();
  const twitch = await startFakeTwitch();
  const inAnHour = () => new Date(Date.now() + 3_600_000);
  youtube.player = () => livePlayer(liveVideoId, youtube.manifestUrl(liveVideoId, inAnHour()));
  youtube.channels.set('/@harbour', liveVideoId);
  youtube.media = twitch.media = () => relayed(broadcast.url);
  return {
    youtube,
    twitch,
    urls: {
      youtube: `https://www.youtube.com/watch?v=${liveVideoId}`,
      youtubeChannel: 'https://www.youtube.com/@harbour/live',
      twitch: 'https://www.twitch.tv/harbour_cam',
    },
    variables: {
      WATCHPOST_YOUTUBE_URL: youtube.url,
      WATCHPOST_TWITCH_GQL_URL: twitch.gqlUrl,
      WATCHPOST_TWITCH_USHER_URL: twitch.usherUrl,
    },
    close: async () => {
      await youtube.close();
      await twitch.close();
      await broadcast.close();
    },
  };
}

/** Returns a playlist of another server with absolute segment URLs. */
async function relayed(playlistUrl: string): Promise<string> {
  const text = await (await fetch(playlistUrl)).text();
  return text.replace(/^(?!#)(.+)$/gm, (uri) => new URL(uri, playlistUrl).href);
}

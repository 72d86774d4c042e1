import { defaultPlatformSettings } from '../../adapters/platforms/platform-settings.ts';

/** Preloaded by a service process of the tests: its platforms are the servers that the test started. */

const { TEST_YOUTUBE_URL, TEST_TWITCH_GQL_URL, TEST_TWITCH_USHER_URL } = process.env;
Object.assign(defaultPlatformSettings.youtube, { url: TEST_YOUTUBE_URL });
Object.assign(defaultPlatformSettings.twitch, {
  gqlUrl: TEST_TWITCH_GQL_URL,
  usherUrl: TEST_TWITCH_USHER_URL,
});

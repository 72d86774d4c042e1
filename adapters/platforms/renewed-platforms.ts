import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { PlatformSettings } from './platform-settings.ts';

type PlatformCapturers = Record<'youtube' | 'twitch', StreamCapturer>;

/**
 * Capturers of platforms whose settings may change while the service runs. `read` is asked with each URL of a platform, not before, and
 * answers the same object while nothing changed; with another one the capturers are made anew, and what they knew of playlists is forgotten.
 */
export function createRenewedPlatforms(
  read: () => Promise<PlatformSettings>,
  make: (settings: PlatformSettings) => PlatformCapturers,
): PlatformCapturers {
  let current: { settings: PlatformSettings; capturers: PlatformCapturers } | undefined;
  return { youtube: renewed('youtube'), twitch: renewed('twitch') };

  function renewed(platform: keyof PlatformCapturers): StreamCapturer {
    return {
      probe: async (url, signal) => (await capturers())[platform].probe(url, signal),
      capture: async (request, signal) => (await capturers())[platform].capture(request, signal),
    };
  }

  async function capturers(): Promise<PlatformCapturers> {
    const settings = await read();
    if (current?.settings !== settings) current = { settings, capturers: make(settings) };
    return current.capturers;
  }
}

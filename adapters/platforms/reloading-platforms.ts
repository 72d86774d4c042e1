import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { PlatformSettings } from './platform-settings.ts';

type PlatformCapturers = Record<'youtube' | 'twitch', StreamCapturer>;

/**
 * Creates capturers for settings that may change at run time. Calls `read` for each platform URL; it returns the
 * same object while nothing has changed. A new object recreates the capturers and empties their caches. `make` loads
 * the code of the platforms, which most streams do not need.
 */
export function createReloadingPlatforms(
  read: () => Promise<PlatformSettings>,
  make: (settings: PlatformSettings) => Promise<PlatformCapturers>,
): PlatformCapturers {
  let current: { settings: PlatformSettings; capturers: Promise<PlatformCapturers> } | undefined;
  return { youtube: reloading('youtube'), twitch: reloading('twitch') };

  function reloading(platform: keyof PlatformCapturers): StreamCapturer {
    return {
      probe: async (...call) => (await capturers())[platform].probe(...call),
      capture: async (request, signal) => (await capturers())[platform].capture(request, signal),
    };
  }

  async function capturers(): Promise<PlatformCapturers> {
    const settings = await read();
    if (current?.settings === settings) return current.capturers;
    const loaded = { settings, capturers: make(settings) };
    current = loaded;
    try {
      return await loaded.capturers;
    } catch (error) {
      if (current === loaded) current = undefined;
      throw error;
    }
  }
}

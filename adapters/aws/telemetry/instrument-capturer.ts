import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import type { Clocked } from './instrument-vision.ts';

/** Adds metrics for captures, errors and latency to a capturer. */
export function instrumentCapturer<Streams extends StreamCapturer>(
  capturer: Streams,
  { measurements, elapsedMs }: Clocked,
): Streams {
  return {
    ...capturer,
    capture: async (request, signal) => {
      const beganMs = elapsedMs();
      try {
        const capture = await capturer.capture(request, signal);
        measurements.add('CapturesTaken');
        measurements.add('CaptureLatency', elapsedMs() - beganMs);
        return capture;
      } catch (error) {
        measurements.add('CaptureErrors');
        throw error;
      }
    },
  };
}

import { shareCall, type SharedCall } from '../../../core/share-call.ts';
import type { Detection, ObjectDetector } from './detector.ts';

/**
 * Returns a detector that runs the network once for each decoded image: jobs and conditions on one capture receive the
 * image from the decoder as the same array, which lives as long as one of them uses it. Images and detections must not
 * be changed.
 */
export function shareDetections(detector: ObjectDetector): ObjectDetector {
  const shared = new WeakMap<Uint8Array, SharedCall<Detection[]>>();
  return {
    ...detector,
    detect: async (picture, signal) => {
      signal.throwIfAborted();
      return (shared.get(picture.rgb) ?? begin(picture)).join(signal);
    },
  };

  function begin(picture: Parameters<ObjectDetector['detect']>[0]): SharedCall<Detection[]> {
    const forget = () => void shared.delete(picture.rgb);
    const call = shareCall((signal) => detector.detect(picture, signal), forget);
    call.result.catch(forget);
    shared.set(picture.rgb, call);
    return call;
  }
}

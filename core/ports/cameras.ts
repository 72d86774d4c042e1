import type { Camera, CameraProfile } from '../records/camera.ts';

/** User name and password of a camera. They are neither stored nor logged. */
export type CameraLogin = { username: string; password: string };

/** Cameras that answered in the allowed ranges, and addresses outside of them that did. */
export type Discovery = { cameras: Camera[]; ranges: readonly string[]; outside: string[] };

export type CameraStreams = {
  profiles: CameraProfile[];
  /** Time of the camera minus time of this service, in seconds; null: unknown. */
  clockOffsetSeconds: number | null;
};

/** Cameras of the local network in the allowed ranges. Absent on AWS and without allowed ranges. */
export interface Cameras {
  discover(signal: AbortSignal): Promise<Discovery>;
  /**
   * Reads the addresses of the streams of one camera. Sends the password to no other host, and only as a digest. Throws
   * `InvalidUrlError` for an address that is not allowed, and `StreamFetchError`.
   */
  readStreams(address: string, login: CameraLogin | null, signal: AbortSignal): Promise<CameraStreams>;
}

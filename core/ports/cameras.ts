import { z } from 'zod';

/** Cameras of the local network, as ONVIF describes them. Nothing of them is stored. */

export const cameraSchema = z.object({
  address: z
    .string()
    .describe('Address for POST /cameras/streams: host, port if it is not 80, and path if it is unusual'),
  name: z.string().nullable().describe('Name that the camera states'),
  hardware: z.string().nullable().describe('Model that the camera states'),
});

export const cameraProfileSchema = z.object({
  name: z.string(),
  codec: z.string().nullable().describe('Video codec that the camera states, such as H264'),
  width: z.int().nullable(),
  height: z.int().nullable(),
  stream_url: z.string().nullable().describe('RTSP address without user name and password; null: none'),
  snapshot_url: z
    .string()
    .nullable()
    .describe('Address of a JPEG without user name and password; null: none'),
});

export type Camera = z.infer<typeof cameraSchema>;
export type CameraProfile = z.infer<typeof cameraProfileSchema>;

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

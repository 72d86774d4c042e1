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

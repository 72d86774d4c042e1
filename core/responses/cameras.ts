import { z } from 'zod';
import { cameraProfileSchema, cameraSchema } from '../records/camera.ts';

/** Response of `GET /cameras`. */
export const camerasResponseSchema = z.object({ cameras: z.array(cameraSchema) });

/** Response of `POST /cameras/streams`. */
export const cameraStreamsResponseSchema = z.object({
  profiles: z.array(cameraProfileSchema),
  clock_offset_seconds: z
    .int()
    .nullable()
    .describe('By how many seconds the clock of the camera is ahead; null: unknown'),
});

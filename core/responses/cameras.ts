import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { cameraProfileSchema, cameraSchema } from '../ports/cameras.ts';

export const camerasResponseSchema = z.object({
  cameras: z.array(cameraSchema),
  ranges: z.array(z.string()).describe('Allowed ranges, in which cameras were asked'),
  outside: z.array(z.string()).describe('Other addresses that answered; at most 8'),
});
apiNames.add(camerasResponseSchema, { id: 'CameraList' });

export const cameraStreamsResponseSchema = z.object({
  profiles: z.array(cameraProfileSchema),
  clock_offset_seconds: z
    .int()
    .nullable()
    .describe('By how many seconds the clock of the camera is ahead; null: unknown'),
});
apiNames.add(cameraStreamsResponseSchema, { id: 'CameraStreams' });

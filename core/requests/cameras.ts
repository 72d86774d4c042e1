import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { text } from './fields.ts';

/** Body of `POST /cameras/streams`. Its password is in no error response. */
export const cameraStreamsRequestSchema = z.object({
  address: text(1, 300).describe('Address from GET /cameras, or host and port of a camera'),
  username: text(0, 100).default('').describe('User of the camera; empty: none'),
  password: text(0, 200)
    .default('')
    .describe('Its password: sent as a digest to this camera only, and neither stored nor logged'),
});
apiNames.add(cameraStreamsRequestSchema, { id: 'CameraStreamsRequest' });

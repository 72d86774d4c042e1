import { CamerasUnavailableError } from '../../../core/errors.ts';
import { type Cameras, cameraProfileSchema, cameraSchema } from '../../../core/ports/cameras.ts';
import * as examples from '../../openapi/examples/cameras.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';
import { z } from 'zod';
import { apiNames } from '../../../core/api-names.ts';
import { text } from '../../../core/requests/fields.ts';

const camerasResponseSchema = z.object({
  cameras: z.array(cameraSchema),
  ranges: z.array(z.string()).describe('Allowed ranges, in which cameras were asked'),
  outside: z.array(z.string()).describe('Other addresses that answered; at most 8'),
});
apiNames.add(camerasResponseSchema, { id: 'CameraList' });

const cameraStreamsResponseSchema = z.object({
  profiles: z.array(cameraProfileSchema),
  clock_offset_seconds: z
    .int()
    .nullable()
    .describe('By how many seconds the clock of the camera is ahead; null: unknown'),
});
apiNames.add(cameraStreamsResponseSchema, { id: 'CameraStreams' });

/** Body of `POST /cameras/streams`. Its password is in no error response. */
const cameraStreamsRequestSchema = z.object({
  address: text(1, 300).describe('Address from GET /cameras, or host and port of a camera'),
  username: text(0, 100).default('').describe('User of the camera; empty: none'),
  password: text(0, 200)
    .default('')
    .describe('Its password: sent as a digest to this camera only, and neither stored nor logged'),
});
apiNames.add(cameraStreamsRequestSchema, { id: 'CameraStreamsRequest' });

/** Discovery of cameras, on one machine only. No MCP tools: a password of a camera would pass through a model. */

const shared = {
  tag: 'checks',
  scope: 'jobs',
  effect: 'probes',
  rateLimit: 'calls',
  withoutTool: true,
} as const;

const listCamerasEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'list_cameras',
    method: 'get',
    path: '/cameras',
    title: 'List the cameras of the network',
    description:
      'Asks the ONVIF cameras in the allowed ranges for their addresses, which takes three seconds. Only on one machine with allowed ranges.',
    request: {},
    response: jsonResponse(camerasResponseSchema, { description: 'Cameras that answered' }),
    errors: ['NOT_FOUND'],
    examples: { response: { cameras: examples.cameras } },
  },
  async ({ context }, deps) => {
    const { ranges, ...discovery } = await requireCameras(deps).discover(context.req.raw.signal);
    return { ...discovery, ranges: [...ranges] };
  },
);

const cameraStreamsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'camera_streams',
    method: 'post',
    path: '/cameras/streams',
    title: 'Read the streams of a camera',
    description:
      'Reads the addresses of the streams and snapshots of an ONVIF camera in the allowed ranges. They contain no password. Only on one machine with allowed ranges.',
    timeBudgetSeconds: 25,
    request: { body: cameraStreamsRequestSchema },
    response: jsonResponse(cameraStreamsResponseSchema, { description: 'Profiles of the camera' }),
    errors: ['NOT_FOUND', 'INVALID_URL', 'STREAM_FETCH_FAILED'],
    examples: {
      body: { camera: examples.cameraStreamsRequest },
      response: { camera: examples.cameraStreams },
    },
  },
  async ({ body: { address, username, password }, context }, deps) => {
    const login = username === '' ? null : { username, password };
    const streams = await requireCameras(deps).readStreams(address, login, context.req.raw.signal);
    return { profiles: streams.profiles, clock_offset_seconds: streams.clockOffsetSeconds };
  },
);

export const cameraEndpoints = [listCamerasEndpoint, cameraStreamsEndpoint];

function requireCameras({ cameras }: { cameras?: Cameras }): Cameras {
  if (cameras === undefined) throw new CamerasUnavailableError();
  return cameras;
}

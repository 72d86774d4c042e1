import { CamerasUnavailableError } from '../../../core/errors.ts';
import type { Cameras } from '../../../core/ports/cameras.ts';
import { cameraStreamsRequestSchema } from '../../../core/requests/cameras.ts';
import { camerasResponseSchema, cameraStreamsResponseSchema } from '../../../core/responses/cameras.ts';
import * as examples from '../../openapi/examples/cameras.ts';
import { defineEndpoint } from '../endpoint.ts';
import { jsonResponse } from '../endpoint-response.ts';

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
    const { ranges, ...found } = await requireCameras(deps).discover(context.req.raw.signal);
    return { ...found, ranges: [...ranges] };
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

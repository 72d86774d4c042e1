import type { Api } from '../api/api.ts';
import type { CheckRequest } from '../api/types.ts';
import type { WalkPicture } from './use-walk-test.ts';

/** Returns the check of a walk test by a single check of the Try page. */
export function walkByCheck(api: Api, request: CheckRequest) {
  return async (signal: AbortSignal): Promise<WalkPicture> => {
    const { frame_b64: frame = '', ...verdict } = await api.look(request, signal);
    return { frame, verdicts: [{ condition: request.condition, ...verdict }] };
  };
}

export function walkByPreview(api: Api, watchId: string) {
  return async (signal: AbortSignal): Promise<WalkPicture> => {
    const { frame_b64: frame, verdicts } = await api.previewWatch(watchId, signal, 'frames');
    return { frame, verdicts: verdicts.map((verdict) => ({ ...verdict, boxes: verdict.boxes ?? [] })) };
  };
}

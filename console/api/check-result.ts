import type { Boxes, CheckOnceResponse } from './types.ts';

/** Model and tokens from the response headers of `check-once`; `null` if the service version sends none. */
export type ModelUse = {
  provider: string;
  model: string;
  /** Duration of the call of the model; `null` if the service version sends none. */
  milliseconds: number | null;
  inputTokens: number;
  outputTokens: number;
};

/** Result of a check, with the model usage and the boxes from its headers. */
export type MeteredCheckResult = CheckOnceResponse & { use: ModelUse | null; boxes: Boxes };

/** Reads a `check-once` response. Model and tokens are in headers, because the contract fixes the body. */
export async function readCheckResult(response: Response): Promise<MeteredCheckResult> {
  const look: CheckOnceResponse = await json(response);
  const { headers } = response;
  const provider = headers.get('Watchpost-Model-Provider');
  const boxes = parseBoxes(headers.get('Watchpost-Boxes'));
  if (provider === null) return { ...look, use: null, boxes };
  return {
    ...look,
    boxes,
    use: {
      provider,
      model: headers.get('Watchpost-Model') ?? provider,
      milliseconds: headers.has('Watchpost-Model-Milliseconds')
        ? Number(headers.get('Watchpost-Model-Milliseconds'))
        : null,
      inputTokens: Number(headers.get('Watchpost-Input-Tokens') ?? 0),
      outputTokens: Number(headers.get('Watchpost-Output-Tokens') ?? 0),
    },
  };
}

async function json(response: Response): Promise<CheckOnceResponse> {
  // The response gets its type here.
  // oxlint-disable-next-line typescript/no-unsafe-return
  return response.json();
}

/** Parses the header that the service wrote; no boxes without it. */
function parseBoxes(header: string | null): Boxes {
  // oxlint-disable-next-line typescript/no-unsafe-return
  return header === null ? [] : JSON.parse(header);
}

import type { Look } from './types.ts';

/** What the headers of `check-once` tell of the model; null where a service of another version does not tell it. */
export type ModelUse = { provider: string; model: string; inputTokens: number; outputTokens: number };

export type LookAnswer = Look & { use: ModelUse | null };

/** The body is the contract's, so the model and its tokens come in headers. */
export async function lookOf(response: Response): Promise<LookAnswer> {
  const look: Look = await json(response);
  const { headers } = response;
  const provider = headers.get('Watchpost-Model-Provider');
  if (provider === null) return { ...look, use: null };
  return {
    ...look,
    use: {
      provider,
      model: headers.get('Watchpost-Model') ?? provider,
      inputTokens: Number(headers.get('Watchpost-Input-Tokens') ?? 0),
      outputTokens: Number(headers.get('Watchpost-Output-Tokens') ?? 0),
    },
  };
}

async function json(response: Response): Promise<Look> {
  // As in http.ts: the answer gets its type here.
  // oxlint-disable-next-line typescript/no-unsafe-return
  return response.json();
}

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { textsInToolTerms } from './tool-terms.ts';
import type { EndpointDeclaration } from '../http/endpoint.ts';

const objectSchema = z.record(z.string(), z.unknown());

/** Converts a response of the API to a tool result. An error is a result too, so that the model reads its remediation. */
export async function toolResult(endpoint: EndpointDeclaration, response: Response): Promise<CallToolResult> {
  const declared = endpoint.response;
  if (response.ok && declared.kind === 'jpeg') {
    return { content: [jpeg(Buffer.from(await response.arrayBuffer()).toString('base64'))] };
  }
  const body = objectSchema.parse(await response.json());
  if (!response.ok) return { ...toStructuredResult(body), isError: true };
  const picture = declared.kind === 'json' ? declared.picture : undefined;
  if (picture === undefined) return toStructuredResult(body);
  const { [picture]: frame, ...rest } = body;
  const { content, structuredContent } = toStructuredResult(rest);
  return { content: [...content, ...(typeof frame === 'string' ? [jpeg(frame)] : [])], structuredContent };
}

/** Maximum length of the text of a result, in characters: about 7,000 tokens, which clients accept. */
const maxTextCharacters = 25_000;

/** Creates a result with the same content as text, for clients that do not read structured content. Cuts a long text. */
export function toStructuredResult(body: Record<string, unknown>) {
  const structuredContent = textsInToolTerms(body, ['message', 'remediation']);
  return {
    content: [{ type: 'text' as const, text: cut(JSON.stringify(structuredContent)) }],
    structuredContent,
  };
}

function cut(text: string): string {
  if (text.length <= maxTextCharacters) return text;
  const start = text.slice(0, maxTextCharacters).toWellFormed();
  return `${start}… (cut after ${maxTextCharacters} of ${text.length} characters: read the structured content, or request less with limit)`;
}

function jpeg(data: string) {
  return { type: 'image' as const, mimeType: 'image/jpeg', data };
}

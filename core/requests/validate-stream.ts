import { z } from 'zod';
import { streamUrl } from './fields.ts';

/** `POST /streams/validate` (interface section 4.4). */
export const validateStreamRequestSchema = z.object({ stream_url: streamUrl });

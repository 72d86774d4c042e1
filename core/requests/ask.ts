import { apiNames } from '../api-names.ts';
import { text } from './fields.ts';
import { momentSearchRequestSchema } from './moment-search.ts';

export const askRequestSchema = momentSearchRequestSchema
  .pick({ watch_ids: true, from: true, to: true })
  .extend({ question: text(1, 500).describe('"When was the last delivery, and did anybody take it?"') });
apiNames.add(askRequestSchema, { id: 'AskRequest' });

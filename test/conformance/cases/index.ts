import type { Case } from '../case.ts';
import { authCases } from './auth.ts';
import { checkCases } from './checks.ts';
import { digestCases } from './digests.ts';
import { fieldCases } from './fields.ts';
import { frameCases } from './frames.ts';
import { httpCases } from './http.ts';
import { jobCases } from './job-management.ts';
import { momentCases } from './moments.ts';
import { monitorCases } from './monitors.ts';
import { operationsCases } from './operations.ts';
import { sseCases } from './sse.ts';
import { watchAlertCases } from './watch-alerts.ts';
import { watchCases } from './watches.ts';
import { webCameraCases } from './web-cameras.ts';
import { webhookCases } from './webhooks.ts';

export const allCases: readonly Case[] = [
  ...httpCases,
  ...authCases,
  ...fieldCases,
  ...checkCases,
  ...frameCases,
  ...monitorCases,
  ...digestCases,
  ...webhookCases,
  ...sseCases,
  ...jobCases,
  ...operationsCases,
  ...watchCases,
  ...watchAlertCases,
  ...momentCases,
  ...webCameraCases,
];

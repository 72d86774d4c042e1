import { createCallLimiter } from '../../../../adapters/embedded/callers/call-limiter.ts';
import { describeCallLimiter } from '../../../contract/call-limiter.contract.ts';

describeCallLimiter('The embedded limiter', async (limits, now) => createCallLimiter({ ...limits, now }));

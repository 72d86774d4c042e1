import { createMeter } from '../../../../adapters/embedded/callers/usage.ts';
import { describeMeter } from '../../../contract/meter.contract.ts';

describeMeter('The embedded meter', async (since) => createMeter(since));

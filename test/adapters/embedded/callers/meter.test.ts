import { createMeter } from '../../../../adapters/embedded/callers/meter.ts';
import { describeMeter } from '../../../contract/meter.contract.ts';

describeMeter('The embedded meter', async (since) => createMeter(since));

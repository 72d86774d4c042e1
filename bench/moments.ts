import { type Moment, toMomentId } from '../core/records/moment.ts';

const things =
  'person,white car,red van,dog,bicycle,courier with a parcel,lorry,cat,umbrella,empty yard'.split(',');
const places = 'gate,door,street,garage,fence,garden,window,parking lot'.split(',');
/** Word of one moment in a thousand. */
export const rare = 'giraffe';

type Memory = { caller: string; watchIds: readonly string[]; begin: number; everyMs: number };

/** Returns a function for the moments of a memory by index, of its watches in turn. */
export function createMoments({ caller, watchIds, begin, everyMs }: Memory): (index: number) => Moment {
  return (index) => {
    const watchId = watchIds[index % watchIds.length] ?? '';
    const time = new Date(begin + index * everyMs);
    const thing = index % 1000 === 0 ? rare : (things[(index * 7) % things.length] ?? '');
    const place = places[(index * 13) % places.length] ?? '';
    const triggered = index % 20 === 0;
    return {
      moment_id: toMomentId({ watchId, captureAt: time, tick: index, at: time }),
      watch_id: watchId,
      caller,
      at: time.toISOString(),
      verdicts: [
        {
          condition_id: 'person',
          triggered,
          explanation: triggered
            ? `A person stands at the ${place}.`
            : `No person is visible at the ${place}.`,
        },
      ],
      scene: `A ${thing} at the ${place}, seen from above in daylight`,
      judged_by: 'bench',
      frame_key: `moments/3/${watchId}/${index}.jpg`,
      expires_at: new Date(begin + 500 * 86_400_000).toISOString(),
    };
  };
}

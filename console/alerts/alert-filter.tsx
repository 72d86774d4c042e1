import { useState } from 'preact/hooks';
import type { AlertQuery, Api } from '../api/api.ts';
import type { Watch } from '../api/types.ts';
import { useResource } from '../api/use-resource.ts';
import { Field, Select, TimeInput } from '../parts/field.tsx';
import { useSession } from '../session/session.ts';
import { dayText, shortTime } from '../time/format.ts';
import { readFilter, states, toSpan, writeFilter, type AlertFilter, type TimeSpan } from './alert-span.ts';

const noFilter = { state: '', watchId: '', conditionId: '', day: '', from: '', to: '' } as const;
/** Keeps the filter of a list of alerts, and derives its query. */
export function useAlertFilter(ofWatch: string | undefined) {
  const { api } = useSession();
  const [filter, setFilter] = useState<AlertFilter>(() =>
    ofWatch === undefined
      ? (readFilter(location.hash) ?? last.get(api) ?? noFilter)
      : { ...noFilter, watchId: ofWatch },
  );
  const changeFilter = (next: AlertFilter) => {
    setFilter(next);
    if (ofWatch !== undefined) return;
    last.set(api, next);
    history.replaceState(history.state, '', writeFilter(next));
  };
  const span = toSpan(filter, Date.now());
  const query: Omit<AlertQuery, 'limit'> = {
    watch_id: filter.watchId || undefined,
    condition_id: filter.conditionId || undefined,
    state: filter.state || undefined,
    from: span?.from.toISOString(),
    to: span?.to.toISOString(),
  };
  return { filter, setFilter: changeFilter, span, query };
}

/** Filter that a session used last: a page that is left has its filter when it is opened again. */
const last = new WeakMap<Api, AlertFilter>();

type Props = {
  filter: AlertFilter;
  span: TimeSpan;
  ofWatch: string | undefined;
  onFilter: (filter: AlertFilter) => void;
};

/** Renders the filters of a list of alerts: camera, condition, state, and a span in which they were open. */
export function AlertFilterFields({ filter, span, ofWatch, onFilter }: Props) {
  const { api } = useSession();
  const { value: watches = [] } = useResource((signal) => api.watches(signal), []);
  const change = (part: Partial<AlertFilter>) => onFilter({ ...filter, ...part });
  const cameras = watches.map(({ watch_id: value, name: label }) => ({ value, label }));
  const conditions = listConditions(watches, filter.watchId);
  return (
    <>
      {ofWatch === undefined && (
        <Field label="Camera">
          {(ids) => (
            <Select
              {...ids}
              value={filter.watchId}
              onValue={(watchId) => change({ watchId, conditionId: '' })}
              options={[{ value: '', label: 'All' }, ...cameras]}
            />
          )}
        </Field>
      )}
      <Field label="Condition">
        {(ids) => (
          <Select
            {...ids}
            value={filter.conditionId}
            onValue={(conditionId) => change({ conditionId })}
            options={[{ value: '', label: 'All' }, ...conditions]}
          />
        )}
      </Field>
      <Field label="State">
        {(ids) => (
          <Select
            {...ids}
            value={filter.state}
            onValue={(state) => change({ state })}
            options={[...states]}
          />
        )}
      </Field>
      {(['day', 'from', 'to'] as const).map((name) => (
        <Field key={name} label={{ day: 'Day', from: 'From', to: 'To' }[name]}>
          {(ids) => (
            <TimeInput
              {...ids}
              type={name === 'day' ? 'date' : 'time'}
              value={filter[name]}
              onValue={(value) => change({ [name]: value })}
            />
          )}
        </Field>
      ))}
      {span && <p class="small muted">Open at some time {spanText(span)}</p>}
    </>
  );
}

function listConditions(watches: Watch[], watchId: string): { value: string; label: string }[] {
  const shown = watches.filter(({ watch_id: id }) => watchId === '' || id === watchId);
  const texts = shown.flatMap(({ conditions }) =>
    conditions.map(({ condition_id: id, condition }) => [id, condition] as const),
  );
  return [...new Map(texts)].map(([value, label]) => ({ value, label }));
}

function spanText({ from, to }: NonNullable<TimeSpan>): string {
  const end = from.toDateString() === to.toDateString() ? '' : `${dayText(to)}, `;
  return `${dayText(from)}, ${shortTime(from)} to ${end}${shortTime(to)}`;
}

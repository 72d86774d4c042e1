import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/choice.tsx';
import { Checkbox, Field, Select, TextInput } from '../parts/field.tsx';
import { destinationTypes, newDestination, notifyOptions } from './watch-draft.ts';
import type { DestinationDraft } from './watch-draft.ts';

const maxDestinations = 5;
const severities = [
  { value: 'info', label: 'All' },
  { value: 'warning', label: 'Warning and critical' },
  { value: 'critical', label: 'Critical' },
] as const;

type Props = { destinations: DestinationDraft[]; onChange: (destinations: DestinationDraft[]) => void };

/** Edits destinations. A stored address is shown masked; it stays unless another one is entered. */
export function DestinationFields({ destinations, onChange }: Props) {
  return (
    <fieldset class="stack condition-fields">
      <legend>Destinations</legend>
      {destinations.map((destination, index) => {
        const change = (part: Partial<DestinationDraft>) =>
          onChange(destinations.with(index, { ...destination, ...part }));
        return (
          <div key={destination.destination_id ?? index} class="stack">
            <div class="field-grid">
              <Field label={`Type of destination ${index + 1}`}>
                {(ids) => (
                  <Select
                    {...ids}
                    value={destination.type}
                    onValue={(type) => change({ type, address: '', notify: newDestination(type).notify })}
                    options={destinationTypes.map(({ type, label }) => ({ value: type, label }))}
                  />
                )}
              </Field>
              <Field label={`Alerts for destination ${index + 1}`}>
                {(ids) => (
                  <Select
                    {...ids}
                    value={destination.minSeverity}
                    onValue={(minSeverity) => change({ minSeverity })}
                    options={[...severities]}
                  />
                )}
              </Field>
            </div>
            <Field
              label={`Address of destination ${index + 1}`}
              hint={destinationTypes.find(({ type }) => type === destination.type)?.hint ?? ''}
            >
              {(ids) => (
                <TextInput
                  {...ids}
                  value={destination.address}
                  onValue={(address) => change({ address })}
                  required
                />
              )}
            </Field>
            {destination.type === 'ntfy' && (
              <Field
                label={`Access token of destination ${index + 1}`}
                hint="Optional; a stored one stays unless you enter another"
              >
                {(ids) => (
                  <TextInput {...ids} value={destination.token} onValue={(token) => change({ token })} />
                )}
              </Field>
            )}
            {destination.type === 'webhook' && (
              <Checkbox
                label={`Frame in the events of destination ${index + 1}`}
                checked={destination.includeFrame}
                onChecked={(includeFrame) => change({ includeFrame })}
              />
            )}
            {destination.notify !== null && (
              <Choice
                legend={`Messages to destination ${index + 1}`}
                asList
                value={destination.notify}
                onValue={(notify) => change({ notify })}
                options={notifyOptions(destination.type)}
                hint="A failure that keeps the watch from watching, and its end, are always sent."
              />
            )}
            <Button small kind="danger" onClick={() => onChange(destinations.toSpliced(index, 1))}>
              Remove destination {index + 1}
            </Button>
          </div>
        );
      })}
      {destinations.length < maxDestinations && (
        <Button small onClick={() => onChange([...destinations, newDestination('slack')])}>
          Add destination
        </Button>
      )}
    </fieldset>
  );
}

import { Button } from '../parts/button.tsx';
import { Field, Select, TextInput } from '../parts/field.tsx';
import { destinationTypes } from './watch-draft.ts';
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
                    onValue={(type) => change({ type, address: '' })}
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
            <Button small kind="danger" onClick={() => onChange(destinations.toSpliced(index, 1))}>
              Remove destination {index + 1}
            </Button>
          </div>
        );
      })}
      {destinations.length < maxDestinations && (
        <Button
          small
          onClick={() => onChange([...destinations, { type: 'slack', address: '', minSeverity: 'info' }])}
        >
          Add destination
        </Button>
      )}
    </fieldset>
  );
}

import { watchRequestFields } from '../../client/openapi-types.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/choice.tsx';
import { CodeBlock } from '../parts/panel.tsx';
import { useSession } from '../session/session.ts';
import { Checkbox, Field, Select, TextInput } from '../parts/field.tsx';
import { addressField, destinationTypes, newDestination, notifyOptions, tokenTypes } from './watch-draft.ts';
import type { DestinationDraft } from './watch-draft.ts';

const severities = [
  { value: 'info', label: 'All' },
  { value: 'warning', label: 'Warning and critical' },
  { value: 'critical', label: 'Critical' },
] as const;

type Props = { destinations: DestinationDraft[]; onChange: (destinations: DestinationDraft[]) => void };

/** Types whose messages people read, so that those of a burst are joined. */
const joinsOpenings = new Set<string>(['slack', 'discord', 'ntfy', 'telegram', 'email']);

/** Types that receive clips, or links to them. */
const clipTypes = new Set<string>([...joinsOpenings, 'pagerduty', 'webhook']);

/** Edits destinations. A stored address is shown masked; it stays unless another one is entered. */
export function DestinationFields({ destinations, onChange }: Props) {
  const { destination_types: served, email_recipients: recipients } = useSession().service;
  return (
    <fieldset class="stack framed">
      <legend>Whom to tell</legend>
      {destinations.length === 0 && <p class="muted">Nobody: alerts are shown in the console only.</p>}
      {destinations.map((destination, index) => {
        const change = (part: Partial<DestinationDraft>) =>
          onChange(destinations.with(index, { ...destination, ...part }));
        return (
          <div key={destination.destination_id ?? index} class="stack">
            <div class="field-grid">
              <Field label={`Type of destination ${index + 1}`} name={`destinations.${index}.type`}>
                {(ids) => (
                  <Select
                    {...ids}
                    value={destination.type}
                    onValue={(type) =>
                      change({ type, address: '', notify: newDestination(type).notify, includeClip: true })
                    }
                    options={destinationTypes
                      .filter(({ type }) => type === destination.type || served.includes(type))
                      .map(({ type, label }) => ({ value: type, label }))}
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
              name={`destinations.${index}.${addressField(destination.type)}`}
              hint={
                destination.type === 'email'
                  ? `E-mail may go to ${recipients.join(', ') || 'nobody: the operator lists no recipients'}`
                  : destinationTypes.find(({ type }) => type === destination.type)?.hint
              }
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
            {tokenTypes.has(destination.type) && (
              <Field
                label={`${tokenTypes.get(destination.type)} of destination ${index + 1}`}
                name={`destinations.${index}.token`}
                hint={tokenHint(destination)}
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
            {clipTypes.has(destination.type) && (
              <Checkbox
                label={`Clips to destination ${index + 1}`}
                hint="When the clip is ready"
                checked={destination.includeClip}
                onChecked={(includeClip) => change({ includeClip })}
              />
            )}
            {destination.notify !== null && (
              <Choice
                legend={`Messages to destination ${index + 1}`}
                asList
                value={destination.notify}
                onValue={(notify) => change({ notify })}
                options={notifyOptions(destination.type)}
                hint={`A failure that keeps the watch from watching, and its end, are always sent.${joinsOpenings.has(destination.type) ? ' After two visits within a minute, further ones wait until it is over and are one message, unless they are critical.' : ''}`}
              />
            )}
            <Button small kind="danger" onClick={() => onChange(destinations.toSpliced(index, 1))}>
              Remove destination {index + 1}
            </Button>
          </div>
        );
      })}
      {destinations.length < watchRequestFields.destinations.maxItems && (
        <Button small onClick={() => onChange([...destinations, newDestination('ntfy')])}>
          Add destination
        </Button>
      )}
      {!served.includes('email') && <MailHelp />}
    </fieldset>
  );
}

/** Says what the operator sets so that e-mail can be chosen. */
function MailHelp() {
  return (
    <details class="where">
      <summary>Why is e-mail not in the list?</summary>
      <div class="stack">
        <p>This service has no mail server yet. Its operator sets these, and starts it again:</p>
        <CodeBlock code={mailSettings} label="Settings of e-mail" wraps />
        <p>
          On AWS the stage has <code>smtpSecretArn</code>, <code>emailFrom</code> and{' '}
          <code>emailRecipients</code>. The{' '}
          <a href="/docs#/operations/service" target="_blank" rel="noreferrer">
            API reference
          </a>{' '}
          says what the service has.
        </p>
      </div>
    </details>
  );
}

const mailSettings = `WATCHPOST_SMTP_URL=smtps://user:password@smtp.example.com
WATCHPOST_EMAIL_FROM=watchpost@example.com
WATCHPOST_EMAIL_RECIPIENTS=you@example.com`;

function tokenHint({ type, destination_id: id }: DestinationDraft): string {
  const [hint, place] = type === 'telegram' ? ['From @BotFather', 'chat'] : ['Optional', 'topic'];
  return id === undefined
    ? hint
    : `${hint}; the stored one stays with its ${place}: enter it again for another`;
}

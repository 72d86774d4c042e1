import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

type Props<Value extends string> = {
  label: string;
  tabs: { value: Value; label: string }[];
  value: Value;
  onValue: (value: Value) => void;
  children: ComponentChildren;
};

/** Renders tabs by the ARIA practices: arrow keys switch tabs, and only the selected tab is in the focus order. */
export function Tabs<Value extends string>({ label, tabs, value, onValue, children }: Props<Value>) {
  const id = useId();
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const shownIndex = tabs.findIndex((tab) => tab.value === value);
    const next = tabs[(shownIndex + step + tabs.length) % tabs.length];
    if (!next) return;
    onValue(next.value);
    document.getElementById(`${id}-${next.value}`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.value}
            id={`${id}-${tab.value}`}
            type="button"
            role="tab"
            aria-selected={tab.value === value}
            aria-controls={`${id}-panel`}
            tabIndex={tab.value === value ? 0 : -1}
            onClick={() => onValue(tab.value)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`}>
        {children}
      </div>
    </div>
  );
}

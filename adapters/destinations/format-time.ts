/**
 * Formats a time for people, in a time zone that it names: `Sun, 1 Mar 2026, 13:00:00 (Europe/Berlin)`; `clock`:
 * `13:00:00`.
 */
export function formatTime(at: string, timeZone: string, style: 'full' | 'clock' = 'full'): string {
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  const day = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;
  const parts = style === 'clock' ? clock : { ...day, ...clock };
  const text = new Intl.DateTimeFormat('en-GB', { timeZone, ...parts }).format(new Date(at));
  return style === 'clock' ? text : `${text} (${timeZone})`;
}

/** Formats a duration in its two largest units: `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ].filter(([count]) => count !== 0);
  const shown = parts.slice(0, 2).map((part) => part.join(' '));
  return shown.length === 0 ? '0 s' : shown.join(' ');
}

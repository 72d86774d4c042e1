/** Line icons, 20 px, inline so that the page fetches none. Decorative: text beside them has the meaning. */
const paths = {
  look: 'M2.5 10s2.7-5.2 7.5-5.2S17.5 10 17.5 10s-2.7 5.2-7.5 5.2S2.5 10 2.5 10Z M10 12.3a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6Z',
  jobs: 'M3 5.5h14M3 10h14M3 14.5h9',
  key: 'M12.5 11.5a4 4 0 1 0-3.7-2.5L3 14.8V17h2.8v-2h2v-2h1.6l1-1c.6.3 1.3.5 2.1.5Z M13.4 6.6h.01',
  pulse: 'M2.5 10.5h3.3l2.2-6 3.6 11 2.3-6.5.8 1.5h2.8',
  sun: 'M10 13.2a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4Z M10 2.5v1.8M10 15.7v1.8M2.5 10h1.8M15.7 10h1.8M4.7 4.7 6 6M14 14l1.3 1.3M4.7 15.3 6 14M14 6l1.3-1.3',
  moon: 'M16.5 11.8A6.8 6.8 0 0 1 8.2 3.5a6.8 6.8 0 1 0 8.3 8.3Z',
  out: 'M8 3.5H4.5v13H8M12.5 13.5 16 10l-3.5-3.5M16 10H7.5',
  copy: 'M7.5 7.5h9v9h-9z M4.5 12.5h-1v-9h9v1',
  check: 'm4 10.5 4 4 8-9',
  cross: 'm5 5 10 10M15 5 5 15',
  back: 'M12 4.5 6.5 10l5.5 5.5',
  book: 'M4 4.5c2-1 4-1 6 .5 2-1.5 4-1.5 6-.5v11c-2-1-4-1-6 .5-2-1.5-4-1.5-6-.5Z M10 5v11',
  bell: 'M5.5 13.5v-4.5a4.5 4.5 0 0 1 9 0v4.5l1.5 1.5H4l1.5-1.5Z M8.5 17h3',
  warn: 'M10 3.5 18 16.5H2L10 3.5Z M10 8.5v3.5M10 14.3v.01',
  camera: 'M3 5.5h9.5v9H3z M12.5 9l4.5-2.5v7L12.5 11',
  search: 'M8.7 14.4a5.7 5.7 0 1 0 0-11.4 5.7 5.7 0 0 0 0 11.4Z M13 13l4 4',
  text: 'M4 5h12M4 8.5h12M4 12h12M4 15.5h7',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}

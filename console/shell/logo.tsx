export function Logo() {
  return (
    <span class="logo">
      <svg viewBox="0 0 32 32" width="26" height="26" fill="var(--accent)" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path
          fill="none"
          stroke="#fff"
          stroke-width="2.2"
          stroke-linejoin="round"
          d="M5.5 16c2.8-4.6 6.3-6.9 10.5-6.9S23.7 11.4 26.5 16c-2.8 4.6-6.3 6.9-10.5 6.9S8.3 20.6 5.5 16Z"
        />
        <circle fill="#fff" cx="16" cy="16" r="3.6" />
      </svg>
      Watchpost
    </span>
  );
}

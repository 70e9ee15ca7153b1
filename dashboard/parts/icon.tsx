/** Paths of 16 px icons, drawn with a line of 1.5 px. */
const paths = {
  home: "M2.5 7.5 8 2.5l5.5 5V13a.5.5 0 0 1-.5.5H9.75V9.5h-3.5v4H3a.5.5 0 0 1-.5-.5Z",
  pulse: "M1.5 8h3l2-5 3 10 2-5h3",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  disk: "M2.5 4c0-1 2.5-1.8 5.5-1.8s5.5.8 5.5 1.8-2.5 1.8-5.5 1.8S2.5 5 2.5 4Zm0 0v8c0 1 2.5 1.8 5.5 1.8s5.5-.8 5.5-1.8V4M2.5 8c0 1 2.5 1.8 5.5 1.8s5.5-.8 5.5-1.8",
  ceph: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4Zm0-4v4m4.2 6.2L9.4 9.4m-5.6 2.8 2.8-2.8",
  screen: "M2 3h12v8H2Zm6 8v2.5m-3 0h6",
  hexagon: "M8 1.8 13.4 5v6L8 14.2 2.6 11V5Zm0 4.2a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z",
  box: "M8 1.8 13.5 5v6L8 14.2 2.5 11V5Zm0 6.2 5.5-3M8 8 2.5 5M8 8v6.2",
  archive: "M2 3h12v3H2Zm1 3v7h10V6M6.5 8.5h3",
  shield: "M8 1.8 13 3.5V8c0 3-2 5.2-5 6.2C5 13.2 3 11 3 8V3.5ZM6 8l1.5 1.5L10.2 6.5",
  user: "M8 8.2a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4ZM2.8 14c.5-2.6 2.6-4 5.2-4s4.7 1.4 5.2 4",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14",
  plus: "M8 3v10M3 8h10",
  close: "m4 4 8 8m0-8-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  open: "M2.5 8h10m-4-4 4 4-4 4",
  resize: "M9.5 2.5h4v4m0-4-5 5m-2 6h-4v-4m0 4 5-5",
  tag: "M2.5 2.5h5l6 6-5 5-6-6ZM5 5h.01",
  copy: "M5.5 5.5h8v8h-8Zm0 0v-3h-3v8h3",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2m-6 0 .5 9h7l.5-9M6.8 7v4m2.4-4v4",
  play: "M4.5 3v10l8-5Z",
  stop: "M4 4h8v8H4Z",
  restore: "M2.5 3v4h4M3 7a5.5 5.5 0 1 1-.3 3",
  check: "m3 8.5 3.5 3.5L13 4.5",
  down: "m4 6 4 4 4-4",
  up: "m4 10 4-4 4 4",
  key: "M10 2.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM7.5 8.5l-5 5m2-2 1.5 1.5",
  chart: "M2.5 2.5v11h11M5 10l2.5-3 2 1.5L13 4",
  image: "M2.5 3h11v10h-11Zm0 8 3.5-3.5 2.5 2.5 2-2 3 3M10.5 6h.01",
  server: "M2.5 3h11v4h-11Zm0 6h11v4h-11ZM5 5h.01M5 11h.01",
  book: "M3 2.5h8a2 2 0 0 1 2 2v9H5a2 2 0 0 1-2-2Zm0 9a2 2 0 0 1 2-2h8",
  exit: "M6 2.5H3v11h3m1-5.5h6.5m-3-3 3 3-3 3",
} as const;

export type IconName = keyof typeof paths;

/** An icon beside a text that says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentcolor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}

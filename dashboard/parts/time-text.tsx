import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";

/** A time in the browser's own zone and language, of today without the date, and the exact one for machines; nothing for none. */
export function TimeText(props: { readonly at?: Timestamp | undefined; readonly atMs?: number }) {
  const ms = props.atMs ?? (props.at === undefined ? undefined : timestampMs(props.at));
  if (ms === undefined) {
    return null;
  }
  const date = new Date(ms);
  return (
    <time class="keep" dateTime={date.toISOString()} title={date.toISOString()}>
      {date.toDateString() === new Date().toDateString()
        ? date.toLocaleTimeString(undefined, { timeStyle: "medium" })
        : date.toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" })}
    </time>
  );
}

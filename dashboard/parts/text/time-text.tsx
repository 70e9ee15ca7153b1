import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { localTime } from "./local-time.ts";

/** A time formatted by `localTime`, with the exact time for machines; nothing if there is none. */
export function TimeText(props: { readonly at?: Timestamp | undefined; readonly atMs?: number }) {
  const ms = props.atMs ?? (props.at === undefined ? undefined : timestampMs(props.at));
  if (ms === undefined) {
    return null;
  }
  const date = new Date(ms);
  return (
    <time class="keep" dateTime={date.toISOString()} title={date.toISOString()}>
      {localTime(date, new Date())}
    </time>
  );
}

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { nowMs } from "../../live/now.ts";
import { agoText } from "./ago-text.ts";
import { localTime } from "./local-time.ts";

/** How long ago a time was, with the exact one on hover and focus; nothing if there is none. */
export function TimeText(props: { readonly at?: Timestamp | undefined; readonly atMs?: number }) {
  const ms = props.atMs ?? (props.at === undefined ? undefined : timestampMs(props.at));
  if (ms === undefined) {
    return null;
  }
  const date = new Date(ms);
  return (
    <time class="keep" dateTime={date.toISOString()} title={localTime(date, new Date())}>
      {agoText(ms, nowMs.value)}
    </time>
  );
}

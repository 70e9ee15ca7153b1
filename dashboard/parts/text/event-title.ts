import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";
import { operationTitle } from "./operation-title.ts";

/** Says what happened to what, for people: "osd.3 down", "web-1 exited". @param name the resource's name for people */
export function eventTitle({ type, detail }: Event, name: string): string {
  if (detail.case === "operation") {
    return operationTitle(detail.value);
  }
  if (type === "gap") {
    return "Changes may have been missed";
  }
  const what = (type.split(".").at(-1) ?? type).replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return detail.case === "pod" && detail.value.name !== ""
    ? `${detail.value.name} ${what}`
    : `${name} ${what}`;
}

import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";
import { actorText } from "./actor-text.ts";
import { operationTitle } from "./operation-title.ts";

/** Says what happened to what, for people: "osd.3 down", "web-1 exited". @param name the resource's name for people */
export function eventTitle({ type, detail }: Event, name: string): string {
  if (detail.case === "operation") {
    return operationTitle(detail.value);
  }
  if (type === "gap") {
    return "Changes may have been missed";
  }
  if (detail.case === "clusterHealth") {
    return "Ceph health";
  }
  if (detail.case === "kubernetesMachine") {
    return `Machine of cluster ${detail.value.cluster}`;
  }
  const what = (type.split(".").at(-1) ?? type).replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  if (detail.case === "plan") {
    return `Plan of ${actorText(detail.value.proposedBy)} ${what}`;
  }
  if (detail.case === "pod" && detail.value.name !== "") {
    const { name: pod, container } = detail.value;
    return `${container === "" ? pod : `${pod}/${container}`} ${what}`;
  }
  return `${name} ${what}`;
}

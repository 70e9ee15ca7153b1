import { type Resource, ResourceHealth } from "../../../../gen/hostplane/v1/inventory_pb.ts";
import { keyOfResource } from "../../../host/key-of-resource.ts";
import { type Problem, ranks } from "./problem.ts";

/** How a resource is shown. */
export interface ResourceText {
  /** Its type for people: "volume". */
  readonly type: string;
  readonly place: string;
  readonly path: string | undefined;
}

export interface ResourceProblemSources {
  readonly resources: Iterable<Resource>;
  readonly textOf: (resource: Resource) => ResourceText;
  /** Returns when a resource's last problem was reported, in milliseconds since 1970; undefined if it is not known. */
  readonly sinceMsOf: (resource: Resource) => number | undefined;
}

/** From so many resources of a type in the same state on, they are one problem. */
const manyResources = 4;
/** Names shown of many. */
const shownNames = 3;

/** Returns the problems of resources by their health; many resources in the same state are one problem. */
export function resourceProblems({
  resources,
  textOf,
  sinceMsOf,
}: ResourceProblemSources): readonly Problem[] {
  const troubled = [...resources].filter(isTroubled);
  const downOsds = troubled.filter(({ type, health }) => type === "osd" && health === ResourceHealth.FAILED);
  const reasonOfCeph = (osd: Resource) =>
    downOsds.includes(osd)
      ? troubled.find(({ type, host }) => type === "cephCluster" && host === osd.host)?.reason
      : undefined;
  const shown = troubled.filter((resource) => !isConsequence(resource, downOsds));
  const groups = Map.groupBy(shown, ({ type, health, state }) => `${type} ${health} ${state}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first !== undefined && group.length >= manyResources) {
      return [problemOfMany(first, group, textOf(first))];
    }
    return group.map((resource) => ({
      ...problemOf(resource, textOf(resource), reasonOfCeph(resource)),
      sinceMs: sinceMsOf(resource),
    }));
  });
}

function isTroubled({ health, reason }: Resource): boolean {
  return (
    health === ResourceHealth.FAILED ||
    health === ResourceHealth.DEGRADED ||
    (health === ResourceHealth.UNSPECIFIED && reason !== "")
  );
}

/** A host and a cluster are degraded because of OSDs that are down; those have problems of their own. */
function isConsequence({ type, title, health, host }: Resource, downOsds: readonly Resource[]): boolean {
  const near = downOsds.filter((osd) => osd.host === host);
  return (
    (type === "cephHost" && near.some(({ labels }) => labels.host === title)) ||
    (type === "cephCluster" && health !== ResourceHealth.FAILED && near.length > 0)
  );
}

function problemOf(resource: Resource, text: ResourceText, cause: string | undefined): Problem {
  const { type, title, state, health, reason } = resource;
  return {
    key: keyOfResource(resource),
    severity: health === ResourceHealth.FAILED ? "failed" : "warn",
    rank: type === "backup" ? ranks.backup : ranks.resource,
    title:
      type === "cephCluster" ? `Ceph reports ${state}` : `${capitalised(text.type)} ${title}${isIn(state)}`,
    cause: reason || (cause ?? ""),
    place: text.place,
    path: text.path,
  };
}

function problemOfMany(first: Resource, group: readonly Resource[], text: ResourceText): Problem {
  const names = group
    .slice(0, shownNames)
    .map(({ title, host }) => (host === "" ? title : `${title} on ${host}`));
  const reasons = new Set(group.map(({ reason }) => reason).filter(Boolean));
  const list = `${names.join(", ")} and ${group.length - names.length} more`;
  const [, page = ""] = group.some(({ host }) => host !== "")
    ? ["", "resources"]
    : (text.path?.split("/") ?? []);
  return {
    key: `${first.type} ${first.state}`,
    severity: first.health === ResourceHealth.FAILED ? "failed" : "warn",
    rank: first.type === "backup" ? ranks.backup : ranks.resource,
    title: `${group.length} ${text.type}s: ${words(first.state)}`,
    cause: reasons.size === 1 ? `${list}. ${[...reasons][0]}` : list,
    place: "",
    path: page === "" ? undefined : `/${page}?state=${encodeURIComponent(first.state)}`,
  };
}

/** " is down" for "down, in", ": refresh needed" for a state that is not an adjective. */
function isIn(state: string): string {
  const adjective = state.split(", ").find((word) => adjectives.has(word.toLowerCase()));
  return adjective !== undefined
    ? ` is ${words(adjective)}`
    : state === "failed"
      ? " has failed"
      : `: ${words(state)}`;
}

const adjectives: ReadonlySet<string> = new Set([
  "damaged",
  "degraded",
  "down",
  "out",
  "outofdataspace",
  "metadatareadonly",
  "partial",
  "suspended",
]);

/** "outOfDataSpace" to "out of data space", "RECONCILING" to "reconciling". */
function words(state: string): string {
  return state
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

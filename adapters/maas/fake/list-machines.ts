import { type FakeAnswer, invalidAnswer, jsonAnswer } from "./answer.ts";
import type { SignedRequest } from "./check-signature.ts";
import { unknownPlaces, unknownTags } from "./constraints.ts";
import type { FakeMachine } from "./machine.ts";
import type { FakeRegion } from "./region.ts";
import { macAddress, renderMachineOf } from "./render-machine.ts";
import { statusCode } from "./status-name.ts";
import { mayView } from "./visibility.ts";

const keys = [
  "op",
  "id",
  "hostname",
  "domain",
  "mac_address",
  "owner",
  "status",
  "agent_name",
  "pool",
  "zone",
  "tags",
];

/** `GET machines/`; `?op=list_allocated` limits it to allocated machines. */
export function listMachines(region: FakeRegion, { query, user, op }: SignedRequest): FakeAnswer {
  const errors = filterErrors(region, query);
  if (Object.keys(errors).length > 0) {
    return invalidAnswer(errors);
  }
  const owner = query.get("owner");
  const status = query.get("status");
  const ids = query.getAll("id");
  const filters: ((machine: FakeMachine) => boolean)[] = [
    (machine) => mayView(user, machine),
    ({ systemId }) => ids.length === 0 || ids.includes(systemId),
    (machine) => owner === null || machine.owner === owner,
    (machine) => status === null || machine.status === statusFrom(status),
    ({ agentName }) => (query.get("agent_name") ?? agentName) === agentName,
    () => (query.get("domain") ?? "maas") === "maas",
    ({ systemId }) => query.getAll("mac_address").every((mac) => mac === macAddress(systemId)),
    ({ hostname }) => !query.has("hostname") || query.getAll("hostname").includes(hostname),
    ({ pool }) => (query.get("pool") ?? pool) === pool,
    ({ zone }) => (query.get("zone") ?? zone) === zone,
    ({ tags }) => query.getAll("tags").every((tag) => tags.includes(tag)),
    (machine) =>
      op !== "list_allocated" || (machine.status === "allocated" && machine.owner === user.username),
  ];
  const found = region.machines().filter((machine) => filters.every((filter) => filter(machine)));
  return jsonAnswer(found.map((machine) => renderMachineOf(region, machine)));
}

function filterErrors({ options }: FakeRegion, query: URLSearchParams): Record<string, readonly string[]> {
  const unchosen = (value: string) => `Select a valid choice. ${value} is not one of the available choices.`;
  const [owner, status] = [query.get("owner"), query.get("status")];
  const found = {
    ...(owner !== null && !options.users.some(({ username }) => username === owner)
      ? { owner: [unchosen(owner)] }
      : {}),
    ...(status !== null && statusFrom(status) === undefined ? { status: [unchosen(status)] } : {}),
    pool: unknownPlaces("pool", query.getAll("pool"), options.pools).errors,
    zone: unknownPlaces("zone", query.getAll("zone"), options.zones).errors,
    tags: unknownTags(query.getAll("tags"), options.tags).errors,
    agent_name: agentNameErrors(query.get("agent_name") ?? ""),
    ...Object.fromEntries(
      [...query.keys()].filter((key) => !keys.includes(key)).map((key) => [key, ["No such constraint."]]),
    ),
  };
  return Object.fromEntries(
    Object.entries(found).flatMap(([key, errors]) => (errors === undefined ? [] : [[key, errors]])),
  );
}

const maxAgentNameLength = 255;

function agentNameErrors({ length }: string): readonly string[] | undefined {
  const most = maxAgentNameLength;
  return length > most ? [`Ensure this value has at most ${most} characters (it has ${length}).`] : undefined;
}

/** Returns the refusal of an agent name that is too long. */
export function invalidAgentName(agentName: string): FakeAnswer | undefined {
  const errors = agentNameErrors(agentName);
  return errors === undefined ? undefined : invalidAnswer({ agent_name: errors });
}

/** Parses a status in the filter's notation, e.g. `failed_deployment`. */
function statusFrom(word: string): FakeMachine["status"] | undefined {
  const status = word.replace(/_([a-z])/g, (_, letter: string) =>
    letter.toUpperCase(),
  ) as FakeMachine["status"];
  return statusCode(status) === -1 ? undefined : status;
}

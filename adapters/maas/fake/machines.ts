import {
  deleted,
  type FakeAnswer,
  forbidden,
  invalidAnswer,
  jsonAnswer,
  machineMissing,
  textAnswer,
} from "./answer.ts";
import type { FakeUser } from "./check-signature.ts";
import { parseConstraints } from "./constraints.ts";
import { type FakeMachine, type MachineChange, statusCode } from "./machine.ts";
import type { FakeRegion } from "./region.ts";
import { renderMachine } from "./render-machine.ts";
import type { FakeRequest } from "./request.ts";

/** A request that is signed, and by whom. */
export interface SignedRequest extends FakeRequest {
  readonly user: FakeUser;
  readonly form: URLSearchParams;
}

function render({ options }: FakeRegion, machine: FakeMachine) {
  return renderMachine(machine, options.pools, options.addressPrefix);
}

function truthOf(word: string | null): boolean {
  return /^(true|t|yes|y|on|1)$/i.test(word ?? "");
}

/** `GET machines/`, of which `?op=list_allocated` is a part. */
export function listMachines(region: FakeRegion, { query, user, op }: SignedRequest): FakeAnswer {
  const owner = query.get("owner");
  const status = query.get("status");
  const isKnownUser = region.options.users.some(({ username }) => username === owner);
  if (owner !== null && !isKnownUser) {
    return invalidAnswer({ owner: [`Select a valid choice. ${owner} is not one of the available choices.`] });
  }
  if (status !== null && statusFrom(status) === undefined) {
    return invalidAnswer({
      status: [`Select a valid choice. ${status} is not one of the available choices.`],
    });
  }
  const ids = query.getAll("id");
  const filters: ((machine: FakeMachine) => boolean)[] = [
    ({ systemId }) => ids.length === 0 || ids.includes(systemId),
    (machine) => owner === null || machine.owner === owner,
    (machine) => status === null || machine.status === statusFrom(status),
    ({ agentName }) => (query.get("agent_name") ?? agentName) === agentName,
    ({ hostname }) => !query.has("hostname") || query.getAll("hostname").includes(hostname),
    ({ pool }) => (query.get("pool") ?? pool) === pool,
    ({ zone }) => (query.get("zone") ?? zone) === zone,
    ({ tags }) => query.getAll("tags").every((tag) => tags.includes(tag)),
    (machine) =>
      op !== "list_allocated" || (machine.status === "allocated" && machine.owner === user.username),
  ];
  const found = region.machines().filter((machine) => filters.every((filter) => filter(machine)));
  return jsonAnswer(found.map((machine) => render(region, machine)));
}

/** As the filter has them, `failed_deployment`. */
function statusFrom(word: string): FakeMachine["status"] | undefined {
  const status = word.replace(/_([a-z])/g, (_, letter: string) =>
    letter.toUpperCase(),
  ) as FakeMachine["status"];
  return statusCode(status) === -1 ? undefined : status;
}

/** `POST machines/?op=allocate`. */
export function allocateMachine(region: FakeRegion, { form, user }: SignedRequest): FakeAnswer {
  const constraints = parseConstraints(form, region);
  if ("errors" in constraints) {
    return invalidAnswer(constraints.errors);
  }
  const { systemId, isMet, unmet } = constraints;
  const free = region.machines().filter((each) => each.status === "ready" && each.owner === undefined);
  if (systemId !== undefined && !free.some((each) => each.systemId === systemId)) {
    return textAnswer(409, `No machine with system ID ${systemId} available.`);
  }
  const found = free.find((each) => (systemId ?? each.systemId) === each.systemId && isMet(each));
  if (found === undefined) {
    return textAnswer(409, unmet);
  }
  const change = { kind: "allocate", owner: user.username, agentName: form.get("agent_name") ?? "" } as const;
  const taken = truthOf(form.get("dry_run")) ? found : region.change(found.systemId, change);
  return "violation" in taken
    ? textAnswer(409, taken.violation)
    : jsonAnswer({ ...render(region, taken), constraints_by_type: {} });
}

/** `POST machines/?op=release`: all of them or none. */
export function releaseMachines(region: FakeRegion, { form, user }: SignedRequest): FakeAnswer {
  const ids = [...new Set(form.getAll("machines"))];
  const machines = ids.flatMap((id) => region.machine(id) ?? []);
  const unknown = ids.filter((id) => region.machine(id) === undefined);
  if (unknown.length > 0) {
    return textAnswer(400, `Unknown machine(s): ${unknown.join(", ")}.`);
  }
  const denied = machines.filter((machine) => !mayEdit(user, machine)).map(({ systemId }) => systemId);
  if (denied.length > 0) {
    const words = "You don't have the required permission to release the following machine(s):";
    return textAnswer(403, `${words} ${denied.join(", ")}.`);
  }
  const released: string[] = [];
  for (const { systemId, status } of machines) {
    if (status !== "ready" && "violation" in region.change(systemId, { kind: "release", erase: false })) {
      return textAnswer(409, `Machine(s) cannot be released in their current state: ${systemId}.`);
    }
    released.push(systemId);
  }
  return jsonAnswer(released);
}

function mayEdit(user: FakeUser, machine: FakeMachine): boolean {
  const isOurs = machine.owner === undefined || machine.owner === user.username;
  return (user.isAdmin || isOurs) && !machine.isLocked;
}

/** `machines/ID/`. */
export function answerMachine(region: FakeRegion, systemId: string, request: SignedRequest): FakeAnswer {
  const machine = region.machine(systemId);
  const { method, op, user } = request;
  if (machine === undefined) {
    return machineMissing;
  }
  if (method === "GET") {
    const isPower = op === "query_power_state";
    const noRack = `No rack controllers can access the BMC of node ${machine.hostname}`;
    return isPower ? textAnswer(503, noRack) : jsonAnswer(render(region, machine));
  }
  if (method === "DELETE") {
    if (!user.isAdmin || machine.isLocked) {
      return forbidden;
    }
    region.remove(systemId);
    return deleted;
  }
  return changeMachine(region, machine, request);
}

function changeMachine(region: FakeRegion, machine: FakeMachine, request: SignedRequest): FakeAnswer {
  const { op, user, form } = request;
  const isOwner = user.isAdmin || machine.owner === user.username;
  const change = changeFor(request);
  const isLocking = op === "lock" || op === "unlock";
  if (op === "deploy") {
    return mayEdit(user, machine) ? deployMachine(region, machine, request) : forbidden;
  }
  if (change === undefined) {
    return textAnswer(400, `Unrecognised signature: method=POST op=${op ?? "None"}`);
  }
  if (isLocking ? !isOwner : !mayEdit(user, machine) || (op === "mark_fixed" && !user.isAdmin)) {
    return forbidden;
  }
  if (change.kind === "annotate" && [...form.keys()].some((key) => !/^[\w.-]+$/.test(key))) {
    return textAnswer(500, "Invalid character in key name");
  }
  const changed = region.change(machine.systemId, change);
  return "violation" in changed ? textAnswer(409, changed.violation) : jsonAnswer(render(region, changed));
}

function changeFor({ op, form, user }: SignedRequest): MachineChange | undefined {
  switch (op) {
    case "release":
      return { kind: "release", erase: truthOf(form.get("erase")) };
    case "set_workload_annotations":
    case "set_owner_data": {
      const annotations = Object.fromEntries([...form].filter(([key]) => key !== "op"));
      return { kind: "annotate", user: user.username, annotations };
    }
    case "lock":
    case "unlock":
    case "abort":
      return { kind: op };
    case "power_on":
    case "power_off":
      return { kind: "power", state: op === "power_on" ? "on" : "off" };
    case "mark_broken":
      return { kind: "markBroken", comment: form.get("comment") ?? "" };
    case "mark_fixed":
      return { kind: "markFixed" };
    default:
      return undefined;
  }
}

function deployMachine(region: FakeRegion, machine: FakeMachine, { form, user }: SignedRequest): FakeAnswer {
  const series = form.get("distro_series") ?? "jammy";
  const isNamed = ({ name }: { readonly name: string }) => name === series || name.endsWith(`/${series}`);
  const image = region.options.images.find(isNamed);
  // A free machine is taken first, and given back by the transaction when the rest fails.
  const agentName = form.get("agent_name") ?? "";
  const isFree = machine.status === "ready";
  if (!isFree && machine.status !== "allocated") {
    return violationOf(region, machine.systemId);
  }
  if (image === undefined) {
    const choices = ["", ...region.options.images.map(({ name }) => name)].map((name) => `'${name}'`);
    const words = `'${series}' is not a valid distro_series.  It should be one of: ${choices.join(", ")}.`;
    return invalidAnswer({ distro_series: [words] });
  }
  const [osystem = "", release = ""] = image.name.includes("/")
    ? image.name.split("/")
    : ["custom", image.name];
  if (!region.images.some(isNamed)) {
    return textAnswer(400, `Deployment operating system ${osystem} ${release} is unavailable.`);
  }
  if (region.freeAddress() === undefined) {
    const words = `${machine.hostname}: Unable to allocate static IP due to address exhaustion.`;
    return textAnswer(503, words);
  }
  if (isFree) {
    region.change(machine.systemId, { kind: "allocate", owner: user.username, agentName });
  }
  const userData = form.get("user_data") ?? undefined;
  const changed = region.change(machine.systemId, { kind: "deploy", osystem, series: release, userData });
  return "violation" in changed ? textAnswer(409, changed.violation) : jsonAnswer(render(region, changed));
}

function violationOf(region: FakeRegion, systemId: string): FakeAnswer {
  const change = { kind: "deploy", osystem: "", series: "", userData: undefined } as const;
  const changed = region.change(systemId, change);
  return textAnswer(409, "violation" in changed ? changed.violation : "");
}

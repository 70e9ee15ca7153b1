import { randomInt } from "node:crypto";
import {
  deleted,
  type FakeAnswer,
  forbidden,
  invalidAnswer,
  jsonAnswer,
  machineMissing,
  textAnswer,
} from "./answer.ts";
import type { MachineChange } from "./changed-machine.ts";
import type { FakeUser, SignedRequest } from "./check-signature.ts";
import { parseConstraints } from "./constraints.ts";
import { invalidAgentName } from "./list-machines.ts";
import type { FakeMachine } from "./machine.ts";
import type { FakeRegion } from "./region.ts";
import { renderMachineOf as render } from "./render-machine.ts";
import { mayView } from "./visibility.ts";

function truthOf(word: string | null): boolean {
  return /^(true|t|yes|y|on|1)$/i.test(word ?? "");
}

/** `POST machines/?op=allocate`. */
export function allocateMachine(region: FakeRegion, { form, user }: SignedRequest): FakeAnswer {
  const constraints = parseConstraints(form, region);
  if ("errors" in constraints) {
    return invalidAnswer(constraints.errors);
  }
  const { systemId, isMet, unmet } = constraints;
  const agentName = form.get("agent_name") ?? "";
  const invalid = invalidAgentName(agentName);
  if (invalid !== undefined) {
    return invalid;
  }
  const free = region.machines().filter((each) => each.status === "ready" && each.owner === undefined);
  const found = free.find((each) => (systemId ?? each.systemId) === each.systemId && isMet(each));
  if (found === undefined) {
    // MAAS sends the same reply for a machine that is not free and one that does not meet the other constraints.
    return textAnswer(
      409,
      systemId === undefined ? unmet : `No machine with system ID ${systemId} available.`,
    );
  }
  const change = { kind: "allocate", owner: user.username, agentName } as const;
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

/** `POST machines/`: enlists a machine. */
export function createMachine(region: FakeRegion, { form }: SignedRequest): FakeAnswer {
  const missing = ["architecture", "mac_addresses"].filter((field) => !form.get(field));
  if (missing.length > 0) {
    return invalidAnswer(Object.fromEntries(missing.map((field) => [field, ["This field is required."]])));
  }
  const letters = "34678abcdefghkmnpqrstwxy";
  const systemId = Array.from({ length: 6 }, () => letters[randomInt(letters.length)]).join("");
  const architecture = form.get("architecture") ?? "";
  region.add({ systemId, hostname: form.get("hostname") ?? systemId, architecture, status: "new" });
  const added = region.machine(systemId);
  return added === undefined ? machineMissing : jsonAnswer(render(region, added));
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
  if (!mayView(user, machine)) {
    return forbidden;
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
  const isAllowed = isLocking ? isOwner : mayEdit(user, machine) && (op !== "mark_broken" || isOwner);
  if (!isAllowed || (op === "mark_fixed" && !user.isAdmin)) {
    return forbidden;
  }
  if (change.kind === "power" && machine.powerType === "manual") {
    return jsonAnswer(null);
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
  // A free machine is allocated first; the transaction is rolled back if the rest fails.
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

import { listAddresses, listRanges, releaseAddress, reserveAddress } from "./address-api.ts";
import { type FakeAnswer, jsonAnswer, textAnswer } from "./answer.ts";
import type { SignedRequest } from "./check-signature.ts";
import { listMachines } from "./list-machines.ts";
import { allocateMachine, answerMachine, createMachine, releaseMachines } from "./machines.ts";
import type { FakeRegion } from "./region.ts";
import {
  renderEvent,
  renderedDomain,
  renderImage,
  renderPool,
  renderSpace,
  renderSubnet,
  renderTag,
  renderUser,
  renderZone,
} from "./render.ts";
import { mayView } from "./visibility.ts";

type Handler = (region: FakeRegion, request: SignedRequest) => FakeAnswer;

/** Handlers by method, path relative to `/MAAS/api/2.0/` and operation. */
const handlers: Readonly<Record<string, Handler>> = {
  "GET users/ whoami": (_, { user }) => jsonAnswer(renderUser(user.username, user.isAdmin)),
  "GET machines/": listMachines,
  "GET machines/ list_allocated": listMachines,
  "POST machines/": createMachine,
  "POST machines/ allocate": allocateMachine,
  "POST machines/ release": releaseMachines,
  "GET events/ query": listEvents,
  "GET boot-resources/": ({ images }) =>
    jsonAnswer(images.map((image, index) => renderImage(image, index + 1))),
  "GET resourcepools/": ({ options }) => jsonAnswer(options.pools.map(renderPool)),
  "GET zones/": ({ options }) => jsonAnswer(options.zones.map(renderZone)),
  "GET tags/": ({ options }) => jsonAnswer(options.tags.map(renderTag)),
  "GET domains/": () => jsonAnswer([renderedDomain]),
  "GET subnets/": ({ options, subnet }) =>
    jsonAnswer([renderSubnet(options.addressPrefix, subnet.isManaged)]),
  "GET spaces/": ({ options, subnet }) =>
    jsonAnswer([renderSpace(renderSubnet(options.addressPrefix, subnet.isManaged))]),
  "GET ipranges/": listRanges,
  "GET maas/ get_config": (_, { query }) =>
    query.get("name") === "default_distro_series"
      ? { ...jsonAnswer("jammy"), headers: { "content-type": "application/json" } }
      : textAnswer(400, `${query.get("name")} is not a valid config setting`),
  "GET ipaddresses/": listAddresses,
  "POST ipaddresses/ reserve": reserveAddress,
  "POST ipaddresses/ release": releaseAddress,
};

const version = {
  capabilities: [
    "networks-management",
    "static-ipaddresses",
    "ipv6-deployment-ubuntu",
    "devices-management",
    "storage-deployment-ubuntu",
    "network-deployment-ubuntu",
    "bridging-interface-ubuntu",
    "bridging-automatic-ubuntu",
    "authenticate-api",
  ],
  version: "3.4.10",
  subversion: "sandbox",
};

/** Answers requests that need no signature; undefined for all others. */
export function answerAnonymously(method: string, path: string): FakeAnswer | undefined {
  return method === "GET" && path === "version/" ? jsonAnswer(version) : undefined;
}

/** Reports whether the path exists: MAAS returns 404 before it authenticates. */
export function isEndpoint(path: string): boolean {
  return (
    path === "version/" ||
    machineIn(path) !== undefined ||
    Object.keys(handlers).some((key) => key.split(" ")[1] === path)
  );
}

function machineIn(path: string): string | undefined {
  return /^machines\/([^/]+)\/$/.exec(path)?.[1];
}

/** Answers a signed request. @param path relative to `/MAAS/api/2.0/` */
export function answerSigned(region: FakeRegion, path: string, request: SignedRequest): FakeAnswer {
  const { method, op } = request;
  const systemId = machineIn(path);
  if (systemId !== undefined) {
    return answerMachine(region, systemId, request);
  }
  const handler = handlers[`${method} ${path}${op === undefined ? "" : ` ${op}`}`];
  return handler === undefined
    ? textAnswer(400, `Unrecognised signature: method=${method} op=${op ?? "None"}`)
    : handler(region, request);
}

function listEvents(region: FakeRegion, { query, user }: SignedRequest): FakeAnswer {
  const limit = Number(query.get("limit") ?? 100);
  if (!(limit >= 1 && limit <= 1000)) {
    return textAnswer(400, "The requested number of events is out of bounds: 1000");
  }
  const shown = query.getAll("id").filter((id) => {
    const machine = region.machine(id);
    return machine !== undefined && mayView(user, machine);
  });
  const events = shown.flatMap((id) => region.events(id)).slice(0, limit);
  const filtered = new URLSearchParams([...query].filter(([key]) => key !== "after" && key !== "before"));
  const uri = `/MAAS/api/2.0/events/?${filtered}`;
  const [newest, oldest] = [events[0], events.at(-1)];
  const next_uri = `${uri}&after=${newest?.id ?? 0}`;
  const prev_uri = oldest === undefined ? null : `${uri}&before=${oldest.id}`;
  return jsonAnswer({ count: events.length, events: events.map(renderEvent), next_uri, prev_uri });
}

import { isIP } from "node:net";
import { deleted, type FakeAnswer, jsonAnswer, textAnswer } from "./answer.ts";
import {
  allocateMachine,
  answerMachine,
  listMachines,
  releaseMachines,
  type SignedRequest,
} from "./machines.ts";
import { defaultAddressPrefix, type FakeRegion } from "./region.ts";
import {
  renderAddress,
  renderEvent,
  renderedDomain,
  renderImage,
  renderPool,
  renderSubnet,
  renderTag,
  renderUser,
  renderZone,
  subnetOf,
} from "./render.ts";

type Handler = (region: FakeRegion, request: SignedRequest) => FakeAnswer;

/** By method, path below `/MAAS/api/2.0/` and operation. */
const handlers: Readonly<Record<string, Handler>> = {
  "GET users/ whoami": (_, { user }) => jsonAnswer(renderUser(user.username, user.isAdmin)),
  "GET machines/": listMachines,
  "GET machines/ list_allocated": listMachines,
  "POST machines/ allocate": allocateMachine,
  "POST machines/ release": releaseMachines,
  "GET events/ query": listEvents,
  "GET boot-resources/": ({ images }) =>
    jsonAnswer(images.map((image, index) => renderImage(image, index + 1))),
  "GET resourcepools/": ({ options }) => jsonAnswer(options.pools.map(renderPool)),
  "GET zones/": ({ options }) => jsonAnswer(options.zones.map(renderZone)),
  "GET tags/": ({ options }) => jsonAnswer(options.tags.map(renderTag)),
  "GET domains/": () => jsonAnswer([renderedDomain]),
  "GET subnets/": ({ options }) => jsonAnswer([renderSubnet(options.addressPrefix)]),
  "GET maas/ get_config": (_, { query }) =>
    query.get("name") === "default_distro_series"
      ? jsonAnswer("jammy")
      : textAnswer(400, `${query.get("name")} is not a valid config setting`),
  "GET ipaddresses/": listAddresses,
  "POST ipaddresses/ reserve": reserveAddress,
  "POST ipaddresses/ release": releaseAddress,
};

const version = {
  capabilities: [
    "networks-management",
    "static-ipaddresses",
    "devices-management",
    "storage-deployment-ubuntu",
  ],
  version: "3.4.10",
  subversion: "sandbox",
};

/** What needs no signature; undefined for all else. */
export function answerAnonymously(method: string, path: string): FakeAnswer | undefined {
  return method === "GET" && path === "version/" ? jsonAnswer(version) : undefined;
}

/** Whether there is anything at a path: MAAS says 404 before it asks who wants to know. */
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

/** @param path below `/MAAS/api/2.0/` */
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

function listEvents(region: FakeRegion, { query }: SignedRequest): FakeAnswer {
  const limit = Number(query.get("limit") ?? 100);
  if (!(limit >= 1 && limit <= 1000)) {
    return textAnswer(400, "The requested number of events is out of bounds: 1000");
  }
  const ids = query.getAll("id");
  const events = ids.flatMap((id) => region.events(id)).slice(0, limit);
  const uri = `/MAAS/api/2.0/events/?op=query&limit=${limit}`;
  const next_uri = `${uri}&after=${events[0]?.id ?? 0}`;
  const prev_uri = `${uri}&before=${events.at(-1)?.id ?? 0}`;
  return jsonAnswer({ count: events.length, events: events.map(renderEvent), next_uri, prev_uri });
}

function listAddresses({ reservations, options }: FakeRegion, { user }: SignedRequest): FakeAnswer {
  const ours = [...reservations].filter(([, { username }]) => username === user.username);
  return jsonAnswer(ours.map(([ip, { username }]) => renderAddress(ip, username, options.nowMs())));
}

function reserveAddress(region: FakeRegion, { form, user }: SignedRequest): FakeAnswer {
  const asked = form.get("ip") ?? form.get("ip_address") ?? undefined;
  const subnet = form.get("subnet");
  const hostname = form.get("hostname") ?? "";
  const { addressPrefix = defaultAddressPrefix } = region.options;
  if (asked === undefined && subnet === null) {
    return textAnswer(400, "Must supply either the 'subnet' or the 'ip' parameter.");
  }
  if (asked === undefined && subnet !== subnetOf(addressPrefix)) {
    return textAnswer(400, `Unable to identify subnet: ${subnet}.`);
  }
  if (asked !== undefined && !(isIP(asked) === 4 && asked.startsWith(`${addressPrefix}.`))) {
    return textAnswer(400, `No known subnet for IP address: ${asked}.`);
  }
  // The last addresses are DHCP's.
  if (asked !== undefined && Number(asked.split(".")[3]) >= 240) {
    const words = `IP address ${asked} belongs to an existing dynamic range.`;
    return textAnswer(
      403,
      `${words} To reserve this IP address, a MAC address is required. (Create a device instead.)`,
    );
  }
  if (asked !== undefined && region.isAddressTaken(asked)) {
    return textAnswer(404, `The IP address ${asked} is already in use.`);
  }
  const domain = hostname.split(".").slice(1).join(".");
  if (domain !== "" && domain !== "maas") {
    return textAnswer(404, "No Domain matches the given query.");
  }
  const address = asked ?? region.freeAddress();
  if (address === undefined) {
    return textAnswer(503, `No more IPs available in subnet: ${subnetOf(addressPrefix)}.`);
  }
  region.reservations.set(address, { username: user.username, hostname });
  return jsonAnswer(renderAddress(address, user.username, region.options.nowMs()));
}

function releaseAddress({ reservations }: FakeRegion, { form, user }: SignedRequest): FakeAnswer {
  const ip = form.get("ip") ?? "";
  if (reservations.get(ip)?.username !== user.username) {
    const why = "is not the correct type of address, or does not belong to the requesting user.";
    const hint = "If you are sure you want to release this address, use force=true as a MAAS administrator.";
    return textAnswer(400, `IP address ${ip} does not exist, ${why}\n${hint}`);
  }
  reservations.delete(ip);
  return deleted;
}

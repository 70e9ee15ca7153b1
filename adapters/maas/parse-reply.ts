import { z } from "zod";
import { quotedLine } from "../host/quoted-line.ts";
import type {
  MaasAccount,
  MaasAddressRange,
  MaasEvent,
  MaasImage,
  MaasPool,
  MaasSubnet,
  MaasVersion,
} from "./adapter.ts";
import { notUnderstood } from "./errors.ts";
import type { MaasMachine } from "./machine.ts";
import { machineStatusFrom } from "./machine-status.ts";

// All other fields may be present, missing or of another form: MAAS 3.4 returns 78 fields of a machine, 3.8 other ones.

/** Missing, null and empty are equivalent. */
const wordOf = z
  .string()
  .nullish()
  .transform((word) => word ?? "");
/** Free text from users or machines, with arbitrary content. */
const lineOf = wordOf.transform((words) => quotedLine(words));
const wordsOf = z
  .array(z.string())
  .nullish()
  .transform((words) => words ?? []);
const placeOf = z
  .object({ name: z.string() })
  .nullish()
  .transform((place) => place?.name);
const countOf = z
  .number()
  .nullish()
  .transform((count) => count ?? 0);

const machineSchema = z
  .object({
    system_id: z.string().min(1),
    hostname: z.string(),
    fqdn: wordOf,
    status: z.int(),
    status_message: lineOf,
    owner: wordOf,
    workload_annotations: z.record(z.string(), z.string()).nullish(),
    owner_data: z.record(z.string(), z.string()).nullish(),
    ip_addresses: z.array(z.string().nullable()).nullish(),
    tag_names: wordsOf,
    cpu_count: countOf,
    memory: countOf,
    architecture: wordOf,
    power_state: wordOf,
    pool: placeOf,
    zone: placeOf,
    locked: z.boolean().nullish(),
    osystem: wordOf,
    distro_series: wordOf,
  })
  .transform(
    (raw): MaasMachine => ({
      systemId: raw.system_id,
      hostname: raw.hostname,
      fqdn: raw.fqdn,
      status: machineStatusFrom(raw.status),
      statusCode: raw.status,
      statusMessage: raw.status_message,
      owner: raw.owner === "" ? undefined : raw.owner,
      annotations: new Map(Object.entries(raw.workload_annotations ?? raw.owner_data ?? {})),
      ipAddresses: (raw.ip_addresses ?? []).flatMap((address) => address || []),
      tags: raw.tag_names,
      cpuCount: raw.cpu_count,
      memoryMib: raw.memory,
      architecture: raw.architecture,
      powerState: powerStateFrom(raw.power_state),
      pool: raw.pool,
      zone: raw.zone,
      isLocked: raw.locked === true,
      osystem: raw.osystem,
      series: raw.distro_series,
    }),
  );

function powerStateFrom(word: string): MaasMachine["powerState"] {
  return word === "on" || word === "off" || word === "error" ? word : "unknown";
}

const accountSchema = z
  .object({ username: z.string().min(1), is_superuser: z.boolean() })
  .transform((raw): MaasAccount => ({ username: raw.username, isAdmin: raw.is_superuser }));

const versionSchema = z
  .object({ version: wordOf, capabilities: wordsOf })
  // A MAAS that runs from source reports `None`.
  .transform(
    ({ version, capabilities }): MaasVersion => ({
      version: /^\d/.test(version) ? version : undefined,
      capabilities,
    }),
  );

const imageSchema = z
  .object({ id: z.int(), name: z.string(), type: wordOf, architecture: wordOf })
  .transform(
    ({ id, name, type, architecture }): MaasImage => ({ id, name, kind: imageKindFrom(type), architecture }),
  );

function imageKindFrom(type: string): MaasImage["kind"] {
  const kind = type.toLowerCase();
  return kind === "synced" || kind === "uploaded" ? kind : "other";
}

const poolSchema = z
  .object({ id: z.int(), name: z.string(), description: wordOf })
  .transform((raw): MaasPool => raw);

const subnetSchema = z
  .object({ cidr: z.string(), managed: z.boolean().nullish() })
  .transform(({ cidr, managed }): MaasSubnet => ({ cidr, isManaged: managed !== false }));

const rangeSchema = z
  .object({
    type: z.enum(["reserved", "dynamic"]),
    start_ip: z.string(),
    end_ip: z.string(),
    subnet: subnetSchema,
  })
  .transform(
    ({ type, start_ip, end_ip, subnet }): MaasAddressRange => ({
      kind: type,
      first: start_ip,
      last: end_ip,
      subnet,
    }),
  );

const eventSchema = z
  .object({ id: z.int(), level: wordOf, type: wordOf, description: lineOf, created: wordOf })
  .transform(({ created, ...event }): MaasEvent => ({ ...event, createdAtMs: msFromEventTime(created) }));

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Parses a time in UTC, e.g. `Sat, 21 Nov. 2026 00:19:06`; undefined for any other format. */
export function msFromEventTime(text: string): number | undefined {
  const match =
    /^[A-Z][a-z]{2}, ([0-9]{2}) ([A-Z][a-z]{2})\. ([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2})$/.exec(text);
  const [, day, month = "", year, hour, minute, second] = match ?? [];
  const monthIndex = months.indexOf(month);
  if (monthIndex === -1) {
    return undefined;
  }
  return Date.UTC(Number(year), monthIndex, Number(day), Number(hour), Number(minute), Number(second));
}

function reader<T>(what: string, schema: z.ZodType<T>): (value: unknown) => T {
  return (value) => {
    const result = schema.safeParse(value);
    if (!result.success) {
      const [issue] = result.error.issues;
      throw notUnderstood(what, `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is invalid"}`);
    }
    return result.data;
  };
}

// Each parses a JSON value. @throws InfraError MAAS_FAILED
export const parseMachine = reader("a machine", machineSchema);
export const parseMachines = reader("the machines", z.array(machineSchema));
export const parseAccount = reader("the account", accountSchema);
export const parseVersion = reader("its version", versionSchema);
export const parseImages = reader("the boot resources", z.array(imageSchema));
export const parseTags = reader(
  "the tags",
  z.array(z.object({ name: z.string() })).transform((tags) => tags.map(({ name }) => name).toSorted()),
);
export const parsePools = reader("the resource pools", z.array(poolSchema));
export const parseSubnets = reader("the subnets", z.array(subnetSchema));
export const parseRanges = reader("the ranges of addresses", z.array(rangeSchema));
export const parseAddress = reader(
  "an address",
  z.object({ ip: z.string() }).transform(({ ip }) => ip),
);
export const parseAddresses = reader(
  "the addresses",
  z
    .array(z.object({ ip: z.string().nullable() }))
    .transform((addresses) => addresses.flatMap(({ ip }) => ip ?? [])),
);
export const parseEvents = reader(
  "the events",
  z.object({ events: z.array(eventSchema) }).transform(({ events }) => events),
);

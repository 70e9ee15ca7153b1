import { z } from "zod";
import { hasReason, InfraError } from "../host/infra-error.ts";
import { hostReasons } from "../host/reasons.ts";
import type { CephFinding, CephInspection } from "./adapter.ts";
import type { RadosOptions } from "./librados.ts";
import { parseReply } from "./parse/parse-reply.ts";
import type { CephCommand, RadosClient } from "./rados-client.ts";
import { cephReasons } from "./reasons.ts";

export interface InspectCephInput {
  readonly client: RadosClient;
  readonly reader: RadosOptions;
  readonly operator: RadosOptions | undefined;
}

/** Capabilities of the reader key. `inspectCeph` checks each of them. */
export const readerCapabilities = "mon 'allow r' mgr 'allow r' osd 'allow r'";
/** Capabilities of the operator key: only the commands that the gateway calls. */
export const operatorCapabilities = `mon 'allow r' mgr 'allow command "crash ls", allow command "crash archive"'`;

const version = z.object({ version: z.string() });
// Harmless changes, since their objects do not exist: without permission they are refused before that is noticed.
const changes = {
  mon: { prefix: "osd pool mksnap", pool: "hostplane-asks-what-it-may", snap: "nothing" },
  mgr: { prefix: "crash archive", id: "hostplane-asks-what-it-may" },
} as const;

/** Collects the findings of `hostplane doctor` about a cluster. Changes nothing. Never throws. */
export async function inspectCeph({ client, reader, operator }: InspectCephInput): Promise<CephInspection> {
  let release: string;
  try {
    const text = await client.command("mon", { prefix: "version" }, reader);
    release = releaseOf(parseReply("version", version, text).version);
  } catch (error) {
    return { version: undefined, findings: [unreachable(error, reader)] };
  }
  return {
    version: release,
    findings: [
      { ok: true, what: `Ceph ${release} is accessible as ${reader.user}` },
      await inspectManager(client, reader),
      await inspectObjects(client, reader),
      await inspectRestraint(client, reader),
      await inspectOperator(client, operator),
    ],
  };
}

/** Extracts the version from `ceph version 16.2.15 (618f44...) pacific (stable)`. */
function releaseOf(text: string): string {
  return /\d+\.\d+\.\d+\S*/.exec(text)?.[0] ?? text;
}

function unreachable(error: unknown, reader: RadosOptions): CephFinding {
  const fixes: Partial<Record<string, string>> = {
    [hostReasons.TOOL_MISSING.id]: "apt-get install librados2",
    [cephReasons.CEPH_DENIED.id]: grant(reader, readerCapabilities),
  };
  const reason = error instanceof InfraError ? error.reason : "";
  const place = reader.confPath ?? "/etc/ceph/ceph.conf";
  const fix = wordsOf(error).startsWith("The configuration")
    ? `copy the ceph.conf of a monitor's host to ${place}`
    : (fixes[reason] ?? `check that the monitors are running and that ${place} names them`);
  return { ok: false, what: wordsOf(error), fix };
}

async function inspectManager(client: RadosClient, reader: RadosOptions): Promise<CephFinding> {
  try {
    await client.command("mgr", { prefix: "crash ls" }, reader);
    return { ok: true, what: "the manager answers" };
  } catch (error) {
    return isDenied(error)
      ? {
          ok: false,
          what: `${reader.user} may not query the manager`,
          fix: grant(reader, readerCapabilities),
        }
      : {
          ok: false,
          what: `the manager does not answer: ${wordsOf(error)}`,
          fix: "check with `ceph -s` that a ceph-mgr is running",
        };
  }
}

const poolNames = z.array(z.object({ poolname: z.string() }));

async function inspectObjects(client: RadosClient, reader: RadosOptions): Promise<CephFinding> {
  try {
    const pools = parseReply(
      "osd lspools",
      poolNames,
      await client.command("mon", { prefix: "osd lspools" }, reader),
    );
    const [pool] = pools;
    if (pool !== undefined) {
      const object = { pool: pool.poolname, namespace: "", name: "rbd_directory" };
      await client.omapKeys(object, "name_", reader);
    }
    return { ok: true, what: "RBD images can be counted" };
  } catch (error) {
    const what = `RBD images cannot be counted: ${wordsOf(error)}`;
    const fix = isDenied(error)
      ? grant(reader, readerCapabilities)
      : "check with `ceph -s` that the OSDs are running";
    return { ok: false, what, fix };
  }
}

async function inspectRestraint(client: RadosClient, reader: RadosOptions): Promise<CephFinding> {
  const may = [
    await mayChange(client, "mon", changes.mon, reader),
    await mayChange(client, "mgr", changes.mgr, reader),
  ];
  return may.includes(true)
    ? {
        ok: false,
        what: `${reader.user} may change the cluster, which a read key does not need`,
        fix: `give the gateway a user of its own: ${grant({ user: "client.hostplane", keyringPath: undefined }, readerCapabilities)}`,
      }
    : { ok: true, what: `${reader.user} may only read` };
}

async function inspectOperator(
  client: RadosClient,
  operator: RadosOptions | undefined,
): Promise<CephFinding> {
  if (operator === undefined) {
    return { ok: true, what: "no operator key is configured, so crashes cannot be archived" };
  }
  return (await mayChange(client, "mgr", changes.mgr, operator))
    ? { ok: true, what: `${operator.user} may archive crashes` }
    : {
        ok: false,
        what: `${operator.user} may not archive crashes`,
        fix: grant(operator, operatorCapabilities),
      };
}

/** Also false while the cluster does not answer. */
async function mayChange(
  client: RadosClient,
  target: "mon" | "mgr",
  change: CephCommand,
  as: RadosOptions,
): Promise<boolean> {
  try {
    await client.command(target, change, as);
    return true;
  } catch (error) {
    return hasReason(error, cephReasons.CEPH_FAILED);
  }
}

/**
 * Returns the command that grants a user its capabilities. For the administrator, whose key must not be restricted, it
 * creates a user for the gateway instead.
 */
function grant(
  { user, keyringPath }: Pick<RadosOptions, "user" | "keyringPath">,
  capabilities: string,
): string {
  if (user === "client.admin") {
    return grant({ user: "client.hostplane", keyringPath: undefined }, capabilities);
  }
  const keyring = keyringPath ?? `/etc/ceph/ceph.${user}.keyring`;
  return `ceph auth get-or-create ${user} ${capabilities} -o ${keyring} (for an existing user: ceph auth caps ${user} ${capabilities})`;
}

function isDenied(error: unknown): boolean {
  return hasReason(error, cephReasons.CEPH_DENIED);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

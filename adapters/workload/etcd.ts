import { InfraError } from "../host/infra-error.ts";
import type { EtcdAccess } from "./adapter.ts";
import { errorFromRefusal, notUnderstood } from "./errors.ts";
import { urlHostOf } from "./names.ts";
import { type EtcdMember, parseMembers, parseRefusal } from "./parse-reply.ts";
import { workloadReasons } from "./reasons.ts";
import { createTlsClient, type Dial } from "./tls-client.ts";

/** The member to remove, identified by its name, or by its machine's addresses if it has none yet. */
export interface LeavingMember {
  readonly name: string;
  /** Called only if some member has no name yet. */
  addresses(): Promise<readonly string[]>;
}

export interface EtcdOptions {
  readonly access: EtcdAccess;
  readonly dial: Dial | undefined;
}

const etcdPort = 2379;

/**
 * Removes a member from an etcd cluster, through etcd's JSON gateway (etcd.io/docs, `api_grpc_gateway`). Does nothing
 * if it does not exist.
 * @throws InfraError WORKLOAD_UNAVAILABLE, WORKLOAD_DENIED, WORKLOAD_FAILED (also when it is the last one)
 */
export async function removeMember(
  leaving: LeavingMember,
  { access, dial }: EtcdOptions,
  end: AbortSignal,
): Promise<void> {
  let failure = new InfraError(
    workloadReasons.WORKLOAD_UNAVAILABLE,
    "No machine with an etcd member is known",
  );
  for (const address of access.addresses) {
    try {
      await removeBy(address, leaving, { access, dial }, end);
      return;
    } catch (error) {
      if (!(error instanceof InfraError) || error.is(workloadReasons.WORKLOAD_FAILED) || end.aborted) {
        throw error;
      }
      failure = error;
    }
  }
  throw failure;
}

async function removeBy(
  address: string,
  leaving: LeavingMember,
  { access, dial }: EtcdOptions,
  end: AbortSignal,
): Promise<void> {
  const who = `etcd at ${urlHostOf(address)}:${etcdPort}`;
  const client = createTlsClient({ ...access, host: address, port: etcdPort, dial, who });

  async function request(path: string, body: object, what: string): Promise<unknown> {
    const { status, text } = await client.send({ method: "POST", path, body, what }, end);
    if (status >= 200 && status < 300) {
      try {
        return JSON.parse(text);
      } catch {
        throw notUnderstood({ what, who }, "it is not JSON");
      }
    }
    const refusal = parseRefusal(status, text);
    // Any other 404 does not come from etcd.
    if (status === 404 && refusal.words === "etcdserver: member not found") {
      return undefined;
    }
    throw errorFromRefusal(refusal, { what, who });
  }

  try {
    // Otherwise a member answers from its own, possibly outdated state.
    const body = { linearizable: true };
    const members = parseMembers(await request("/v3/cluster/member/list", body, "list its members"));
    for (const member of await membersOf(members, leaving)) {
      const { name } = leaving;
      if (!member.isLearner && members.filter(({ isLearner }) => !isLearner).length === 1) {
        throw new InfraError(
          workloadReasons.WORKLOAD_FAILED,
          `The etcd member of ${name} is the last one: removing it would lose all data`,
        );
      }
      await request("/v3/cluster/member/remove", { ID: member.id }, `remove the member ${name}`);
    }
  } finally {
    await client.close();
  }
}

/** Finds the members. One that was added and never started has no name, and blocks adding further members. */
async function membersOf(
  members: readonly EtcdMember[],
  leaving: LeavingMember,
): Promise<readonly EtcdMember[]> {
  const named = members.filter(({ name }) => name === leaving.name);
  if (named.length > 0 || members.every(({ name }) => name !== "")) {
    return named;
  }
  const addresses = await leaving.addresses();
  const isTheirs = (url: string) => addresses.some((address) => hostOf(url) === urlHostOf(address));
  return members.filter(({ name, peerUrls }) => name === "" && peerUrls.some(isTheirs));
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

import type { BrowserClient } from "./browser-client.ts";

/** A step; returns the value that a test compares. */
export type Step = () => Promise<unknown>;

export interface StepOptions {
  readonly client: BrowserClient;
  /** Client for the changes that streams report; default: `client`, unless it has no unary calls. */
  readonly changes?: BrowserClient;
  /** Name of the volumes that the steps create and remove. */
  readonly volume: string;
  /** End of ListenEvents, in seconds since 1970. */
  readonly untilTime: string;
  /** Headers of the Watch call. */
  readonly watchHeaders?: Readonly<Record<string, string>>;
}

const hypervisorId = "sandbox-hv-2";

/** Creates the steps of one client: the calls of the table in docs/reference/protocols.md by their RPCs, and errors. */
export function createClientSteps(options: StepOptions): Record<string, Step> {
  const { client, changes = client, volume, untilTime, watchHeaders = {} } = options;
  return {
    GetLVList: () => listVolumes(client),
    Watch: () => watchFreeBytes(client, changes, volume, watchHeaders),
    ListenEvents: async () => {
      const filter = { names: ["sandbox-new"], types: ["EVENT_TYPE_POD_STARTED"], sinceTime: "1", untilTime };
      const messages = await client.stream<{ events?: object[] }>("v1alpha.PublicAPI/ListenEvents", {
        filter,
      });
      return messages.flatMap(({ events = [] }) => events);
    },
    CreateHypervisor: async () => {
      const states = await runHypervisorCall(client, "CreateHypervisor");
      await runHypervisorCall(changes, "DestroyHypervisor");
      return states;
    },
    idempotencyKey: () => createTwice(client, `${volume}-twice`),
    unaryError: () =>
      failureOf(client, client.unary("proto.LVService/CreateLV", { name: "sandbox-web", sizeGb: "1" })),
    streamError: () =>
      failureOf(client, client.stream("operations.v1.OperationsService/CreateHypervisor", { id: "nope" })),
  };
}

async function listVolumes(client: BrowserClient) {
  let requestId: string | null = null;
  const onHeaders = (headers: Headers) => {
    requestId = headers.get("hostplane-request-id");
  };
  const answer = await client.unary<{ volumes: { name: string }[] }>(
    "proto.VGService/GetLVList",
    {},
    { onHeaders },
  );
  return { volumes: answer.volumes.map(({ name }) => name), requestId };
}

/** Returns the bytes that a volume of 1 GiB takes, as the difference of two Watch messages. */
async function watchFreeBytes(
  client: BrowserClient,
  changes: BrowserClient,
  name: string,
  headers: Readonly<Record<string, string>>,
) {
  let first: bigint | undefined;
  const isLast = async ({ freeBytes }: { readonly freeBytes: string }) => {
    if (first === undefined) {
      first = BigInt(freeBytes);
      await changes.unary("proto.LVService/CreateLV", { name, sizeGb: "1" });
    }
    return BigInt(freeBytes) < first;
  };
  const messages = await client.stream("proto.VGService/Watch", {}, isLast, { headers });
  await changes.unary("proto.LVService/RemoveLV", { name });
  return { takenBytes: Number((first ?? 0n) - BigInt(messages.at(-1)?.freeBytes ?? 0)) };
}

/** Returns the states that a call reports, each once. */
async function runHypervisorCall(client: BrowserClient, name: "CreateHypervisor" | "DestroyHypervisor") {
  const method = `operations.v1.OperationsService/${name}`;
  const progress = await client.stream<{ state: string }>(method, { id: hypervisorId });
  return [...new Set(progress.map(({ state }) => state))];
}

/** Creates one volume with two calls that have the same key. */
async function createTwice(client: BrowserClient, name: string) {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const replays: (string | null)[] = [];
  const onHeaders = (answered: Headers) => {
    replays.push(answered.get("hostplane-idempotent-replay"));
  };
  const names: string[] = [];
  for (const _ of [1, 2]) {
    const { volume } = await client.unary<{ volume: { name: string } }>(
      "proto.LVService/CreateLV",
      { name, sizeGb: "1" },
      { headers, onHeaders },
    );
    names.push(volume.name);
  }
  await client.unary("proto.LVService/RemoveLV", { name });
  return { isSame: names[0] === name && names[1] === name, replays };
}

/** Returns what the client reports about a failed call. */
export async function failureOf(client: BrowserClient, call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => "no error",
    (thrown: unknown) => client.failureOf(thrown),
  );
}

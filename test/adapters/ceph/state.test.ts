import { test } from "tap";
import type { RadosOptions } from "../../../adapters/ceph/librados.ts";
import { parsePoolScrubs } from "../../../adapters/ceph/pool-scrubs.ts";
import type { CephCommand, RadosClient } from "../../../adapters/ceph/rados-client.ts";
import { cephReasons } from "../../../adapters/ceph/reasons.ts";
import { createStateReader } from "../../../adapters/ceph/state.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { answerIn, type SampleName } from "./samples.ts";

const as: RadosOptions = { user: "client.test", timeoutMs: 1_000 };
const options = { patienceMs: { mon: 200, mgr: 100, osd: 100 }, slowMs: 3_600_000, scrubsMs: 3_600_000 };

/** Creates a client that replies like the recorded cluster, unless `fault` overrides it. */
function recordedClient(
  state: SampleName,
  fault: (command: CephCommand) => Promise<string> | undefined = () => undefined,
): RadosClient & { readonly requests: string[] } {
  const requests: string[] = [];
  return {
    requests,
    command(_target, command) {
      requests.push(command.prefix);
      const group = command.prefix === "fs subvolume ls" && command.group_name !== undefined;
      const words = [command.prefix, command.detail, command.vol_name].filter((each) => each !== undefined);
      return (
        fault(command) ?? Promise.resolve(group ? '[{"name": "home"}]' : answerIn(state, words.join(" ")))
      );
    },
    poolScrubs: async () => JSON.stringify(parsePoolScrubs(answerIn(state, "pg dump pgs"))),
    async omapKeys({ namespace, name }) {
      const keys: Readonly<Record<string, readonly string[]>> = {
        "/rbd_namespace": ["name_tenant"],
        "/rbd_directory": ["name_one"],
        "tenant/rbd_directory": ["name_two", "name_three"],
      };
      return keys[`${namespace}/${name}`] ?? [];
    },
    close() {},
  };
}

test("all parts of a healthy cluster are present", async (t) => {
  const state = await createStateReader(recordedClient("healthy"), as, options)();
  for (const [name, part] of Object.entries(state)) {
    t.notOk(typeof part === "object" && "missing" in part, name);
  }
  t.strictSame(state.rbdImageCount, { ok: 3 });
  t.strictSame(state.subvolumeCount, { ok: 2 });
});

test("expensive parts are not read each time", async (t) => {
  const client = recordedClient("healthy");
  const read = createStateReader(client, as, options);
  await read();
  client.requests.length = 0;
  await read();
  t.strictSame(client.requests.toSorted(), [
    "crash ls",
    "df",
    "fs dump",
    "mgr dump",
    "mon dump",
    "node ls",
    "osd crush rule dump",
    "osd dump",
    "osd tree",
    "status",
  ]);
});

test("a part that cannot be read is missing, and the others are present", async (t) => {
  const denied = new InfraError(cephReasons.CEPH_DENIED, "not allowed");
  const client = recordedClient("healthy", ({ prefix }) => {
    if (prefix === "osd tree") {
      return Promise.reject(denied);
    }
    return prefix === "mon dump" ? Promise.resolve('{"mons": 7}') : undefined;
  });
  const state = await createStateReader(client, as, options)();
  for (const part of [state.osds, state.pools, state.rbdImageCount]) {
    t.strictSame(part, { missing: "not allowed" });
  }
  t.match(state.mons, { missing: /^ceph mon dump: / });
  t.match([state.mgrs, state.usage, state.crashes], [{ ok: {} }, { ok: {} }, { ok: [] }]);
});

test("a hanging manager affects only its own parts, and gets no new requests until it answers", async (t) => {
  const client = recordedClient("healthy", ({ prefix }) => {
    return prefix === "crash ls" ? new Promise(() => {}) : undefined;
  });
  const read = createStateReader(client, as, options);
  t.strictSame((await read()).crashes, { missing: "the manager did not answer within 100 ms" });
  client.requests.length = 0;
  t.match((await read()).crashes, { missing: /^the manager has not answered since 20.*Z$/ });
  t.notOk(client.requests.includes("crash ls"));
});

test("without a manager, its last statistics are not returned, and it gets no requests", async (t) => {
  const client = recordedClient("mgr-down");
  const state = await createStateReader(client, as, options)();
  const missing = { missing: "no manager is active" };
  for (const part of [
    state.pgs,
    state.usage,
    state.objects,
    state.clientIo,
    state.recovery,
    state.crashes,
    state.subvolumeCount,
  ]) {
    t.strictSame(part, missing);
  }
  t.match(state.mgrs, { ok: { active: undefined } });
  t.notOk(client.requests.includes("crash ls"));
});

test("without a status there is no state", async (t) => {
  const client = recordedClient("healthy", ({ prefix }) => {
    return prefix === "status" ? new Promise(() => {}) : undefined;
  });
  await t.rejects(createStateReader(client, as, options)(), {
    reason: "CEPH_UNAVAILABLE",
    message: "the monitors did not answer within 200 ms",
  });
  t.strictSame(client.requests, ["status"]);
});

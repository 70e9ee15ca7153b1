import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { HistoryService } from "../../../../gen/hostplane/v1/history_pb.ts";
import { LVService } from "../../../../gen/proto/lvmd_pb.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";

const gib = 2 ** 30;

test("a sandbox has a history, in which a new volume appears", async (t) => {
  const { url } = await startGatewayUnderTest(t, { history: { stepMs: 1_000 } });
  const history = createClient(HistoryService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  const volumes = createClient(LVService, createGrpcTransport({ baseUrl: url }));
  const read = async (subject: string, figure: string) => {
    const { subjects } = await history.getHistory({ subjects: [subject], figures: [figure], points: 1440 });
    return subjects[0]?.figures[0]?.values ?? [];
  };
  const until = async (subject: string, figure: string, isDone: (values: readonly number[]) => boolean) => {
    for (;;) {
      const values = await read(subject, figure);
      if (isDone(values)) {
        return values;
      }
      await wait(20);
    }
  };
  await until("deviceClasses/sandbox-ssd", "free", (values) => values.includes(8 * gib));
  await volumes.createLV({ name: "young", sizeGb: 1n });
  const sizes = await until("volumeGroups/sandbox-vg/volumes/young", "size", (values) => values.length > 0);
  t.same(sizes, [gib]);
  t.same(
    (await until("deviceClasses/sandbox-ssd", "free", (values) => values.includes(7 * gib))).at(-1),
    7 * gib,
  );
  await until("gateway", "calls", (values) => values.some((value) => value > 0));

  const { subjects } = await history.listSubjects({});
  const names = subjects.map(({ name }) => name.replace(/^cephClusters\/.*/, "cephClusters/"));
  t.same(names, [
    "cephClusters/",
    "clusters",
    "deviceClasses/sandbox-ssd",
    "gateway",
    "hypervisors",
    "kubernetesNodes",
    "pods",
    "storagePool",
  ]);
  const figuresOf = (name: string) =>
    subjects.find((each) => each.name.startsWith(name))?.figures.map((figure) => figure.name);
  t.same(figuresOf("gateway")?.toSorted(), ["calls", "cpu", "event_loop_lag", "memory", "store"]);
  t.same(figuresOf("cephClusters/"), [
    "size",
    "used",
    "free",
    "client_read",
    "client_write",
    "client_reads",
    "client_writes",
    "recovery",
    "osds",
    "osds_up",
    "osds_in",
  ]);
});

test("a real gateway keeps its history over a restart", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "hostplane-history-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  // A runtime that does not exist: its figures are unknown, those of the gateway are not.
  const settings = {
    data,
    history: { stepMs: 1_000 },
    pods: { podman: { socket: join(data, "none.sock") } },
  };
  const known = async (url: string) => {
    const client = createClient(HistoryService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
    const { subjects, startTime } = await client.getHistory({
      subjects: ["gateway", "pods"],
      figures: ["memory"],
      startTime: { seconds: BigInt(Math.floor(Date.now() / 1000) - 600), nanos: 0 },
      points: 1440,
    });
    t.ok(subjects.every(({ subject }) => subject === "gateway"));
    const { starts = [], lengths = [] } = subjects[0]?.figures[0] ?? {};
    return starts.flatMap((start, run) =>
      Array.from(
        { length: lengths[run] ?? 0 },
        (_, index) => Number(startTime?.seconds ?? 0n) + start + index,
      ),
    );
  };
  const first = await startGatewayUnderTest(t, settings);
  let before = await known(first.url);
  while (before.length < 2) {
    await wait(20);
    before = await known(first.url);
  }
  await first.gateway.close();
  t.equal((await stat(join(data, "history"))).mode & 0o777, 0o600);

  const second = await startGatewayUnderTest(t, settings);
  t.ok(
    before.every((second) => second > 0),
    "seconds since 1970",
  );
  const after = await known(second.url);
  t.same(
    before.filter((time) => !after.includes(time)),
    [],
  );
});

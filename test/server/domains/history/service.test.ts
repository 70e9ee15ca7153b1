import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import {
  type GetHistoryRequestSchema,
  type GetHistoryResponse,
  HistoryService,
  type ListSubjectsResponse,
} from "../../../../gen/hostplane/v1/history_pb.ts";
import { ResourceHealth } from "../../../../gen/hostplane/v1/inventory_pb.ts";
import type { FigureSource } from "../../../../server/domain/figure-source.ts";
import {
  createHistorySources,
  type HistorySource,
} from "../../../../server/domains/history/history-sources.ts";
import { sampleOnce } from "../../../../server/domains/history/sampling.ts";
import { createHistoryService } from "../../../../server/domains/history/service.ts";
import { createHistory, type History } from "../../../../server/history/history.ts";
import { anonymous, type Caller } from "../../../../server/rpc/call/caller.ts";
import { startAppUnderTest } from "../../harness/app-under-test.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { createSourceUnderTest, resource } from "../inventory/resources.ts";

const stepMs = 60_000;
const dayMs = 86_400_000;
/** The beginning of a step, an hour ago. */
const startMs = Math.floor(Date.now() / stepMs) * stepMs - 60 * stepMs;

const viewer: Caller = { ...anonymous, role: "viewer", services: undefined, current: () => viewer };
const signal = new AbortController().signal;

const size = (value: number) => [{ name: "size", value, unit: "bytes" as const }];

/** A history of volumes and pods, and of the device class `ssd`. */
function createUnderTest() {
  const history = createHistory({ stepMs, maxBytes: 4 << 20, onFailed: () => {} });
  const volumes = createSourceUnderTest("volumes", [], ["proto.VGService"]);
  const pods = createSourceUnderTest("pods", [], ["hostplane.v1.PodService"]);
  let free = 10;
  const classes: FigureSource = {
    domain: "volumes",
    services: ["proto.VGService"],
    read: async () => [
      {
        name: "deviceClasses/ssd",
        figures: [
          { name: "free", value: free, unit: "bytes" },
          { name: "writes", value: free, unit: "per_second" },
        ],
      },
    ],
  };
  const sources = createHistorySources(history, { inventory: [volumes, pods], figures: [classes] });
  return {
    history,
    sources,
    volumes,
    pods,
    setFree(value: number) {
      free = value;
    },
    sample: (step: number) => sampleOnce({ history, sources }, startMs + step * stepMs, signal),
  };
}

type Request = MessageInitShape<typeof GetHistoryRequestSchema>;

/** Calls the service as a caller who may call these services; undefined: all. */
async function getHistory(
  { history, sources }: { readonly history: History; readonly sources: readonly HistorySource[] },
  request: Request,
  services?: ReadonlySet<string>,
): Promise<GetHistoryResponse> {
  const method = HistoryService.method.getHistory;
  const call = createCall({ method, peer: { services } });
  call.identify(viewer);
  const handler = createHistoryService(history, sources).handlerOf(method);
  return (await handler(create(method.input, request), call)) as GetHistoryResponse;
}

const lastMinutes = { startTime: timestampFromMs(startMs), points: 1440 };

test("the rows of a page are one call, over Connect and gRPC", async (t) => {
  const under = createUnderTest();
  const rows = Array.from({ length: 50 }, (_, index) => `volumeGroups/vg/volumes/v${index}`);
  for (let step = 0; step < 10; step++) {
    under.volumes.set(
      rows.map((name, index) => resource(name, { figures: size(index + (step < 5 ? 0 : 1)) })),
    );
    under.setFree(100 - step);
    await under.sample(step);
  }
  const { url } = await startAppUnderTest(t, [createHistoryService(under.history, under.sources)]);
  const request = {
    subjects: [...rows, "deviceClasses/ssd", "unknown"],
    startTime: timestampFromMs(startMs),
    points: 900,
  };
  for (const transport of [
    createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl: url, httpVersion: "2", useBinaryFormat: false }),
    createGrpcTransport({ baseUrl: url }),
  ]) {
    const client = createClient(HistoryService, transport);
    const answer = await client.getHistory(request);
    t.same(
      answer.subjects.map(({ subject }) => subject),
      [...rows, "deviceClasses/ssd"],
    );
    t.equal(timestampMs(answer.startTime ?? timestampFromMs(0)), startMs);
    t.equal(
      durationMs(answer.interval ?? { $typeName: "google.protobuf.Duration", seconds: 0n, nanos: 0 }),
      stepMs,
    );
    const [figure] = answer.subjects[7]?.figures ?? [];
    t.match(figure, { name: "size", unit: "bytes", starts: [0, 5], lengths: [5, 5], values: [7, 8] });
    t.match(answer.subjects[50]?.figures[0], { name: "free", values: [100, 99, 98, 97] });
    const { subjects } = await client.listSubjects({});
    t.match(subjects, [
      {
        name: "deviceClasses/ssd",
        domain: "volumes",
        figures: [{ name: "free", unit: "bytes" }, { name: "writes" }],
      },
    ]);
  }
});

test("intervals have the last value, or for rates the mean", async (t) => {
  const under = createUnderTest();
  for (let step = 0; step < 60; step++) {
    under.setFree(step);
    await under.sample(step);
  }
  const answer = await getHistory(under, {
    subjects: ["deviceClasses/ssd"],
    startTime: timestampFromMs(startMs),
    endTime: timestampFromMs(startMs + 60 * stepMs),
    points: 1,
  });
  t.equal(answer.points, 1);
  t.match(answer.subjects, [
    {
      figures: [
        { name: "free", values: [59] },
        { name: "writes", values: [29.5] },
      ],
      states: [],
    },
  ]);
  const one = await getHistory(under, {
    subjects: ["deviceClasses/ssd"],
    figures: ["writes"],
    ...lastMinutes,
  });
  t.equal(one.subjects[0]?.figures.length, 1);
});

test("a system that is away is a gap in figures and states", async (t) => {
  const under = createUnderTest();
  const pod = resource("pods/p1", { type: "pod", state: "running", figures: size(3) });
  under.pods.set([pod]);
  await under.sample(0);
  under.pods.fail(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "podman does not answer"));
  await under.sample(1);
  under.pods.set([pod], new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "as last known"));
  await under.sample(2);
  under.pods.set([pod]);
  await under.sample(3);
  under.pods.set([{ ...pod, state: "exited", health: "failed" }]);
  await under.sample(4);
  await under.sample(5);
  const { subjects } = await getHistory(under, { subjects: ["pods/p1"], ...lastMinutes });
  t.match(subjects, [{ figures: [{ starts: [0, 3], lengths: [1, 3], values: [3, 3] }] }]);
  const at = (step: number) => timestampFromMs(startMs + step * stepMs);
  t.same(
    subjects[0]?.states.map(({ startTime, endTime, state, health }) => [startTime, endTime, state, health]),
    [
      [at(0), at(1), "running", ResourceHealth.OK],
      [at(3), at(4), "running", ResourceHealth.OK],
      [at(4), at(6), "exited", ResourceHealth.FAILED],
    ],
  );
});

test("a caller gets the history of the services that it may call", async (t) => {
  const under = createUnderTest();
  under.volumes.set([resource("v1", { figures: size(1) })]);
  under.pods.set([resource("p1", { type: "pod", figures: size(2) })]);
  await under.sample(0);
  const request = { subjects: ["v1", "p1", "deviceClasses/ssd"], ...lastMinutes };
  const namesFor = async (...services: string[]) =>
    (await getHistory(under, request, new Set(services))).subjects.map(({ subject }) => subject);
  t.same(await namesFor("hostplane.v1.PodService"), ["p1"]);
  t.same(await namesFor("proto.VGService"), ["v1", "deviceClasses/ssd"]);
  t.same(await namesFor("hostplane.v1.HistoryService"), []);
  const method = HistoryService.method.listSubjects;
  const call = createCall({ method, peer: { services: new Set(["hostplane.v1.PodService"]) } });
  call.identify(viewer);
  const handler = createHistoryService(under.history, under.sources).handlerOf(method);
  t.same(((await handler(create(method.input), call)) as ListSubjectsResponse).subjects, []);
});

test("a source that hangs or has a fault does not keep the others from being sampled", async (t) => {
  const history = createHistory({ stepMs: 1_000, maxBytes: 4 << 20, onFailed: () => {} });
  const volumes = createSourceUnderTest("volumes", [resource("v1", { figures: size(1) })]);
  const [hanging, faulty] = [createSourceUnderTest("pods", []), createSourceUnderTest("storage", [])];
  hanging.hang();
  faulty.fail(new TypeError("a fault"));
  const sources = createHistorySources(history, { inventory: [hanging, faulty, volumes], figures: [] });
  // The timer of AbortSignal.timeout does not keep a process.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  await t.rejects(sampleOnce({ history, sources }, Date.now(), signal), { message: "a fault" });
  t.equal(history.read("v1", () => true)?.figures.length, 1);
});

test("requests that ask for too much, or for an impossible time, are refused", async (t) => {
  const under = createUnderTest();
  const refused = async (request: Request, field: string) => {
    const error: unknown = await getHistory(under, request).catch((thrown: unknown) => thrown);
    t.match(error, { reason: "INVALID_FIELD", violations: [{ field }] }, field);
  };
  const subjects = ["v1"];
  await refused({}, "subjects");
  await refused({ subjects: Array.from({ length: 201 }, String) }, "subjects");
  await refused({ subjects: ["x", ""] }, "subjects[1]");
  await refused({ subjects, points: 1441 }, "points");
  await refused({ subjects, points: -1 }, "points");
  await refused({ subjects: Array.from({ length: 200 }, String), points: 251 }, "points");
  await refused({ subjects, figures: [""] }, "figures[0]");
  const now = timestampFromMs(Date.now());
  await refused({ subjects, startTime: now, endTime: now }, "start_time");
  await refused({ subjects, startTime: timestampFromMs(Date.now() - 32 * dayMs) }, "start_time");
  await refused({ subjects, endTime: timestampFromMs(-1) }, "end_time");
  await refused({ subjects, endTime: timestampFromMs(5_000_000_000_000) }, "end_time");
  const whole = await getHistory(under, { subjects });
  t.equal(whole.subjects.length, 0);
  t.ok(whole.points <= 60);
});

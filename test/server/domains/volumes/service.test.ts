import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { test } from "tap";
import { createLvmSandbox } from "../../../../adapters/lvm/sandbox.ts";
import { VGService, type WatchResponse } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { createVgService } from "../../../../server/domains/volumes/service.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { createVolumesUnderTest } from "./volumes-under-test.ts";

const { getLVList, getFreeBytes, watch } = VGService.method;
const gib = 1n << 30n;

function createSubject() {
  const volume = (name: string) => ({ name, sizeBytes: gib });
  const lvm = createLvmSandbox({
    volumeGroups: [
      { name: "vg0", sizeBytes: 10n * gib, volumes: [volume("a"), volume("b")] },
      { name: "vg1", sizeBytes: 10n * gib, volumes: [volume("c")] },
    ],
  });
  const deviceClasses = [
    { name: "ssd", volumeGroup: "vg0", default: true, spareGiB: 0 },
    { name: "spared", volumeGroup: "vg0", default: false, spareGiB: 5 },
    { name: "hdd", volumeGroup: "vg1", default: false, spareGiB: 0 },
  ];
  const { volumes, changes } = createVolumesUnderTest(lvm, deviceClasses);
  const { handlerOf } = createVgService(volumes);
  return {
    async call<M extends DescMethodUnary>(method: M, request?: MessageInitShape<M["input"]>) {
      const answered = new Headers();
      const call = createCall({ method, answered });
      const message = await handlerOf(method)(create(method.input, request), call);
      return { message: message as MessageShape<M["output"]>, headers: answered };
    },
    watch(ending: AbortController) {
      const call = createCall({ method: watch, ending, peer: { httpVersion: "1.1" } });
      const messages = handlerOf(watch)(create(watch.input), call) as AsyncIterable<WatchResponse>;
      return messages[Symbol.asyncIterator]();
    },
    async create(name: string) {
      await changes.create.run({ name, size: { gib: 1n }, tags: [], deviceClass: "ssd" }, createCall());
    },
  };
}

test("callers share one message per state, each with its age, until a volume changes", async (t) => {
  const { call, create } = createSubject();
  for (const method of [getLVList, getFreeBytes]) {
    const one = await call(method, { deviceClass: "ssd" });
    const other = await call(method, { deviceClass: "ssd" });
    t.equal(other.message, one.message, method.name);
    t.equal((await call(method)).message, one.message, "the empty name is the default class");
    t.match(other.headers.get("hostplane-snapshot-age"), /^\d+$/);
    await create(`made-for-${method.name}`);
    t.not((await call(method)).message, one.message);
  }
  t.equal((await call(getLVList)).message.volumes.length, 4);
});

test("each device class has its own answers", async (t) => {
  const { call } = createSubject();
  const reported = async (deviceClass: string) => {
    const { volumes } = (await call(getLVList, { deviceClass })).message;
    const { freeBytes } = (await call(getFreeBytes, { deviceClass })).message;
    return [volumes.map(({ name }) => name).join(), freeBytes / gib];
  };
  for (let round = 0; round < 2; round += 1) {
    t.strictSame(await reported("ssd"), ["a,b", 8n]);
    t.strictSame(await reported("spared"), ["a,b", 3n]);
    t.strictSame(await reported("hdd"), ["c", 9n]);
  }
});

test("all watchers of a state share one message", async (t) => {
  const { watch: watching, create } = createSubject();
  const ending = new AbortController();
  const watchers = [watching(ending), watching(ending)];
  const next = () => Promise.all(watchers.map(async (one) => (await one.next()).value));
  const [first, firstOfOther] = await next();
  t.equal(first, firstOfOther);
  const changed = next();
  await create("new");
  const [second, secondOfOther] = await changed;
  t.equal(second, secondOfOther);
  t.equal(second.freeBytes, first.freeBytes - gib);
  ending.abort();
});

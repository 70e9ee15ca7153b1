import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { PreconditionFailureSchema } from "../../../../gen/google/rpc/error_details_pb.ts";
import { LVService, VGService } from "../../../../gen/proto/lvmd_pb.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";

async function connect(t: Test) {
  const { url } = await startGatewayUnderTest(t);
  const transport = createGrpcTransport({ baseUrl: url });
  return { lv: createClient(LVService, transport), vg: createClient(VGService, transport) };
}

const invalid = (field: string) => ({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", fields: [field] });

test("names that LVM does not accept are refused before LVM is called", async (t) => {
  const { lv } = await connect(t);
  const names = ["", ".", "..", "-a", "a b", "a/b", "a;b", "$(a)", "ä", "a\n", "snapshot1", "pvmove0"];
  for (const name of [...names, "x_tmeta", "x_rimage_0", "a".repeat(125)]) {
    t.match(await rpcErrorOf(lv.createLV({ name, sizeGb: 1n })), invalid("name"), JSON.stringify(name));
  }
  for (const name of ["", "-a", "a b", "../x"]) {
    t.match(await rpcErrorOf(lv.removeLV({ name })), invalid("name"), `remove ${JSON.stringify(name)}`);
    t.match(await rpcErrorOf(lv.resizeLV({ name, sizeGb: 1n })), invalid("name"), `resize ${name}`);
  }
});

test("tags that LVM does not accept are refused, and their position is named", async (t) => {
  const { lv } = await connect(t);
  for (const tag of ["", "-a", "a b", "a,b", "@a", "ä", "a".repeat(1025)]) {
    const error = await rpcErrorOf(lv.createLV({ name: "a", sizeGb: 1n, tags: ["ok", tag] }));
    t.match(error, invalid("tags[1]"), JSON.stringify(tag));
  }
  const tags = ["a=b:c/d!e#f&g", "z".repeat(1024)];
  const { volume } = await lv.createLV({ name: "a", sizeGb: 1n, tags });
  t.same(volume?.tags, tags);
});

test("invalid sizes are refused", async (t) => {
  const { lv } = await connect(t);
  for (const sizeGb of [0n, 2n ** 34n, 2n ** 63n, 2n ** 64n - 1n]) {
    t.match(await rpcErrorOf(lv.createLV({ name: "a", sizeGb })), invalid("size_gb"), `create ${sizeGb}`);
    const resized = rpcErrorOf(lv.resizeLV({ name: "sandbox-web", sizeGb }));
    t.match(await resized, invalid("size_gb"), `resize ${sizeGb}`);
  }
});

test("a size that does not fit is refused with both numbers, up to the largest size", async (t) => {
  const { lv, vg } = await connect(t);
  const noSpace = { code: "RESOURCE_EXHAUSTED", reason: "NO_SPACE" };
  for (const sizeGb of [10n, 2n ** 34n - 1n]) {
    t.match(await rpcErrorOf(lv.createLV({ name: "a", sizeGb })), {
      ...noSpace,
      message: /free=\d+, requested=\d+/,
    });
    t.match(await rpcErrorOf(lv.resizeLV({ name: "sandbox-web", sizeGb: sizeGb + 2n })), {
      reason: sizeGb === 10n ? "NO_SPACE" : "INVALID_FIELD",
    });
  }
  await lv.createLV({ name: "a", sizeGb: 9n });
  t.same(
    (await vg.getFreeBytes({})).freeBytes,
    0n,
    "the spare may be used, and free space is never negative",
  );
});

test("a volume can only be created once, and missing names are not found", async (t) => {
  const { lv } = await connect(t);
  const exists = { code: "ALREADY_EXISTS", reason: "VOLUME_EXISTS" };
  t.match(await rpcErrorOf(lv.createLV({ name: "sandbox-web", sizeGb: 1n })), exists);
  const results = await Promise.allSettled([1, 2, 3].map(() => lv.createLV({ name: "race", sizeGb: 1n })));
  t.equal(
    results.filter(({ status }) => status === "fulfilled").length,
    1,
    "one of three concurrent calls creates it",
  );
  const missing = { code: "NOT_FOUND", reason: "VOLUME_NOT_FOUND" };
  t.match(await rpcErrorOf(lv.resizeLV({ name: "none", sizeGb: 1n })), missing);
  await lv.removeLV({ name: "none" });
  t.pass("removing a missing volume succeeds, as in the original");
  const noClass = { code: "NOT_FOUND", reason: "DEVICE_CLASS_NOT_FOUND", message: /sandbox-ssd/ };
  t.match(await rpcErrorOf(lv.createLV({ name: "a", sizeGb: 1n, deviceClass: "hdd" })), noClass);
  t.match(await rpcErrorOf(lv.removeLV({ name: "a", deviceClass: "hdd" })), noClass);
});

test("a volume grows, never shrinks, and the same size is not a change", async (t) => {
  const { lv, vg } = await connect(t);
  const shrink = { code: "OUT_OF_RANGE", reason: "SHRINK_NOT_ALLOWED" };
  t.match(await rpcErrorOf(lv.resizeLV({ name: "sandbox-web", sizeGb: 1n })), shrink);
  await lv.resizeLV({ name: "sandbox-web", sizeGb: 2n });
  await lv.resizeLV({ name: "sandbox-web", sizeGb: 3n });
  const { volumes } = await vg.getLVList({});
  t.equal(volumes.find(({ name }) => name === "sandbox-web")?.sizeGb, 3n);
});

test("an open volume is not removed, and the error says why", async (t) => {
  const { lv } = await connect(t);
  const error = await lv.removeLV({ name: "sandbox-db" }).then(
    () => undefined,
    (thrown: unknown) => ConnectError.from(thrown),
  );
  t.equal(error?.code, Code.FailedPrecondition);
  t.match(error?.findDetails(PreconditionFailureSchema), [
    { violations: [{ type: "VOLUME_IN_USE", subject: "volumeGroups/sandbox-vg/volumes/sandbox-db" }] },
  ]);
});

import { test } from "tap";
import { errorFromPayload } from "../../../../adapters/libvirt/rpc/errors.ts";
import { eventFromMessage } from "../../../../adapters/libvirt/rpc/events.ts";
import { remoteError } from "../../../../adapters/libvirt/rpc/objects.ts";
import { encodeHeader } from "../../../../adapters/libvirt/rpc/packet.ts";
import {
  type ArgsOf,
  type ProcedureName,
  procedures,
  type ResultOf,
} from "../../../../adapters/libvirt/rpc/procedures.ts";
import type { Codec } from "../../../../adapters/libvirt/rpc/xdr.ts";
import { decodeExactly } from "../../../../adapters/libvirt/rpc/xdr-reader.ts";
import { createXdrWriter } from "../../../../adapters/libvirt/rpc/xdr-writer.ts";
import { isCall, isMessage, isRefusal, isResult, type Sample, samples } from "./recorded.ts";

function encode<T>(codec: Codec<T>, value: T): Buffer {
  const writer = createXdrWriter();
  codec.encode(writer, value);
  return writer.finish();
}

/** Returns the arguments of the first call of a procedure. */
function argsOf<Name extends ProcedureName>(name: Name): ArgsOf<Name> {
  return decoded(
    name,
    samples.find((sample) => sample.name === name && isCall(sample)),
    "args",
  );
}

/** Returns the result of the first successful call of a procedure. */
function resultOf<Name extends ProcedureName>(name: Name): ResultOf<Name> {
  return decoded(
    name,
    samples.find((sample) => sample.name === name && isResult(sample)),
    "result",
  );
}

function decoded<T>(name: ProcedureName, sample: Sample | undefined, side: "args" | "result"): T {
  if (sample === undefined) {
    throw new Error(`${name} was not recorded`);
  }
  return decodeExactly(procedures[name][side] as Codec<T>, sample.packet.payload);
}

const sample = { name: "sample", uuid: "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9" };
const pool = { name: "pool", uuid: "11111111-2222-4333-8444-555555555555" };

test("packets of libvirt's own client and daemon are decoded and encoded to the same bytes", async (t) => {
  let count = 0;
  for (const each of samples) {
    const { name, packet, bytes } = each;
    const header = encodeHeader(packet, packet.payload.length);
    t.strictSame(header, bytes.subarray(0, header.length));
    const codec = codecOf(each);
    if (codec !== undefined) {
      const value = decodeExactly(codec, packet.payload);
      t.strictSame(encode(codec, value), packet.payload, `${each.from} ${name}`);
      count += 1;
    }
  }
  t.ok(count > 150, `${count} payloads`);
});

function codecOf(each: Sample): Codec<unknown> | undefined {
  if (isRefusal(each)) {
    return remoteError;
  }
  if (each.name === undefined || !(isCall(each) || isResult(each))) {
    return undefined;
  }
  return procedures[each.name][isCall(each) ? "args" : "result"];
}

test("every procedure has a recorded reply, with a few exceptions", async (t) => {
  const seen = new Set(samples.filter(isResult).map(({ name }) => name));
  const unseen = Object.keys(procedures).filter((name) => !seen.has(name as ProcedureName));
  t.same(unseen.toSorted(), [
    "authPolkit",
    "connectGetCapabilities",
    "domainInterfaceAddresses",
    "qemuDomainAgentCommand",
  ]);
});

test("decodes the arguments that virsh sent", async (t) => {
  t.match(argsOf("domainDefineXmlFlags").xml, /<name>sample<\/name>/);
  t.same(argsOf("domainLookupByUuid"), { uuid: sample.uuid });
  t.match(argsOf("domainCreateWithFlags"), { domain: { ...sample, id: -1 }, flags: 0 });
  t.match(argsOf("domainInterfaceAddresses"), { domain: sample, source: 1, flags: 0 });
  t.match(argsOf("qemuDomainAgentCommand"), { domain: sample, command: '{"execute":"guest-ping"}' });
  t.match(argsOf("domainBackupBegin"), {
    domain: sample,
    backupXml: /domainbackup/,
    checkpointXml: /<name>first<\/name>/,
  });
  t.match(argsOf("storageVolUpload"), { vol: { pool: "pool", name: "raw" }, offset: 0n, length: 0n });
  t.match(argsOf("storageVolDownload"), { vol: { pool: "pool", name: "raw" }, offset: 0n, length: 840n });
});

test("decodes the results that a real daemon sent", async (t) => {
  t.same(resultOf("authList"), { types: [0] });
  t.match(resultOf("connectListAllDomains"), { domains: [{ ...sample, id: -1 }], count: 1 });
  t.match(resultOf("domainGetState"), { state: 5, reason: 0 });
  t.same(resultOf("domainIsPersistent"), { persistent: true });
  const { records } = resultOf("connectGetAllDomainStats");
  t.match(records, [{ domain: sample }]);
  t.match(records[0]?.params[0], { field: "state.state", value: { type: "int", value: 1 } });
  t.match(
    records[0]?.params.find(({ field }) => field === "balloon.maximum"),
    { value: { type: "ullong", value: 49_152n } },
  );
  t.match(resultOf("storagePoolGetInfo"), { state: 2 });
  t.match(resultOf("storageVolGetInfo"), { type: 0, capacity: 1_048_576n });
  t.match(resultOf("nodeDeviceLookupByName"), { device: { name: "computer" } });
  t.match(resultOf("connectGetLibVersion"), { version: 9_000_000n });
});

test("maps refusals of a real daemon to reasons", async (t) => {
  const refusals = samples.filter(isRefusal).map(({ name, packet }) => {
    const { reason, message, metadata } = errorFromPayload(packet.payload);
    return `${name} ${reason} ${metadata.libvirtCode} ${message}`;
  });
  const expected = [
    /^domainLookupByName DOMAIN_NOT_FOUND 42 Domain not found: no domain with matching name 'nobody'$/,
    /^domainInterfaceAddresses AGENT_UNRESPONSIVE 86 Guest agent is not responding/,
    /^qemuDomainAgentCommand AGENT_UNRESPONSIVE 86 /,
    /^storageVolCreateXml STORAGE_VOLUME_EXISTS 90 storage volume 'raw' exists already$/,
    / STORAGE_VOLUME_NOT_FOUND 50 /,
    /^nodeDeviceLookupByName NODE_DEVICE_NOT_FOUND 53 /,
  ];
  for (const each of expected) {
    t.ok(
      refusals.some((refusal) => each.test(refusal)),
      String(each),
    );
  }
});

test("decodes events of a real daemon", async (t) => {
  const events = samples.filter(isMessage).map(({ packet }) => eventFromMessage(packet));
  for (const expected of [
    { kind: "domainLifecycle", domain: { name: "sample" }, event: "defined" },
    { kind: "domainLifecycle", domain: { name: "sample" }, event: "started" },
    { kind: "domainMetadata", domain: { name: "sample" } },
    { kind: "domainJobCompleted", domain: { name: "sample" } },
    { kind: "storagePoolLifecycle", pool, event: "defined" },
    { kind: "storagePoolRefreshed", pool },
  ]) {
    t.ok(
      events.some((event) => isLike(event, expected)),
      JSON.stringify(expected),
    );
  }
});

function isLike(value: unknown, expected: unknown): boolean {
  if (typeof expected !== "object" || expected === null) {
    return value === expected;
  }
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(expected).every(([key, each]) => isLike((value as Record<string, unknown>)[key], each))
  );
}

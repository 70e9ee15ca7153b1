import assert from "node:assert/strict";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import fc from "fast-check";
import type { Era, EraClient } from "./eras.ts";

const bytesPerGiB = 1n << 30n;

/** URLs of the listeners of one gateway: one with the protocol of the branch with backups, and one with `lvmd: current`. */
export type ListenerUrls = Readonly<Record<"backups" | "current", string>>;

interface Step {
  readonly kind: "create" | "resize" | "remove" | "list";
  readonly era: number;
  readonly listener: keyof ListenerUrls;
  readonly name: string;
  readonly bytes: bigint;
}

interface Speaker extends EraClient {
  readonly era: Era;
  readonly listener: keyof ListenerUrls;
}

/** Generates steps of clients of all eras. They share a few volumes, whose names start with `era-`. */
export function mixedSteps(eraCount: number): fc.Arbitrary<readonly Step[]> {
  return fc.array(
    fc.record({
      kind: fc.constantFrom("create", "create", "resize", "resize", "remove", "list"),
      era: fc.nat(eraCount - 1),
      listener: fc.constantFrom("backups", "current"),
      name: fc.constantFrom("era-a", "era-b", "era-c"),
      bytes: fc.bigInt({ min: 1n, max: 3n * bytesPerGiB }),
    }),
    { minLength: 1, maxLength: 12 },
  );
}

/**
 * Changes one volume group with clients of all eras, and compares each response with the expected volumes, to the byte.
 * @throws AssertionError for the first difference
 */
export async function runMixedSteps(
  eras: readonly Era[],
  urls: ListenerUrls,
  extentBytes: bigint,
  steps: readonly Step[],
): Promise<void> {
  const volumes = new Map<string, bigint>();
  const speakers = eras.map((era) => ({
    backups: speakerOf(era, "backups", urls),
    current: speakerOf(era, "current", urls),
  }));
  try {
    for (const step of steps) {
      const speaker = speakers[step.era]?.[step.listener];
      assert.ok(speaker);
      await makeStep(speaker, step, volumes, extentBytes);
      await assertListed(speaker, volumes);
    }
  } finally {
    for (const name of volumes.keys()) {
      await speakers[0]?.backups.removeLV({ name });
    }
  }
}

function speakerOf(era: Era, listener: keyof ListenerUrls, urls: ListenerUrls): Speaker {
  return { ...era.client(createGrpcTransport({ baseUrl: urls[listener] })), era, listener };
}

async function makeStep(
  speaker: Speaker,
  step: Step,
  volumes: Map<string, bigint>,
  extentBytes: bigint,
): Promise<void> {
  const { name } = step;
  const { era, listener } = speaker;
  const held = volumes.get(name);
  const { fields, bytes } = era.request(step.bytes);
  const roundedBytes = ((bytes + extentBytes - 1n) / extentBytes) * extentBytes;
  switch (step.kind) {
    case "create": {
      const answer = speaker.createLV({ name, ...fields });
      if (held !== undefined) {
        await assertRefused(answer, Code.AlreadyExists);
        break;
      }
      assertVolume(era, (await answer).volume, name, roundedBytes);
      volumes.set(name, roundedBytes);
      break;
    }
    case "resize": {
      const answer = speaker.resizeLV({ name, ...fields });
      if (held === undefined) {
        await assertRefused(answer, Code.NotFound);
        break;
      }
      if (roundedBytes < held && listener === "backups") {
        await assertRefused(answer, Code.OutOfRange);
        break;
      }
      const newBytes = roundedBytes < held ? held : roundedBytes;
      const { sizeBytes } = await answer;
      assert.equal(sizeBytes, "sizeBytes" in (await answer) ? newBytes : undefined);
      volumes.set(name, newBytes);
      break;
    }
    case "remove": {
      const answer = speaker.removeLV({ name });
      if (held === undefined && listener === "current") {
        await assertRefused(answer, Code.NotFound);
        break;
      }
      await answer;
      volumes.delete(name);
      break;
    }
    case "list":
      break;
  }
}

async function assertRefused(answer: Promise<unknown>, code: Code): Promise<void> {
  const thrown = await answer.then(
    () => assert.fail(`not rejected with ${Code[code]}`),
    (error: unknown) => ConnectError.from(error),
  );
  assert.equal(Code[thrown.code], Code[code], thrown.message);
}

async function assertListed(
  { era, getLVList }: Speaker,
  volumes: ReadonlyMap<string, bigint>,
): Promise<void> {
  const all = (await getLVList({})).volumes as readonly { readonly name: string }[];
  const listed = all.filter(({ name }) => name.startsWith("era-"));
  assert.deepEqual(listed.map(({ name }) => name).toSorted(), [...volumes.keys()].toSorted());
  for (const volume of listed) {
    assertVolume(era, volume, volume.name, volumes.get(volume.name) ?? 0n);
  }
}

/** A size in GiB is rounded up, as in the branch with backups. */
function assertVolume(era: Era, volume: unknown, name: string, bytes: bigint): void {
  const { name: shown, sizeGb, sizeBytes } = volume as Record<string, unknown>;
  const gib = (bytes + bytesPerGiB - 1n) / bytesPerGiB;
  assert.deepEqual(
    { name: shown, sizeGb, sizeBytes },
    {
      name,
      sizeGb: era.sizes === "bytes" ? undefined : gib,
      sizeBytes: era.sizes === "gib" ? undefined : bytes,
    },
    `${era.name} ${name}`,
  );
}

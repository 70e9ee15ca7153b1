import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create, fromBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { GetLVListResponseSchema } from "../../../../gen/proto/lvmd_pb.ts";
import { envelopeHeadBytes } from "../../../../server/rpc/protocols/wire/envelope.ts";
import { createSharedAnswers, sharedMessageOf } from "../../../../server/rpc/streams/shared-answers.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** A list of one volume, identified by its name. */
const listOf = (name: string) => ({ volumes: [{ name }] });

test("every answer matches its source and key, and the first 16 of a source are created once", async () => {
  const requested = fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 30 }).map(String));
  fc.assert(
    fc.property(fc.array(requested, { maxLength: 100 }), (calls) => {
      const answers = createSharedAnswers(GetLVListResponseSchema);
      const sources = [{}, {}, {}];
      const firsts = new Map<number, Map<string, object>>();
      for (const [index, key] of calls) {
        const ofSource = firsts.get(index) ?? new Map<string, object>();
        firsts.set(index, ofSource);
        const text = `${index}/${key}`;
        const message = answers.of(sources[index] ?? {}, key, () => listOf(text));
        assert.equal(message.volumes[0]?.name, text);
        const first = ofSource.get(key);
        if (first !== undefined) {
          assert.equal(message, first);
        } else if (ofSource.size < 16) {
          ofSource.set(key, message);
          assert.notEqual(sharedMessageOf(message), undefined);
        } else {
          assert.equal(sharedMessageOf(message), undefined, "it belongs to this call");
        }
      }
    }),
    { numRuns: 200 },
  );
});

test("a shared message has one encoded form of its own", async (t) => {
  const answers = createSharedAnswers(GetLVListResponseSchema);
  const source = {};
  const message = answers.of(source, "", () => listOf("a"));
  const shared = sharedMessageOf(message);
  t.equal(sharedMessageOf(answers.of(source, "", () => listOf("b"))), shared);
  const frame = shared?.encoded("binary").frame ?? new Uint8Array();
  t.equal(shared?.encoded("binary").frame, frame);
  t.same(fromBinary(GetLVListResponseSchema, frame.subarray(envelopeHeadBytes)), message);
  t.equal(sharedMessageOf(create(GetLVListResponseSchema, listOf("a"))), undefined);
});

test("two kinds of answers for one source are independent", async (t) => {
  const source = {};
  const [one, other] = [1, 2].map(() => createSharedAnswers(GetLVListResponseSchema));
  t.not(
    one?.of(source, "", () => listOf("a")),
    other?.of(source, "", () => listOf("a")),
  );
});

test("a failed creation is retried", async (t) => {
  const answers = createSharedAnswers(GetLVListResponseSchema);
  const source = {};
  const fail = () => {
    throw new TypeError("it cannot be encoded");
  };
  t.throws(() => answers.of(source, "", fail), { message: "it cannot be encoded" });
  t.match(
    answers.of(source, "", () => listOf("a")),
    listOf("a"),
  );
});

test("nothing is kept of a source that was freed", async (t) => {
  const answers = createSharedAnswers(GetLVListResponseSchema);
  const kept = {};
  answers.of(kept, "", () => listOf("kept"));
  const gone = Array.from({ length: 100 }, () => {
    // Like a snapshot's value, it contains the data of the answer.
    const source = { name: "gone" };
    const message = answers.of(source, "", () => listOf(source.name));
    sharedMessageOf(message)?.encoded("json");
    return [new WeakRef(source), new WeakRef<object>(message)] as const;
  });
  // Objects created in one turn of the event loop live until its end.
  await sleep(0);
  collectGarbage();
  t.ok(gone.every((refs) => refs.every((ref) => ref.deref() === undefined)));
  t.match(
    answers.of(kept, "", () => listOf("anew")),
    listOf("kept"),
  );
});

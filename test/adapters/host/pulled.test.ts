import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { pulled } from "../../../adapters/host/pulled.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { resticReasons } from "../../../adapters/restic/reasons.ts";
import { operationReasons } from "../../../server/operations/reasons.ts";
import { reasonOf } from "./reason-of.ts";

const { signal } = new AbortController();
const piece = Buffer.alloc(65_536, 7);

async function lengthOf(content: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const each of content) {
    bytes += each.length;
  }
  return bytes;
}

test("delivers what is pushed, and the pusher waits for the reader", async (t) => {
  let taken = 0;
  let read = 0;
  const content = pulled(async (take) => {
    for (; taken < 100; taken += 1) {
      await take(piece);
    }
  }, signal);
  for await (const each of content) {
    read += each.length;
    t.ok(taken * piece.length - read <= 4 * piece.length, "nothing accumulates");
    await new Promise(setImmediate);
  }
  t.equal(read, 100 * piece.length);
});

test("ends only when the push has ended, and fails when it fails", async (t) => {
  let hasEnded = false;
  const slow = pulled(async (take) => {
    await take(piece);
    await new Promise(setImmediate);
    hasEnded = true;
  }, signal);
  t.equal(await lengthOf(slow), piece.length);
  t.ok(hasEnded);
  const failing = pulled(async (take) => {
    await take(piece);
    throw new InfraError(resticReasons.BACKUP_DAMAGED, "by the test");
  }, signal);
  t.equal(await reasonOf(lengthOf(failing)), "BACKUP_DAMAGED");
  const silent = pulled(async () => {}, signal);
  t.equal(await lengthOf(silent), 0);
});

test("leaving the loop aborts the push and waits for its end, even if it waits for the reader", async (t) => {
  let hasEnded = false;
  const content = pulled(async (take, stop) => {
    while (!stop.aborted) {
      await take(piece);
    }
    await new Promise(setImmediate);
    hasEnded = true;
    throw new InfraError(hostReasons.CALLER_LEFT, "it was stopped");
  }, signal);
  for await (const each of content) {
    t.equal(each.length, piece.length);
    break;
  }
  t.ok(hasEnded);
});

test("the push gets the reader's signal", async (t) => {
  const stop = new AbortController();
  const content = pulled(async (take, given) => {
    for (;;) {
      await take(piece);
      given.throwIfAborted();
    }
  }, stop.signal);
  const reading = async () => {
    for await (const _ of content) {
      stop.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "by the test"));
    }
  };
  t.equal(await reasonOf(reading()), "OPERATION_CANCELLED");
});

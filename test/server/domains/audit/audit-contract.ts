import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Test } from "tap";
import {
  AuditService,
  type ListEventsRequestSchema,
  type ListEventsResponse,
  ListEventsResponseSchema,
  ListEventsRequestSchema as RequestSchema,
} from "../../../../gen/hostplane/v1/audit_pb.ts";
import { createAuditLog } from "../../../../server/domains/audit/audit-log.ts";
import { createAuditService } from "../../../../server/domains/audit/service.ts";
import type { AuditedCall, AuditedOutcome } from "../../../../server/rpc/interceptors/audit.ts";
import type { Store } from "../../../../server/store/store.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";

const method = AuditService.method.listEvents;

function listOf(store: Store) {
  const handler = createAuditService(store).handlerOf(method);
  return async (
    request: MessageInitShape<typeof ListEventsRequestSchema> = {},
  ): Promise<ListEventsResponse> => {
    const answer = await handler(create(RequestSchema, request), createCall({ method }));
    return create(ListEventsResponseSchema, answer as MessageInitShape<typeof ListEventsResponseSchema>);
  };
}

function callBy(actor: string, facts: Partial<AuditedCall> = {}): AuditedCall {
  return {
    actor,
    accountId: `id of ${actor}`,
    credential: "session",
    address: "192.0.2.1",
    listener: "127.0.0.1:8080",
    rpc: "proto.LVService/RemoveLV",
    requestId: `request of ${actor}`,
    request: '{"name":"data"}',
    ...facts,
  };
}

const ok = (resource?: string): AuditedOutcome => ({
  code: "OK",
  reason: undefined,
  resource,
  operationId: undefined,
});

/** Tests what the audit log guarantees on every store. */
export function testAuditContract(t: Test, openStore: (t: Test) => Promise<Store>): void {
  async function openLog(t: Test) {
    const store = await openStore(t);
    const facts = { instanceId: "instance-1", host: "gateway-1", isSandbox: false };
    const log = createAuditLog(store, facts, () => t.fail("nothing fails"));
    return { store, log, list: listOf(store) };
  }

  t.test("an event is returned as it was written, before and after its end", async (t) => {
    const { log, list } = await openLog(t);
    const sequence = await log.add(callBy("user/alice"), undefined);
    const [open] = (await list()).events;
    t.match(open, {
      sequence: BigInt(sequence),
      actor: "user/alice",
      accountId: "id of user/alice",
      credential: "session",
      address: "192.0.2.1",
      listener: "127.0.0.1:8080",
      rpc: "proto.LVService/RemoveLV",
      resource: "",
      outcome: "",
      reason: "",
      operationId: "",
      requestId: "request of user/alice",
      request: '{"name":"data"}',
      count: 1,
      sandbox: false,
      host: "gateway-1",
    });
    t.equal(open?.endedAt, undefined);
    t.ok(Math.abs(Number(open?.at?.seconds) - Date.now() / 1000) < 600);
    await log.end(sequence, {
      code: "NOT_FOUND",
      reason: "VOLUME_NOT_FOUND",
      resource: "a\0b",
      operationId: "operation-1",
    });
    const [ended] = (await list()).events;
    t.match(ended, { outcome: "NOT_FOUND", reason: "VOLUME_NOT_FOUND", resource: "a\ufffdb" });
    t.equal(ended?.operationId, "operation-1");
    t.ok(ended?.endedAt);
  });

  t.test("refusals are added to the row of their key and minute, which shows the last one", async (t) => {
    const { log, list } = await openLog(t);
    const refusal = (actor: string) => ({
      call: callBy(actor, { request: undefined }),
      outcome: {
        code: "UNAUTHENTICATED",
        reason: "TOKEN_EXPIRED",
        resource: undefined,
        operationId: undefined,
      } as const,
    });
    const sums = [
      { key: "a", count: 3, last: refusal("user/bob") },
      { key: "other", count: 900, last: refusal("user/bob") },
    ];
    await log.addRefusals(sums);
    await log.addRefusals([{ key: "a", count: 4, last: refusal("user/bob") }]);
    const { events } = await list({ actor: "user/bob" });
    t.equal(
      events.reduce((sum, { count }) => sum + count, 0),
      7,
    );
    t.ok(
      events.length === 1 || events[0]?.at?.seconds !== events[1]?.at?.seconds,
      "two rows only if the minute changed",
    );
    t.match(events[0], {
      actor: "user/bob",
      outcome: "UNAUTHENTICATED",
      reason: "TOKEN_EXPIRED",
      request: "",
    });
    t.equal(Number(events[0]?.at?.seconds) % 60, 0);
    t.match((await list({ address: "other" })).events, [{ actor: "several", accountId: "", count: 900 }]);
  });

  t.test("an event must match every filter that is set", async (t) => {
    const { log, list } = await openLog(t);
    await log.add(callBy("user/a"), ok("volumeGroups/vg0"));
    await log.add(callBy("user/b"), ok("volumeGroups/vg0/volumes/data"));
    await log.add(callBy("user/c", { rpc: "proto.LVServiceX/Y" }), ok("volumeGroups/vg0-old/volumes/data"));
    await log.add(callBy("user/d", { rpc: "v1alpha.PublicAPI/RunPod", address: "::1" }), undefined);
    const actors = async (request: Parameters<typeof list>[0]) =>
      (await list(request)).events.map(({ actor }) => actor.slice(-1)).join("");
    t.equal(await actors({}), "dcba", "newest first");
    t.equal(await actors({ actor: "user/b" }), "b");
    t.equal(await actors({ address: "::1" }), "d");
    t.equal(await actors({ rpc: "proto.LVService" }), "ba");
    t.equal(await actors({ rpc: "proto.LVService/RemoveLV" }), "ba");
    t.equal(await actors({ rpc: "proto.LVService/CreateLV" }), "");
    t.equal(await actors({ resource: "volumeGroups/vg0" }), "ba");
    t.equal(await actors({ resource: "volumeGroups" }), "cba");
    t.equal(await actors({ outcome: "UNKNOWN_OUTCOME" }), "d");
    t.equal(await actors({ outcome: "OK", actor: "user/c" }), "c");
    t.equal(await actors({ from: { seconds: 0n } }), "dcba");
    t.equal(await actors({ to: { seconds: 1n } }), "");
    t.equal(await actors({ from: { seconds: 4_000_000_000n } }), "");
  });

  t.test("pages have no gaps or repeats while more events are written", async (t) => {
    const { log, list } = await openLog(t);
    const written: number[] = [];
    const write = async (times: number) => {
      for (let i = 0; i < times; i++) {
        written.push(await log.add(callBy(i % 3 === 0 ? "user/a" : "user/b"), ok()));
      }
    };
    await write(50);
    for (const actor of ["", "user/a"]) {
      const expected = (await list({ actor, pageSize: 1000 })).events.map(({ sequence }) => sequence);
      const reported: bigint[] = [];
      let pageToken = "";
      let pages = 0;
      do {
        const page = await list({ actor, pageSize: 5, pageToken });
        t.ok(page.events.length > 0 && page.events.length <= 5);
        reported.push(...page.events.map(({ sequence }) => sequence));
        pageToken = page.nextPageToken;
        pages++;
        await write(3);
      } while (pageToken !== "");
      t.same(reported, expected);
      t.equal(pages, Math.ceil(expected.length / 5), "no empty page at the end");
    }
    const { nextPageToken } = await list({ pageSize: 1 });
    t.equal(await reasonOf(list({ actor: "user/a", pageToken: nextPageToken })), "INVALID_FIELD");
  });

  t.test("a page of long requests is cut short, and the next page continues", async (t) => {
    const { log, list } = await openLog(t);
    const request = JSON.stringify("x".repeat(4094));
    await Promise.all(Array.from({ length: 400 }, () => log.add(callBy("user/a", { request }), ok())));
    const first = await list({ pageSize: 1000 });
    t.ok(first.events.length > 100 && first.events.length < 300, `${first.events.length} events`);
    const second = await list({ pageSize: 1000, pageToken: first.nextPageToken });
    t.equal(new Set([...first.events, ...second.events].map(({ sequence }) => sequence)).size, 400);
    t.equal(second.nextPageToken, "");
  });

  t.test("a rare event is found behind more rows than one transaction scans", async (t) => {
    const { store, log, list } = await openLog(t);
    const rare = await log.add(callBy("user/rare"), ok());
    const add = () => Promise.all(Array.from({ length: 100 }, () => log.add(callBy("user/a"), ok())));
    for (let i = 0; i < 60; i++) {
      await add();
    }
    const { events, nextPageToken } = await list({ actor: "user/rare" });
    t.match(events, [{ sequence: BigInt(rare) }]);
    t.equal(nextPageToken, "");
    const part = await store.run("audit.list", {
      filters: { actor: "user/rare" },
      belowSeq: Number.MAX_SAFE_INTEGER,
      limit: 10,
      scanned: 500,
    });
    t.match(part, { rows: [], nextSeq: Number });
    t.ok((part.nextSeq ?? 0) > rare, "it returns where to continue");
  });

  t.test("old events are removed in batches, and no recent one", async (t) => {
    const { store, log, list } = await openLog(t);
    for (let i = 0; i < 5; i++) {
      await log.add(callBy("user/a"), ok());
    }
    t.same(await store.run("audit.purge", { keepMs: 3_600_000, limit: 2 }), { count: 0 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    t.same(await store.run("audit.purge", { keepMs: 0, limit: 2 }), { count: 2 });
    const left = (await list()).events;
    t.equal(left.length, 3);
    t.same(await store.run("audit.purge", { keepMs: 0, limit: 500 }), { count: 3 });
  });
}

import assert from "node:assert/strict";
import { create, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { HealthListResponseSchema } from "../../../../../gen/grpc/health/v1/health_pb.ts";
import { ListOperationsRequestSchema } from "../../../../../gen/hostplane/v1/operation_pb.ts";
import { GetInfoResponseSchema } from "../../../../../gen/hostplane/v1/system_pb.ts";
import { CreateLVRequestSchema, WatchResponseSchema } from "../../../../../gen/proto/lvmd_pb.ts";
import { unknownFieldsOf } from "../../../../../server/rpc/protocols/wire/unknown-fields.ts";

test("a field may be unknown at any depth, and is reported by its path", async (t) => {
  const request = {
    name: "a",
    size_gb: 1,
    sizeGB: 1,
    dataSource: { s3: { acessKeyId: "typo", path: "p" }, other: {} },
    "": 1,
  };
  t.same(unknownFieldsOf(CreateLVRequestSchema, request), [
    "sizeGB",
    "dataSource.s3.acessKeyId",
    "dataSource.other",
    "",
  ]);
  const list = { items: [{ freeByte: 1 }, { freeByte: 2, deviceClass: "x" }] };
  t.same(unknownFieldsOf(WatchResponseSchema, list), ["items.freeByte"], "once for all entries of a list");
  const map = { statuses: { any: { status: "SERVING", x: 1 } } };
  t.same(unknownFieldsOf(HealthListResponseSchema, map), ["statuses.x"], "keys of a map are not fields");
  t.same(unknownFieldsOf(GetInfoResponseSchema, { startedAt: "2026-01-01T00:00:00Z", uptime: "1s" }), []);
});

test("an unknown enum value is ignored like an unknown field", async (t) => {
  const words = (json: JsonValue) => unknownFieldsOf(ListOperationsRequestSchema, json);
  t.same(words({ states: ["ACTIVE", "OPERATION_STATE_FAILED"], pageSize: 1 }), ["states"]);
  t.same(words({ states: ["OPERATION_STATE_FAILED", 2, null] }), []);
});

test("everything that is written is known, whatever it contains", async () => {
  const texts = fc.string();
  const requests = fc.record({ name: texts, tags: fc.array(texts), deviceClass: texts });
  fc.assert(
    fc.property(requests, (init) => {
      const json = toJson(CreateLVRequestSchema, create(CreateLVRequestSchema, init));
      assert.deepEqual(unknownFieldsOf(CreateLVRequestSchema, json), []);
    }),
  );
});

test("there is an unknown field exactly if a strict reader finds one", async () => {
  const known = { name: "a", dataSource: { s3: { path: "p" } } };
  const keys = fc.constantFrom("name", "nam", "data_source", "sizeGb", "x", "toString");
  fc.assert(
    fc.property(fc.dictionary(keys, fc.constant(null)), (more) => {
      const json: JsonValue = { ...more, dataSource: known.dataSource };
      let isRefused = false;
      try {
        fromJson(CreateLVRequestSchema, json, { ignoreUnknownFields: false });
      } catch (error) {
        isRefused = /is unknown/.test(String(error));
      }
      assert.equal(unknownFieldsOf(CreateLVRequestSchema, json).length > 0, isRefused, JSON.stringify(json));
    }),
  );
});

test("any JSON is checked without an error", async () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      unknownFieldsOf(CreateLVRequestSchema, json as JsonValue);
      unknownFieldsOf(CreateLVRequestSchema, { dataSource: json as JsonValue, tags: json as JsonValue });
      unknownFieldsOf(WatchResponseSchema, { items: json as JsonValue });
    }),
  );
});
